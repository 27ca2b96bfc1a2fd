// The keys on a canvas: rows of dots, above each row the cheap scores as bars.
import { hatchPattern, rgb } from "../core/cells.js";
import { limit } from "../core/gestures.js";
import { FONT } from "../core/layout.js";
import { circle, startPlot, TICK_SIZE } from "../core/plot.js";

const LEFT = 30; // pixels for the number of a row's first key
const LEAST = 17;
const MOST = 28;
const BARS = [8, 15]; // pixels above a row: at least, at most
const TIGHT = 5; // at least, where a page has fixed the height
const GAP = 5; // between a row and the bars of the next

/** Places `n` keys in `width`, and in `height` where that is given: rows of a power of two. */
export function planField({ width, height, ratio, n }) {
  const room = width - LEFT - 2;
  const columns = Math.min(32, 2 ** Math.floor(Math.log2(room / LEAST)), 2 ** Math.ceil(Math.log2(n)));
  const rows = Math.ceil(n / columns);
  const cell = Math.floor(Math.min(MOST, room / columns) * ratio) / ratio;
  const left = Math.floor(height / rows) - cell - GAP; // NaN without a height
  const bars = left ? limit(left, TIGHT, BARS[1]) : limit(240 / rows - cell, ...BARS);
  const line = bars + cell + GAP;
  const taken = left ? Math.min(Math.floor(height), rows * (line + 1)) : rows * line;
  return { width, height: taken, ratio, n, columns, rows, cell, bars, line };
}

/** The key at a point of the canvas, or null. */
export function fieldKeyAt({ columns, cell, line, n }, x, y) {
  const column = Math.floor((x - LEFT) / cell);
  const key = Math.floor(y / line) * columns + column;
  return column >= 0 && column < columns && key >= 0 && key < n ? key : null;
}

/** The corner of a key's cell. */
const cornerOf = ({ columns, cell, bars, line }, j) =>
  [LEFT + (j % columns) * cell, Math.floor(j / columns) * line + bars];

/** Runs of neighbours that are `alike` and in one row: f(first, length). */
function inRuns({ n, columns }, alike, f) {
  for (let j = 0, end; j < n; j = end) {
    end = j + 1;
    while (end < n && end % columns && alike(j, end)) end++;
    f(j, end - j);
  }
}

/** Cells that are left out are hatched, faintly, for their dots are to be seen. */
function paintGround(ctx, plan, { kept, block }, palette) {
  const { cell, ratio } = plan;
  const alikeKept = (a, b) => kept[a] === kept[b];
  ctx.fillStyle = hatchPattern(ctx, palette, ratio);
  ctx.globalAlpha = 0.45;
  inRuns(plan, alikeKept, (j, length) => {
    if (!kept[j]) ctx.fillRect(...cornerOf(plan, j), length * cell, cell);
  });
  ctx.globalAlpha = 1;
  const frame = (j, length) => {
    const [x, y] = cornerOf(plan, j);
    ctx.strokeRect(x, y, length * cell, cell);
  };
  ctx.lineWidth = 1;
  ctx.strokeStyle = palette.grid;
  inRuns(plan, (a, b) => Math.floor(a / block) === Math.floor(b / block), frame);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = palette.ink;
  inRuns(plan, (a, b) => alikeKept(a, b) && (block === 1 || Math.floor(a / block) === Math.floor(b / block)),
    (j, length) => { if (kept[j]) frame(j, length); });
}

/** A bar for each key, or for each block, from the least to the largest score of the query. */
function paintBars(ctx, plan, { scores, kept, block }, palette) {
  const { cell, bars } = plan;
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  inRuns(plan, (a, b) => Math.floor(a / block) === Math.floor(b / block), (j, length) => {
    if (j % block) return; // a later row of a block that has its bar
    const [x, y] = cornerOf(plan, j);
    const height = Math.max(1, (bars - 3) * (high > low ? (scores[j] - low) / (high - low) : 0.5));
    ctx.fillStyle = kept[j] ? palette.muted : palette.grid;
    ctx.fillRect(x + 1, y - 2 - height, length * cell - 2, height);
  });
}

/** The dots: their area and their colour are the weight. */
function paintDots(ctx, plan, { weights, top }, palette) {
  const { cell } = plan;
  weights.forEach((weight, j) => {
    if (!weight) return; // zero is blank
    const [x, y] = cornerOf(plan, j);
    const share = Math.min(1, weight / top);
    circle(ctx, x + cell / 2, y + cell / 2, Math.max(1.5, 0.42 * cell * Math.sqrt(share)));
    ctx.fillStyle = rgb(palette.ramp, 0.15 + 0.85 * share); // the palest is lost on the hatching
    ctx.fill();
  });
}

/** A ring around the needle, and a stroke through it where it is missed. */
function paintNeedle(ctx, plan, needle, found, palette) {
  const [x, y] = cornerOf(plan, needle);
  const [middle, radius] = [plan.cell / 2, plan.cell / 2 + 1];
  for (const [width, colour] of [[5, palette.goldEdge], [3, palette.gold]]) {
    circle(ctx, x + middle, y + middle, radius);
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.stroke();
  }
  if (found) return;
  const far = 0.9 * radius;
  for (const [width, colour] of [[5, palette.panel], [2.5, palette.mark]]) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    ctx.moveTo(x + middle - far, y + middle + far);
    ctx.lineTo(x + middle + far, y + middle - far);
    ctx.stroke();
  }
}

/** Draws all of it: one query's `weights`, `scores` and `kept`, its needle, and the marked key. */
export function drawField(canvas, plan, picture, palette) {
  const { needle, key } = picture;
  const ctx = startPlot(canvas, plan);
  paintGround(ctx, plan, picture, palette);
  paintBars(ctx, plan, picture, palette);
  paintDots(ctx, plan, picture, palette);
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.fillStyle = palette.muted;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (let row = 0; row < plan.rows; row++) {
    ctx.fillText(row * plan.columns, LEFT - 5, row * plan.line + plan.bars + plan.cell / 2);
  }
  paintNeedle(ctx, plan, needle, picture.kept[needle], palette);
  if (key === null) return;
  const [x, y] = cornerOf(plan, key);
  ctx.lineWidth = 2;
  ctx.strokeStyle = palette.mark;
  ctx.strokeRect(x, y, plan.cell, plan.cell);
}
