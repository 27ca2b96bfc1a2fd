// The bars of the sampler on a canvas: a line for each of the likeliest tokens, one for the rest.
import { hatchPattern, rgb } from "../core/cells.js";
import { FONT, LABEL_SIZE, shorten } from "../core/layout.js";
import { niceTicks, startPlot, TICK_SIZE } from "../core/plot.js";
import { weightText } from "../core/words.js";
import { fateOf } from "./words.js";

const MOST = 12; // tokens with a line of their own
const TOP = 20; // room for the numbers of the axis

/** How many lines `size` tokens take: those that are too many share the last one. */
export const lineCount = (size) => (size <= MOST + 1 ? size : MOST + 1);

/** The ids of the tokens with a line of their own, and those of the rest. */
export function linesOf(order) {
  const own = order.length <= MOST + 1 ? order.length : MOST;
  return { shown: order.slice(0, own), rest: order.slice(own) };
}

/** Places the bars in `width` by `height`. */
export function planBars(ctx, { width, height, size, names, ratio }) {
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  const widest = Math.max(...names.map((name) => ctx.measureText(name).width),
    size > MOST + 1 ? ctx.measureText(`${size - MOST} more`).width : 0);
  const left = Math.ceil(Math.min(0.3 * width, widest) + 12);
  const row = (height - TOP - 2) / lineCount(size);
  return { width, height, ratio, left, right: width - 76, top: TOP, row, lines: lineCount(size) };
}

/** The line under a point of the canvas, or null. */
export function lineAt({ top, row, lines }, y) {
  const line = Math.floor((y - top) / row);
  return line >= 0 && line < lines ? line : null;
}

/** The end of the axis: 1, or a round number when all bars are short. */
function topOf({ own, drawn, sharp, cut }, { shown, rest }) {
  const sum = (of) => rest.reduce((total, id) => total + of(id), 0);
  const gone = (id) => (cut[id] ? sharp[id] : 0);
  const all = shown.flatMap((id) => [own[id], drawn[id], gone(id)]);
  const longest = Math.max(...all, sum((id) => own[id]), sum((id) => drawn[id] + gone(id)));
  return [0.05, 0.1, 0.2, 0.5, 1].find((end) => longest <= end * (1 + 1e-9)) ?? 1;
}

function paintAxis(ctx, plan, toX, end, palette) {
  ctx.fillStyle = palette.muted;
  ctx.strokeStyle = palette.grid;
  ctx.lineWidth = 1;
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.beginPath();
  for (const { at, text } of niceTicks(0, end, Math.max(2, (plan.right - plan.left) / 90))) {
    const x = Math.round(toX(at)) + 0.5;
    ctx.moveTo(x, plan.top - 3);
    ctx.lineTo(x, plan.height - 2);
    ctx.fillText(text, x, plan.top - 7);
  }
  ctx.stroke();
}

/** What is drawn of one line: its bars from zero on, and its words. */
function lineParts(picture, { shown, rest }, line) {
  const { own, sharp, drawn, cut, names } = picture;
  if (line < shown.length) {
    const id = shown[line];
    return { name: names[id], own: own[id], drawn: drawn[id], cut: cut[id] ? sharp[id] : 0,
      fate: fateOf(picture, id), gone: cut[id] > 0 || !own[id] };
  }
  const sum = (of) => rest.reduce((total, id) => total + of(id), 0);
  const left = sum((id) => drawn[id]);
  const before = sum((id) => own[id]);
  const gone = left === 0;
  return { name: `${rest.length} more`, own: before, drawn: left, gone,
    cut: sum((id) => (cut[id] ? sharp[id] : 0)), fate: gone && before ? "cut" : weightText(left) };
}

/** Draws the bars; `marked` is the line that the reader points at. */
export function drawBars(canvas, plan, picture, marked, palette) {
  const ctx = startPlot(canvas, plan);
  const { left, right, top, row, width } = plan;
  if (picture.over) {
    ctx.fillStyle = palette.muted;
    ctx.font = `${LABEL_SIZE}px ${FONT}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(picture.ended ? "the text has ended" : "nothing is held after this token",
      width / 2, plan.height / 2);
    return;
  }
  const lines = linesOf(picture.order);
  const end = topOf(picture, lines);
  const toX = (p) => left + (p / end) * (right - left);
  paintAxis(ctx, plan, toX, end, palette);
  const thick = Math.max(6, Math.min(15, row - 6));
  for (let line = 0; line < plan.lines; line++) {
    const part = lineParts(picture, lines, line);
    const middle = top + (line + 0.5) * row;
    const bar = (p) => [left, middle - thick / 2, toX(p) - left, thick];
    if (part.drawn) {
      ctx.fillStyle = rgb(palette.ramp, 0.5);
      ctx.fillRect(...bar(part.drawn));
    }
    if (part.cut) {
      const [x, y, w, h] = bar(part.cut);
      const from = part.drawn ? toX(part.drawn) - left : 0; // the rest may be cut in part
      ctx.fillStyle = hatchPattern(ctx, palette, plan.ratio);
      ctx.fillRect(x + from, y, w, h);
    }
    if (part.own) {
      ctx.strokeStyle = palette.ink;
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.moveTo(toX(part.own), middle - thick / 2 - 2.5);
      ctx.lineTo(toX(part.own), middle + thick / 2 + 2.5);
      ctx.stroke();
    }
    ctx.font = `${LABEL_SIZE}px ${FONT}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillStyle = part.gone ? palette.muted : palette.ink;
    ctx.fillText(shorten(ctx, part.name, left - 12), left - 8, middle);
    ctx.textAlign = "left";
    ctx.fillText(part.fate, right + 8, middle);
    if (line === marked) {
      ctx.strokeStyle = palette.mark;
      ctx.lineWidth = 1.5;
      ctx.strokeRect(1, middle - row / 2 + 0.5, width - 2, row - 1);
    }
  }
}
