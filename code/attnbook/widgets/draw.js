// Drawing of one heat map on a canvas. Masked is hatched, zero is blank, small is faint.
// Lengths are CSS pixels; cells are whole device pixels, so that their edges stay sharp.

export const FONT = '"Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif';
const LABEL_SIZE = 13;
const AXIS_SIZE = 12;
const MAX_CELL = 52;
const MIN_CELL = 1; // below, the map scrolls inside its own frame

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
 * the labels, and how the key labels stand: "flat" or "steep".
 */
export function planLayout(ctx, { width, height, queryLabels, keyLabels, ratio }) {
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
  const across = Math.max(MIN_CELL, snap(cell));
  const down = Math.max(MIN_CELL, snap(Math.min(across, (height - top - 2) / rows)));
  // A map squeezed in height keeps its cells at most half as wide again as they are high.
  const wide = Math.max(MIN_CELL, snap(Math.min(across, down * 1.5)));
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

/** 256 RGB triples along the colour stops ("#rrggbb"). */
export function makeRamp(stops) {
  const rgb = stops.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const ramp = new Uint8ClampedArray(256 * 3);
  for (let n = 0; n < 256; n++) {
    const place = (n / 255) * (rgb.length - 1);
    const low = Math.min(Math.floor(place), rgb.length - 2);
    for (let c = 0; c < 3; c++) {
      ramp[3 * n + c] = rgb[low][c] + (place - low) * (rgb[low + 1][c] - rgb[low][c]);
    }
  }
  return ramp;
}

function paintWeights(ctx, layout, { weights, queries, keys, vmax }, ramp) {
  const image = new ImageData(keys, queries);
  for (let at = 0; at < weights.length; at++) {
    if (!(weights[at] > 0)) continue; // zero stays transparent: blank
    const n = 3 * Math.min(255, Math.round((255 * weights[at]) / vmax));
    image.data[4 * at] = ramp[n];
    image.data[4 * at + 1] = ramp[n + 1];
    image.data[4 * at + 2] = ramp[n + 2];
    image.data[4 * at + 3] = 255;
  }
  const small = document.createElement("canvas");
  small.width = keys;
  small.height = queries;
  small.getContext("2d").putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(small, layout.left, layout.top,
    keys * layout.cellWidth, queries * layout.cellHeight);
}

export function hatchPattern(ctx, palette, ratio) {
  const size = Math.round(6 * ratio);
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  pen.fillStyle = palette.hatchGround;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = palette.hatch;
  pen.lineWidth = 1.1 * ratio;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
  }
  pen.stroke();
  const pattern = ctx.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

function paintMasked(ctx, layout, { allowed, queries, keys }, palette) {
  ctx.fillStyle = hatchPattern(ctx, palette, layout.ratio);
  for (let i = 0; i < queries; i++) {
    for (let j = 0; j < keys; j++) {
      if (allowed[i * keys + j]) continue;
      let end = j + 1; // one rectangle for a run of masked cells
      while (end < keys && !allowed[i * keys + end]) end++;
      ctx.fillRect(layout.left + j * layout.cellWidth, layout.top + i * layout.cellHeight,
        (end - j) * layout.cellWidth, layout.cellHeight);
      j = end;
    }
  }
}

function paintGrid(ctx, layout, { queries, keys }, palette) {
  const line = 1 / layout.ratio;
  const right = keys * layout.cellWidth;
  const bottom = queries * layout.cellHeight;
  ctx.fillStyle = palette.grid;
  const roomy = layout.cellHeight >= 7 && layout.cellWidth >= 7;
  for (let i = 0; i <= queries; i += roomy ? 1 : Math.max(1, queries)) {
    ctx.fillRect(layout.left, layout.top + i * layout.cellHeight, right + line, line);
  }
  for (let j = 0; j <= keys; j += roomy ? 1 : Math.max(1, keys)) {
    ctx.fillRect(layout.left + j * layout.cellWidth, layout.top, line, bottom + line);
  }
}

function paintNumbers(ctx, layout, { weights, queries, keys, vmax }, palette) {
  if (layout.cellWidth < 27 || layout.cellHeight < 17) return;
  ctx.font = `${layout.cellWidth < 34 ? 11 : 12}px ${FONT}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (let at = 0; at < weights.length; at++) {
    const w = weights[at];
    if (!(w > 0)) continue;
    ctx.fillStyle = w / vmax > 0.45 ? palette.onLarge : palette.onSmall;
    ctx.fillText(w < 0.005 ? "<.01" : w.toFixed(2),
      layout.left + ((at % keys) + 0.5) * layout.cellWidth,
      layout.top + (Math.floor(at / keys) + 0.5) * layout.cellHeight + 0.5);
  }
}

function paintLabels(ctx, layout, { queryLabels, keyLabels }, palette) {
  const { left, top, cellWidth, cellHeight } = layout;
  ctx.fillStyle = palette.muted;
  ctx.font = `${AXIS_SIZE}px ${FONT}`;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  ctx.fillText("key →", left, 2);
  ctx.textAlign = "right";
  ctx.textBaseline = "alphabetic";
  ctx.fillText("query ↓", left - 6, top - 6);
  ctx.fillStyle = palette.ink;
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  ctx.textBaseline = "middle";
  const rowStep = labelStep(cellHeight, 14);
  queryLabels.forEach((text, i) => {
    if (i % rowStep) return;
    ctx.fillText(shorten(ctx, text, left - 8), left - 6, top + (i + 0.5) * cellHeight);
  });
  const columnStep = layout.flat ? 1 : labelStep(cellWidth, 15);
  keyLabels.forEach((text, j) => {
    if (j % columnStep) return;
    const x = left + (j + 0.5) * cellWidth;
    if (layout.flat) {
      ctx.textAlign = "center";
      ctx.textBaseline = "alphabetic";
      ctx.fillText(text, x, top - 6);
      return;
    }
    ctx.save();
    ctx.translate(x, top - 5);
    ctx.rotate(-Math.PI / 3);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillText(shorten(ctx, text, 96), 0, 0);
    ctx.restore();
  });
}

/** Draws the whole map. `picture`: weights, allowed, sizes, labels, vmax. */
export function drawMap(canvas, layout, picture, palette) {
  canvas.width = Math.round(layout.width * layout.ratio);
  canvas.height = Math.round(layout.height * layout.ratio);
  canvas.style.width = `${canvas.width / layout.ratio}px`;
  canvas.style.height = `${canvas.height / layout.ratio}px`;
  const ctx = canvas.getContext("2d");
  ctx.setTransform(layout.ratio, 0, 0, layout.ratio, 0, 0);
  if (picture.queries && picture.keys) paintWeights(ctx, layout, picture, palette.ramp);
  paintMasked(ctx, layout, picture, palette);
  paintGrid(ctx, layout, picture, palette);
  paintNumbers(ctx, layout, picture, palette);
  paintLabels(ctx, layout, picture, palette);
}
