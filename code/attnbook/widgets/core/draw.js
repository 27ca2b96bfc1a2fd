// One heat map on its canvas, large with its labels or small without.
import { fadeLater, paintCells, paintNumbers } from "./cells.js";
import { AXIS_SIZE, FONT, LABEL_SIZE, labelStep, shorten } from "./layout.js";

const AXES = ["query", "key"];

function paintLabels(ctx, layout, { queryLabels, keyLabels, axes = AXES }, palette) {
  const { left, top, cellWidth, cellHeight } = layout;
  ctx.fillStyle = palette.muted;
  ctx.font = `${AXIS_SIZE}px ${FONT}`;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  ctx.fillText(`${axes[1]} →`, left, 2);
  ctx.textAlign = "right";
  ctx.textBaseline = "alphabetic";
  if (axes[0]) ctx.fillText(`${axes[0]} ↓`, left - 6, top - 6);
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

/** Sizes a canvas in device pixels; returns its pen, which counts in CSS pixels. */
export function sizeCanvas(canvas, { width, height, ratio }) {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${canvas.width / ratio}px`;
  canvas.style.height = `${canvas.height / ratio}px`;
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return ctx;
}

/**
 * Draws the whole map. `picture`: weights, allowed, sizes, labels, vmax; if wanted `signed`
 * (differences), gold and possible marks, the names of the axes, and the rows after `pinned`
 * faded by `dimLater`.
 */
export function drawMap(canvas, layout, picture, palette) {
  const ctx = sizeCanvas(canvas, layout);
  paintCells(ctx, layout, picture, palette);
  paintNumbers(ctx, layout, picture, palette);
  paintLabels(ctx, layout, picture, palette);
  fadeLater(ctx, layout, picture);
}

/** Draws the cells alone. */
export function drawSmall(canvas, layout, picture, palette) {
  const ctx = sizeCanvas(canvas, layout);
  paintCells(ctx, layout, picture, palette);
  fadeLater(ctx, layout, picture);
}
