// The cells of a heat map. Masked is hatched, zero is blank, small is faint.
import { FONT } from "./layout.js";

export function paintWeights(ctx, layout, { weights, queries, keys, vmax }, ramp) {
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

function hatchPattern(ctx, palette, ratio) {
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

export function paintMasked(ctx, layout, { allowed, queries, keys }, palette) {
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

export function paintGrid(ctx, layout, { queries, keys }, palette) {
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

export function paintNumbers(ctx, layout, { weights, queries, keys, vmax }, palette) {
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
