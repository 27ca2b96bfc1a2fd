// Where a heat map and its labels stand. Lengths are CSS pixels; cells are whole device pixels,
// so that their edges stay sharp.

export const FONT = '"Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif';
export const LABEL_SIZE = 13;
export const AXIS_SIZE = 12;
const MAX_CELL = 52;
const MIN_CELL = 1;

/** The longest beginning of `text` that fits `room`, with an ellipsis when it is cut. */
export function shorten(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 1 && ctx.measureText(`${text.slice(0, end)}…`).width > room) end--;
  return `${text.slice(0, end)}…`;
}

/** Every how many-th label is written when a cell offers `cell` pixels and a line needs `line`. */
export function labelStep(cell, line) {
  return [1, 2, 4, 5, 8, 10, 16, 20, 32, 64].find((n) => n * cell >= line) ?? 128;
}

/**
 * Places the map in `width` (and, if finite, `height`) pixels: the cell size, the gutters of
 * the labels, and how the key labels stand: "flat" or "steep". A map that then has cells smaller
 * than `least` scrolls inside its own frame.
 */
export function planLayout(ctx, { width, height, queryLabels, keyLabels, ratio, least = MIN_CELL }) {
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  const widest = (labels) => Math.max(0, ...labels.map((text) => ctx.measureText(text).width));
  const snap = (length) => Math.floor(length * ratio) / ratio;
  const rows = Math.max(1, queryLabels.length);
  const columns = Math.max(1, keyLabels.length);
  const left = snap(Math.max(52, Math.min(widest(queryLabels) + 10, 0.3 * width, 150)));
  const keyWidth = Math.min(widest(keyLabels), 96);
  let cell = Math.min(MAX_CELL, (width - left - 2) / columns);
  const flat = keyWidth + 6 <= cell;
  // Steep labels lean to the right by 60 degrees: the last one needs room beside the map.
  const lean = flat ? 0 : Math.max(0, keyWidth * 0.5 - cell * 0.5 + 8);
  cell = Math.min(MAX_CELL, (width - left - 2 - lean) / columns);
  const top = Math.ceil(AXIS_SIZE + 8 + (flat ? LABEL_SIZE + 6 : keyWidth * 0.87 + 12));
  const across = Math.max(least, snap(cell));
  const down = Math.max(least, snap(Math.min(across, (height - top - 2) / rows)));
  // A map squeezed in height keeps its cells at most half as wide again as they are high.
  const wide = Math.max(least, snap(Math.min(across, down * 1.5)));
  return {
    left, top, flat, ratio, cellWidth: wide, cellHeight: down,
    width: left + wide * keyLabels.length + lean + 2,
    height: top + down * queryLabels.length + 2,
  };
}

/** The cell under a point of the canvas, or null. */
export function cellAt(layout, x, y, queries, keys) {
  const i = Math.floor((y - layout.top) / layout.cellHeight);
  const j = Math.floor((x - layout.left) / layout.cellWidth);
  return i >= 0 && i < queries && j >= 0 && j < keys ? { i, j } : null;
}

/** A map without labels: square cells of `exact` pixels, of whole device pixels from `whole` on. */
export function squareCells(exact, { queries, keys, ratio }, whole = 1 / ratio) {
  const cell = exact < whole ? exact : Math.floor(exact * ratio) / ratio;
  return {
    left: 0, top: 0, ratio, cellWidth: cell, cellHeight: cell,
    width: cell * keys + 1 / ratio, height: cell * queries + 1 / ratio,
  };
}

/**
 * Places `count` small maps of one size in `width` pixels: columns, the side of the square
 * that each fits, and the layout of its cells.
 */
export function planGrid({ width: room, count, queries, keys, ratio }) {
  const width = Math.min(room, 672); // as wide as the text: the lines are the same on every desk
  const narrow = width < 480;
  const [least, gap, most] = narrow ? [66, 8, 110] : [76, 12, 110];
  const fits = Math.max(1, Math.floor((width + gap) / (least + gap)));
  const columns = Math.ceil(count / Math.ceil(count / Math.min(count, fits)));
  const side = Math.floor(Math.min(most, (width - gap * (columns - 1)) / columns)) - 6; // frame
  const exact = side / Math.max(queries, keys, 1);
  return { columns, gap, side, ...squareCells(exact, { queries, keys, ratio }) };
}
