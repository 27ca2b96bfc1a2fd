// The weights on a canvas, as trained and as they are now: keys in columns, or, with long labels,
// in lines, with the heads across.
import { paintCells, paintNumbers } from "../core/cells.js";
import { FONT, LABEL_SIZE, labelStep, shorten } from "../core/layout.js";
import { startPlot, TICK_SIZE } from "../core/plot.js";

const HEADING = 20; // pixels of a line of words
const [ROW, LARGEST] = [19, 30]; // of a head, of a key, in columns
const [LINE, WIDEST] = [25, 46]; // of a key, of a head, in lines

/** Places both maps, one below the other or side by side, in `width` pixels. */
export function planBench(ctx, { width, ratio, labels, headLabels, gold }) {
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  const snap = (length) => Math.floor(length * ratio) / ratio;
  const widest = (texts) => Math.max(...texts.map((text) => ctx.measureText(text).width));
  const [heads, keys] = [headLabels.length, labels.length];
  const shared = { width, ratio, heads, keys, gold };
  const left = heads > 1 ? Math.min(0.22 * width, widest(headLabels) + 10) : 2;
  const cell = snap(Math.min(LARGEST, (width - left - 4) / keys));
  if (widest(labels) <= Math.max(cell, 12)) {
    const block = 2 * HEADING + heads * ROW + 6;
    const at = (n) => ({ left, top: 2 * HEADING + n * block, cellWidth: cell, cellHeight: ROW, ratio });
    return { ...shared, lines: false, cell, maps: [at(0), at(1)], height: 2 * block,
      step: labelStep(cell, widest(labels) + 0.5) };
  }
  const column = snap(Math.min(WIDEST, (0.34 * width) / (2 * heads)));
  const start = width - 2 * heads * column - 12;
  const at = (n) => ({ left: start + n * (heads * column + 10), top: HEADING, cellWidth: column, cellHeight: LINE, ratio });
  return { ...shared, lines: true, room: start - 8, maps: [at(0), at(1)], height: HEADING + keys * LINE + 4 };
}

/** The key under a point of the canvas, or null. */
export function keyAt({ lines, maps: [map], cell, keys }, x, y) {
  const key = Math.floor(lines ? (y - map.top) / LINE : (x - map.left) / cell);
  return key >= 0 && key < keys ? key : null;
}

/** One map of rows by head: in lines it is laid on its side. */
function paintMap(ctx, plan, map, rows, palette) {
  const { lines, keys, gold } = plan;
  const count = rows.length;
  const [queries, columns] = lines ? [keys, count] : [count, keys];
  const weights = Float64Array.from({ length: count * keys }, (_, n) =>
    (lines ? rows[n % count][Math.floor(n / count)] : rows[Math.floor(n / keys)][n % keys]));
  const marks = weights.map((_, n) => (lines ? Math.floor(n / count) : n % keys) === gold);
  const picture = { weights, queries, keys: columns, vmax: 1, signed: false, allowed: new Uint8Array(weights.length).fill(1),
    gold: gold === null ? null : marks };
  paintCells(ctx, map, picture, palette);
  paintNumbers(ctx, map, picture, palette);
}

/** Draws both maps, their words, and a frame about the marked key. */
export function drawBench(canvas, plan, { trained, shown, shownName, labels, headLabels, key, changed }, palette) {
  const ctx = startPlot(canvas, plan);
  const { lines, maps, cell, width } = plan;
  const write = (text, x, y, colour = palette.ink, align = "left", room = width) => {
    ctx.fillStyle = colour;
    ctx.textAlign = align;
    ctx.fillText(shorten(ctx, text, room), x, y);
  };
  ctx.textBaseline = "middle";
  maps.forEach((map, n) => {
    const rows = n ? shown : trained;
    paintMap(ctx, plan, map, rows, palette);
    ctx.font = `${TICK_SIZE}px ${FONT}`;
    const right = map.left + plan.heads * map.cellWidth;
    const name = n ? shownName : "as trained";
    if (lines) write(name, n ? right : right - (plan.heads > 1 ? 0 : 2), HEADING / 2, palette.muted, "right", right - (n ? maps[0].left : 0));
    else write(name, map.left, map.top - 1.5 * HEADING, palette.muted);
    ctx.font = `${LABEL_SIZE}px ${FONT}`;
    if (lines) return;
    labels.forEach((label, k) => {
      if (k % plan.step === 0) write(label, map.left + (k + 0.5) * cell, map.top - HEADING / 2, palette.ink, "center");
    });
    if (rows.length > 1) headLabels.forEach((label, h) =>
      write(label, 2, map.top + (h + 0.5) * ROW, n && !changed.includes(h) ? palette.muted : palette.ink, "left", map.left - 6));
  });
  if (lines) labels.forEach((label, k) => write(label, 6, HEADING + (k + 0.5) * LINE, palette.ink, "left", plan.room - 8));
  ctx.strokeStyle = palette.mark;
  ctx.lineWidth = 2;
  for (const { left, top } of lines ? [maps[0]] : maps) {
    if (lines) ctx.strokeRect(1, top + key * LINE + 0.5, width - 2, LINE);
    else ctx.strokeRect(left + key * cell + 0.5, top - HEADING + 1, cell, HEADING + plan.heads * ROW);
  }
}
