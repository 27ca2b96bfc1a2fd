// The keys on a canvas: score, weight and step of each on a line; three also in the simplex.
import { rgb } from "../core/cells.js";
import { REACH } from "../core/gestures.js";
import { FONT, LABEL_SIZE, shorten } from "../core/layout.js";
import { circle, startPlot, TICK_SIZE } from "../core/plot.js";
import { weightText } from "../core/words.js";

const HEAD = 24; // pixels above the lines
const HIGH = Math.sqrt(3) / 2; // of a triangle with sides of 1
const POINT = 11; // radius of the weights' point

/** Places the lines in `width` by `height`, and below them, for three keys, the triangle. */
export function planRows(ctx, { width, height, labels, most, ratio }) {
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  const widest = Math.max(...labels.map((label) => ctx.measureText(label).width));
  const left = Math.ceil(Math.min(0.2 * width, widest) + 12);
  const room = width - left - 12;
  const simplex = labels.length === 3;
  const lines = simplex ? 32 * 3 : height - HEAD - 4; // the triangle takes what is left
  const score = [left + 8, left + 0.36 * room];
  const bar = [left + 0.42 * room, left + 0.68 * room];
  const step = [left + 0.78 * room, left + room];
  const plan = { width, height, ratio, left, top: HEAD, line: lines / labels.length, score, bar, step, most };
  if (!simplex) return plan;
  const low = height - 22;
  const side = Math.min(0.8 * width, (low - HEAD - lines - 26) / HIGH);
  return { ...plan, side, corner: [(width - side) / 2, low] };
}

/** The point of three weights in the triangle: the third key is its top. */
const pointOf = ({ side, corner: [x, y] }, [, second, third]) =>
  [x + side * (second + third / 2), y - side * HIGH * third];

/** The weights at a point of the canvas, none below zero; null where there is no triangle. */
export function weightsAt({ side, corner, top, line }, x, y) {
  if (!side || y < top + 3 * line) return null;
  const third = (corner[1] - y) / (side * HIGH);
  const second = (x - corner[0]) / side - third / 2;
  const clipped = [1 - second - third, second, third].map((w) => Math.max(0, w));
  const total = clipped.reduce((sum, w) => sum + w, 0);
  return clipped.map((w) => w / total);
}

/** The key and the score at a point of the canvas, or null. */
export function scoreAt({ top, line, score: [from, to], most, bar }, x, y, keys) {
  const key = Math.floor((y - top) / line);
  if (key < 0 || key >= keys || x > bar[0] - 6) return null;
  const share = Math.min(1, Math.max(0, (x - from) / (to - from)));
  return { key, score: Math.round(10 * (2 * share - 1) * most) / 10 };
}

/** Where the handle of a key's score stands. */
const handleOf = ({ top, line, score: [from, to], most }, score, j) =>
  [from + ((to - from) * (score / most + 1)) / 2, top + (j + 0.5) * line];

/** What a finger at (x, y) holds: the key of a score, "simplex" for the weights' point, or null. */
export function handleAt(plan, { scores, weights }, x, y) {
  const handles = scores.map((score, j) => [j, handleOf(plan, score, j), REACH]);
  if (plan.side) handles.push(["simplex", pointOf(plan, weights), REACH + POINT]);
  const held = handles
    .map(([what, [left, top], reach]) => [what, Math.hypot(x - left, y - top) - reach])
    .filter(([, beyond]) => beyond <= 0)
    .sort(([, one], [, other]) => one - other);
  return held.length ? held[0][0] : null;
}

function paintArrow(ctx, from, to, y) {
  const end = Math.sign(to - from);
  ctx.beginPath();
  ctx.moveTo(from, y);
  ctx.lineTo(to, y);
  ctx.moveTo(to - 6 * end, y - 5);
  ctx.lineTo(to, y);
  ctx.lineTo(to - 6 * end, y + 5);
  ctx.stroke();
}

function paintLine(ctx, plan, picture, j, palette) {
  const { left, top, line, score, bar, step } = plan;
  const { labels, scores, weights, moves, key } = picture;
  const y = top + (j + 0.5) * line;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  ctx.font = `${j === key ? "bold " : ""}${LABEL_SIZE}px ${FONT}`;
  ctx.fillStyle = weights[j] > 0 ? palette.ink : palette.muted;
  ctx.fillText(shorten(ctx, labels[j], left - 10), left - 6, y);
  ctx.strokeStyle = palette.grid;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(score[0], y);
  ctx.lineTo(score[1], y);
  ctx.stroke();
  ctx.fillStyle = palette.mark;
  circle(ctx, ...handleOf(plan, scores[j], j), j === key ? 8 : 6);
  ctx.fill();
  const thick = Math.min(16, line - 8);
  ctx.fillStyle = rgb(palette.ramp, 0.5);
  if (weights[j] > 0) ctx.fillRect(bar[0], y - thick / 2, Math.max(1, weights[j] * (bar[1] - bar[0])), thick);
  ctx.fillStyle = weights[j] > 0 ? palette.ink : palette.muted;
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.textAlign = "left";
  ctx.fillText(weightText(weights[j]), bar[1] + 4, y);
  const middle = (step[0] + step[1]) / 2;
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = 2;
  const size = Math.sqrt(Math.min(1, 2 * Math.abs(moves[j]))) * ((step[1] - step[0]) / 2);
  if (Math.abs(moves[j]) >= 1e-9) {
    paintArrow(ctx, middle, middle + Math.sign(moves[j]) * Math.max(10, size), y);
  } else {
    ctx.textAlign = "center";
    ctx.fillStyle = palette.muted;
    ctx.fillText("none", middle, y);
  }
}

function paintSimplex(ctx, plan, { points, normalizer, labels }, palette) {
  const corners = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((w) => pointOf(plan, w));
  ctx.strokeStyle = palette.muted;
  ctx.lineWidth = 1;
  ctx.beginPath();
  [...corners, corners[0]].forEach(([x, y]) => ctx.lineTo(x, y));
  ctx.stroke();
  ctx.fillStyle = palette.ink;
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  corners.forEach(([x, y], j) => ctx.fillText(shorten(ctx, labels[j], 110), x, y + (j === 2 ? -11 : 13)));
  for (const [name, weights] of Object.entries(points)) {
    circle(ctx, ...pointOf(plan, weights), name === normalizer ? POINT : 5);
    ctx.fillStyle = name === normalizer ? palette.mark : palette.panel;
    ctx.fill();
    ctx.strokeStyle = palette.ink;
    ctx.stroke();
  }
}

/** Draws all of it. */
export function drawRows(canvas, plan, picture, palette) {
  const ctx = startPlot(canvas, plan);
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.fillStyle = palette.muted;
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  const middle = ([from, to]) => (from + to) / 2;
  ctx.fillText("score", middle(plan.score), 10);
  ctx.fillText("weight", middle(plan.bar), 10);
  ctx.fillText("step", middle(plan.step), 10);
  picture.labels.forEach((_, j) => paintLine(ctx, plan, picture, j, palette));
  if (plan.side) paintSimplex(ctx, plan, picture, palette);
}
