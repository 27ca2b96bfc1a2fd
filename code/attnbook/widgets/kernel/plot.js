// Drawing of the plot on a canvas: points, the true and the fitted curve, the query's kernel.
// Lengths are CSS pixels; data go to pixels by the two functions of `planPlot`.
import { hatchPattern, rgb } from "../core/cells.js";
import { FONT } from "../core/layout.js";
import { circle, niceTicks, paintTicks, startPlot, TICK_SIZE } from "../core/plot.js";
import { LOG_KERNELS } from "./fit.js";

const SKIRT = 0.2; // the part of the height, at the bottom, that the kernel's shape stands in
const LARGEST = 7; // radius of the point with the largest weight

function padded(...lists) {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const value of list) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  const room = 0.04 * (high - low || 1);
  return [low - room, high + room];
}

/** Places the plot in `width` by `height`: its frame, its ticks, and data to pixels. */
export function planPlot(ctx, { x, y, queries, truth, width, height, ratio }) {
  const [left0, right0] = padded(x, queries);
  const [bottom0, top0] = padded(y, truth);
  const top = 22;
  const bottom = height - 26;
  const floor = bottom - SKIRT * (bottom - top);
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  const yTicks = niceTicks(bottom0, top0, Math.max(2, (floor - top) / 45));
  const left = Math.ceil(14 + Math.max(...yTicks.map(({ text }) => ctx.measureText(text).width)));
  const right = width - 8;
  const scale = (right - left) / (right0 - left0);
  return {
    width, height, left, right, top, bottom, floor, ratio, yTicks,
    xTicks: niceTicks(left0, right0, Math.max(2, (right - left) / 52)),
    toX: (value) => left + (value - left0) * scale,
    toY: (value) => floor - ((value - bottom0) / (top0 - bottom0)) * (floor - top),
    fromX: (pixel) => left0 + (pixel - left) / scale,
  };
}

function paintAxes(ctx, plan, palette) {
  const { left, right, top, xTicks, yTicks } = plan;
  paintTicks(ctx, plan, xTicks, yTicks, 7, palette, true);
  ctx.fillText("y ↑", left - 9, 2);
  ctx.textAlign = "right";
  ctx.fillText("x →", right, top - 20);
}

/** The kernel around the query, as high as the skirt, and the query's line through the plot. */
function paintKernel(ctx, { left, right, top, bottom, floor, toX, fromX }, picture, palette) {
  const { kernel, width, query } = picture;
  const at = toX(query);
  const height = (pixel) => Math.exp(LOG_KERNELS[kernel](((fromX(pixel) - query) / width) ** 2));
  const draw = (pixel) => ctx.lineTo(pixel, bottom - height(pixel) * (bottom - floor - 4));
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, right - left, bottom - top);
  ctx.clip();
  ctx.beginPath();
  ctx.moveTo(left, bottom);
  for (let pixel = left; pixel < at; pixel++) draw(pixel);
  draw(at); // the peak, wherever it falls between two pixels
  for (let pixel = Math.floor(at) + 1; pixel <= right; pixel++) draw(pixel);
  ctx.lineTo(right, bottom);
  ctx.fillStyle = palette.mark;
  ctx.globalAlpha = 0.2;
  ctx.fill();
  ctx.restore();
  ctx.strokeStyle = palette.mark;
  ctx.lineWidth = 1.25;
  ctx.beginPath();
  ctx.moveTo(at, top);
  ctx.lineTo(at, bottom);
  ctx.stroke();
}

/** Points, their area by their share of the largest weight, their colour as in the heat map. */
function paintPoints(ctx, plan, picture, palette) {
  const { x, y, keys, row, weights, allowed, vmax } = picture;
  const here = weights.subarray(row * keys, (row + 1) * keys);
  const largest = here.reduce((top, w) => Math.max(top, w), 0);
  const masked = (j) => !allowed[row * keys + j];
  // the heavy ones on top, and the one left out above them
  const order = [...here.keys()].sort((a, b) => masked(a) - masked(b) || here[a] - here[b]);
  ctx.lineWidth = 1;
  for (const j of order) {
    const w = here[j];
    const out = masked(j);
    const radius = out ? 6 : 2.2 + (largest ? (LARGEST - 2.2) * Math.sqrt(w / largest) : 0);
    circle(ctx, plan.toX(x[j]), plan.toY(y[j]), radius);
    if (out) ctx.fillStyle = hatchPattern(ctx, palette, plan.ratio);
    else ctx.fillStyle = rgb(palette.ramp, w / vmax);
    if (out || w > 0) ctx.fill();
    ctx.strokeStyle = palette.muted;
    ctx.globalAlpha = w > 0 || out ? 0.75 : 0.5;
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
}

/** A curve through (xs, ys), broken where `gap` says so; a lone value between gaps is a dot. */
function paintCurve(ctx, { toX, toY }, xs, ys, gap) {
  ctx.beginPath();
  for (let i = 0; i < xs.length; i++) {
    if (gap(i)) continue;
    const [px, py] = [toX(xs[i]), toY(ys[i])];
    if (i > 0 && !gap(i - 1)) {
      ctx.lineTo(px, py);
    } else if (i + 1 < xs.length && !gap(i + 1)) {
      ctx.moveTo(px, py);
    } else {
      ctx.moveTo(px + 1, py);
      ctx.arc(px, py, 1, 0, 2 * Math.PI);
    }
  }
  ctx.stroke();
}

function paintCurves(ctx, plan, picture, palette) {
  ctx.lineJoin = "round";
  ctx.strokeStyle = palette.muted;
  ctx.lineWidth = 1.75;
  ctx.setLineDash([6, 4]);
  if (picture.truth.length) paintCurve(ctx, plan, picture.sites, picture.truth, () => false);
  ctx.setLineDash([]);
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = 2.25;
  paintCurve(ctx, plan, picture.places, picture.fit, (i) => picture.empty[i]);
}

/** Draws the whole plot; the fit at the query, if there is one, is a dot on its line. */
export function drawPlot(canvas, plan, picture, palette) {
  const ctx = startPlot(canvas, plan);
  paintAxes(ctx, plan, palette);
  paintKernel(ctx, plan, picture, palette);
  paintPoints(ctx, plan, picture, palette);
  paintCurves(ctx, plan, picture, palette);
  if (picture.empty[picture.row]) return;
  circle(ctx, plan.toX(picture.query), plan.toY(picture.fit[picture.row]), 4.5);
  ctx.fillStyle = palette.mark;
  ctx.fill();
}
