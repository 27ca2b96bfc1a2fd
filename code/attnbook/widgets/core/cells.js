// The cells of a heat map. Masked is hatched, zero is blank, small is faint.
import { FONT } from "./layout.js";

/** The colour of `share` of a ramp's top, as style sheets write it. */
export function rgb(ramp, share) {
  const n = 3 * Math.min(255, Math.round(255 * share));
  return `rgb(${ramp.slice(n, n + 3).join(" ")})`;
}

/** The colours of what is drawn: one ramp for weights, one each way for differences. */
function rampFor(value, signed, palette) {
  if (!signed) return palette.ramp;
  return value > 0 ? palette.more : palette.less;
}

function paintWeights(ctx, layout, { weights, queries, keys, vmax, signed }, palette) {
  const image = new ImageData(keys, queries);
  for (let at = 0; at < weights.length; at++) {
    if (weights[at] === 0 || (weights[at] < 0 && !signed)) continue; // stays transparent: blank
    const ramp = rampFor(weights[at], signed, palette);
    const n = 3 * Math.min(255, Math.round((255 * Math.abs(weights[at])) / vmax));
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

function cellNumber(w, signed) {
  const size = Math.abs(w);
  const text = size < 0.005 ? "<.01" : size.toFixed(2);
  if (!signed || size < 0.005) return text;
  return (w > 0 ? "+" : "−") + text.replace(/^0/, "");
}

export function paintNumbers(ctx, layout, { weights, queries, keys, vmax, signed }, palette) {
  if (layout.cellWidth < 27 || layout.cellHeight < 17) return;
  ctx.font = `${layout.cellWidth < 34 ? 11 : 12}px ${FONT}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (let at = 0; at < weights.length; at++) {
    const w = weights[at];
    if (w === 0) continue;
    ctx.fillStyle = Math.abs(w) / vmax > 0.45 ? palette.onLarge : palette.onSmall;
    ctx.fillText(cellNumber(w, signed),
      layout.left + ((at % keys) + 0.5) * layout.cellWidth,
      layout.top + (Math.floor(at / keys) + 0.5) * layout.cellHeight + 0.5);
  }
}

/** Outlines the marked cells once for each line: [width, colour, dashes]. */
function outline(ctx, { left, top, cellWidth, cellHeight, ratio }, marks, keys, lines) {
  const inset = Math.max(...lines.map(([width]) => width)) / 2 + 1 / ratio;
  for (const [width, colour, dashes = []] of lines) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.setLineDash(dashes);
    for (let at = 0; at < marks.length; at++) {
      if (!marks[at]) continue;
      ctx.strokeRect(left + (at % keys) * cellWidth + inset,
        top + Math.floor(at / keys) * cellHeight + inset,
        Math.max(cellWidth - 2 * inset + 1 / ratio, 0.5),
        Math.max(cellHeight - 2 * inset + 1 / ratio, 0.5));
    }
  }
  ctx.setLineDash([]);
}

/**
 * Outlines the gold cells: a bright line between two dark ones stands out on every colour. The
 * merely possible ones get dark dashes on a thin bright line.
 */
function paintGold(ctx, layout, { gold, possible, keys }, palette) {
  const room = Math.min(layout.cellWidth, layout.cellHeight);
  const bright = room < 18 ? 1 : 2;
  const edge = room < 6 ? [] : [[bright + 2, palette.goldEdge]];
  const dash = room < 16 ? 2 : 4;
  if (gold) outline(ctx, layout, gold, keys, [...edge, [bright, palette.gold]]);
  if (possible) {
    outline(ctx, layout, possible, keys,
      [[1.5, palette.gold], [1.5, palette.goldEdge, [dash, dash]]]);
  }
}

/** Fades the rows after the pinned query, on whatever ground the canvas has. */
export function fadeLater(ctx, layout, { pinned, dimLater, queries, keys }) {
  if (!dimLater || pinned === null) return;
  ctx.save();
  ctx.globalCompositeOperation = "destination-out";
  ctx.fillStyle = "rgba(0, 0, 0, 0.8)";
  ctx.fillRect(0, layout.top + (pinned + 1) * layout.cellHeight + 1 / layout.ratio,
    layout.left + keys * layout.cellWidth + 2, (queries - pinned - 1) * layout.cellHeight + 1);
  ctx.restore();
}

/** Cells, masks, lines, marks, of one head. */
export function paintCells(ctx, layout, picture, palette) {
  if (picture.queries && picture.keys) paintWeights(ctx, layout, picture, palette);
  paintMasked(ctx, layout, picture, palette);
  paintGrid(ctx, layout, picture, palette);
  paintGold(ctx, layout, picture, palette);
}
