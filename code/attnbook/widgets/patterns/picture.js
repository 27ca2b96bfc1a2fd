// The mask on a canvas, a cell a pair, and below it what the query reaches, a row a layer.
import { hatchPattern, rgb } from "../core/cells.js";
import { sizeCanvas } from "../core/draw.js";
import { AXIS_SIZE, FONT } from "../core/layout.js";

const LEFT = 52;
const TOP = 34;
const GAP = 30; // between mask and strip
const STRIP = 60;
const AROUND = TOP + GAP + STRIP;

/** The height of a mask of `side` pixels, or of as many as `width` leaves, with all around it. */
export const heightFor = ({ width, side = width - LEFT }) => side + AROUND;

/** Places the mask in `width` by `height`: cells of whole device pixels. */
export function planPattern({ width, height, ratio }, { n, layers }) {
  const room = Math.min(width - LEFT, height - AROUND);
  const cell = Math.max(1, Math.floor((room * ratio) / n)) / ratio;
  const line = Math.floor(Math.min(14, STRIP / layers) * ratio) / ratio;
  const side = n * cell;
  return { width, height: Math.max(height, side + AROUND), ratio, cell, side, line, strip: TOP + side + GAP };
}

/** The query at a height of the canvas, or null. */
export function queryAt({ cell, side }, y) {
  return y >= TOP && y < TOP + side ? Math.floor((y - TOP) / cell) : null;
}

/** Cells of `tone(i, j)`, a colour or nothing, hatched where there is none. */
function paintTones(ctx, top, { cell, side, ratio }, height, [rows, columns], tone, palette) {
  const small = document.createElement("canvas");
  [small.width, small.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) pixels[i * columns + j] = tone(i, j);
  }
  small.getContext("2d").putImageData(image, 0, 0);
  ctx.fillStyle = hatchPattern(ctx, palette, ratio);
  ctx.fillRect(LEFT, top, side, rows * height);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(small, LEFT, top, side, rows * height);
  ctx.strokeStyle = palette.grid;
  ctx.strokeRect(LEFT, top, side, rows * height);
}

/** The colours of pairs that are kept, of the query's own keys, of places that it reaches farther. */
export const tones = ({ ramp, more }) =>
  ({ kept: rgb(ramp, 0.5), own: rgb(ramp, 5 / 6), far: rgb(more, 0.6) });

/** A colour as a pixel of an image. */
function pixel(colour) {
  const [r, g, b] = colour.match(/\d+/g);
  return 0xff000000 | (b << 16) | (g << 8) | r;
}

function paintPlaces(ctx, { n, query, layers }, { cell, line, strip }, palette) {
  ctx.font = `${AXIS_SIZE}px ${FONT}`;
  ctx.fillStyle = palette.muted;
  const write = (text, x, y, align = "right") => {
    ctx.textAlign = align;
    ctx.fillText(text, x, y);
  };
  ctx.textBaseline = "middle";
  write("key →", LEFT, 8, "left");
  write("query ↓", LEFT - 6, 8);
  write(`reached by query ${query}, which always keeps itself`, LEFT, strip - 11, "left");
  write("layer 1", LEFT - 6, strip + line / 2);
  if (layers > 1) write(layers, LEFT - 6, strip + (layers - 0.5) * line);
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(32 / cell))); // 32 pixels apart
  const middle = (place) => (place + 0.5) * cell;
  for (let place = 0; place < n; place += step) {
    write(place, LEFT + middle(place), TOP - 9, "center");
    if (Math.abs(middle(place) - middle(query)) > 13) write(place, LEFT - 6, TOP + middle(place));
  }
  ctx.fillStyle = palette.mark;
  ctx.font = `bold ${ctx.font}`;
  write(`${query} ▸`, LEFT - 2, TOP + middle(query));
}

/** Draws all of it. */
export function drawPattern(canvas, plan, picture, palette) {
  const { n, mask, query, layers, steps } = picture;
  const { cell, side, line, strip } = plan;
  const ctx = sizeCanvas(canvas, plan);
  const [kept, own, far] = Object.values(tones(palette)).map(pixel);
  const within = (j, l) => steps[j] >= 0 && steps[j] <= l;
  ctx.lineWidth = 1 / plan.ratio;
  paintTones(ctx, TOP, plan, cell, [n, n], (i, j) => {
    if (i !== query) return mask[i * n + j] && kept;
    return mask[i * n + j] ? own : within(j, layers) && far;
  }, palette);
  paintTones(ctx, strip, plan, line, [layers, n],
    (l, j) => within(j, l + 1) && (mask[query * n + j] ? own : far), palette);
  paintPlaces(ctx, picture, plan, palette);
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = palette.mark;
  ctx.strokeRect(LEFT - 1, TOP + query * cell - 1, side + 2, cell + 2);
  ctx.fillRect(LEFT + query * cell, strip - 4, Math.max(cell, 2), 4);
}
