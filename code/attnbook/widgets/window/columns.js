// The keys of one query on a canvas: a line for each, its weight as a bar, the bell beside them.
import { hatchPattern, rgb } from "../core/cells.js";
import { REACH } from "../core/gestures.js";
import { FONT, LABEL_SIZE, shorten } from "../core/layout.js";
import { startPlot } from "../core/plot.js";
import { weightText } from "../core/words.js";

const BELL = 46; // pixels of the bell's column

/** Places the lines in `width` by `height`. */
export function planLines(ctx, { width, height, labels, ratio }) {
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  const widest = Math.max(...labels.map((label) => ctx.measureText(label).width));
  const left = Math.ceil(Math.min(0.3 * width, widest) + 14);
  const line = (height - 4) / labels.length;
  return { width, height, ratio, left, bars: left + BELL + 10, right: width - 64, top: 2, line };
}

/** The place, a real number, at a height of the canvas. */
export const placeAt = ({ top, line }, y) => (y - top) / line - 0.5;

/** Whether a finger at (x, y) holds the line of the centre, below the bell. */
export function holdsCentre({ left, top, line }, centre, x, y) {
  const along = x > left - REACH && x < left + BELL + REACH;
  return along && Math.abs(y - top - (centre + 0.5) * line) <= REACH;
}

function paintBell(ctx, plan, { centre, radius, bell, keys }, palette) {
  const { left, top, line } = plan;
  const toY = (place) => top + (place + 0.5) * line;
  const [low, high] = [Math.max(-0.5, centre - radius), Math.min(keys - 0.5, centre + radius)];
  if (high > low) {
    const height = (place) => (bell === "none" ? 1 : Math.exp(-(((place - centre) / (radius / 2)) ** 2) / 2));
    ctx.beginPath();
    ctx.moveTo(left, toY(low));
    for (let n = 0; n <= 60; n++) {
      const place = low + ((high - low) * n) / 60;
      ctx.lineTo(left + BELL * height(place), toY(place));
    }
    ctx.lineTo(left, toY(high));
    ctx.fillStyle = palette.mark;
    ctx.globalAlpha = 0.2;
    ctx.fill();
    ctx.globalAlpha = 1;
  }
  ctx.strokeStyle = palette.mark;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(left, toY(centre));
  ctx.lineTo(left + BELL, toY(centre));
  ctx.stroke();
}

/** Draws all keys: label, bell, bar of the local weight, mark of the global one. */
export function drawLines(canvas, plan, picture, palette) {
  const ctx = startPlot(canvas, plan);
  const { left, bars, right, top, line } = plan;
  const { labels, weights, whole, allowed, gold, keys } = picture;
  const end = Math.max(0.05, ...weights, ...whole);
  const thick = Math.max(3, Math.min(15, line - 5));
  const hatch = hatchPattern(ctx, palette, plan.ratio);
  paintBell(ctx, plan, picture, palette);
  for (let j = 0; j < keys; j++) {
    const middle = top + (j + 0.5) * line;
    const long = (w) => (w / end) * (right - bars);
    ctx.fillStyle = allowed[j] ? rgb(palette.ramp, 0.5) : hatch;
    if (!allowed[j]) ctx.fillRect(left, middle - line / 2, BELL, line); // whatever its weight was
    const shown = allowed[j] ? weights[j] : whole[j];
    if (shown) ctx.fillRect(bars, middle - thick / 2, Math.max(1, long(shown)), thick);
    ctx.strokeStyle = palette.ink;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(bars + long(whole[j]), middle - thick / 2 - 2);
    ctx.lineTo(bars + long(whole[j]), middle + thick / 2 + 2);
    ctx.stroke();
    ctx.font = `${gold.includes(j) ? "bold " : ""}${LABEL_SIZE}px ${FONT}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillStyle = allowed[j] ? palette.ink : palette.muted;
    ctx.fillText(shorten(ctx, labels[j], left - 14), left - 8, middle);
    ctx.textAlign = "left";
    ctx.fillText(allowed[j] ? weightText(weights[j]) : "outside", right + 8, middle);
  }
}
