// A column for each key on a canvas: its score, its part of the sum, its share and dense weight.
import { hatchPattern, rgb } from "../core/cells.js";
import { FONT, LABEL_SIZE, shorten } from "../core/layout.js";
import { startPlot } from "../core/plot.js";
import { numeral } from "../core/words.js";

const [HEAD, FOOT, LINE] = [30, 22, 20]; // pixels of the scores, of the labels, of a row's title

/** Places the columns in `width` by `height`: two rows of bars between scores and labels. */
export function planColumns({ width, height, ratio, keys }) {
  const tall = Math.max(220, height || 300);
  const row = (tall - HEAD - FOOT - 2 * LINE) / 2;
  const bottoms = [HEAD + LINE + row, HEAD + 2 * LINE + 2 * row].map(Math.round);
  return { width, height: tall, ratio, row: row - 4, bottoms, column: width / keys };
}

function paintBar(ctx, x, bottom, wide, tall) {
  if (tall > 0) ctx.fillRect(x, bottom - Math.max(1, tall), wide, Math.max(1, tall));
}

/** Draws scores and bars; the block that was read last has a frame. */
export function drawColumns(canvas, plan, picture, palette) {
  const ctx = startPlot(canvas, plan);
  const { column, bottoms, row, width, height } = plan;
  const { scores, labels, parts, shares, dense, seen, read, block } = picture;
  const small = column < 34;
  const wide = Math.max(4, Math.min(26, column - 8));
  const hatch = hatchPattern(ctx, palette, plan.ratio);
  ctx.font = `${small ? LABEL_SIZE - 2 : LABEL_SIZE}px ${FONT}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  scores.forEach((score, j) => {
    const middle = (j + 0.5) * column;
    ctx.fillStyle = j < seen ? palette.ink : palette.muted;
    ctx.fillText(numeral(score, 1), middle, HEAD / 2);
    ctx.fillText(shorten(ctx, labels[j], column - 2), middle, height - FOOT / 2);
    if (j >= seen) {
      ctx.fillStyle = hatch;
      for (const bottom of bottoms) ctx.fillRect(middle - wide / 2, bottom - row, wide, row);
    }
    ctx.fillStyle = rgb(palette.ramp, 0.5);
    paintBar(ctx, middle - wide / 2, bottoms[0], wide, parts[j] * row);
    paintBar(ctx, middle - wide / 2, bottoms[1], wide, shares[j] * row);
    ctx.fillStyle = palette.ink;
    ctx.fillRect(middle - wide / 2 - 2, Math.round(bottoms[1] - dense[j] * row) - 1, wide + 4, 2);
  });
  ctx.fillStyle = palette.grid;
  for (const bottom of bottoms) ctx.fillRect(0, bottom, width, 1);
  ctx.fillStyle = palette.muted;
  ctx.textAlign = "left";
  ["part of the sum", "share of it"].forEach((text, n) =>
    ctx.fillText(text, 2, bottoms[n] - row - LINE / 2 - 2));
  if (!read) return;
  const [from, to] = [(read - 1) * block, seen];
  ctx.strokeStyle = palette.mark;
  ctx.lineWidth = 2;
  ctx.strokeRect(from * column + 2, 2, (to - from) * column - 4, HEAD - 4);
}
