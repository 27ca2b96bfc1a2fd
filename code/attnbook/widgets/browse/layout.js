// How the small maps and the large one share the room. Lengths are CSS pixels.
import { squareCells } from "../core/layout.js";

const BESIDE = 560; // from this width on, the large map stands beside the small ones
const SPACE = 20; // between them
const GUTTER = 48; // for the names of the layers
const HEADER = 18; // for the numbers of the heads
const NUMBER = 15; // a line with a number under each map
const SCROLLBAR = 15;
const FRAME = 6; // around a small map, both sides
const LEAST = 12; // a small map's side
const MOST = 66;
const GAP = { x: 2, y: 3 };
export const HEADING = 26; // the line over the large map

/** Sides and places for `layers` by `heads` small maps and the large one, in `width` pixels. */
export function planFigure({ width, layers, heads, numbers }) {
  const beside = width >= BESIDE;
  const room = beside ? Math.floor(0.46 * width) : width;
  const share = Math.floor((room - GUTTER) / heads) - GAP.x - FRAME;
  const side = Math.min(MOST, Math.max(LEAST, share));
  const gridWidth = GUTTER + heads * (side + FRAME + GAP.x);
  const shown = Math.min(gridWidth, room); // wider grids scroll
  const gridHeight = HEADER + layers * (side + FRAME + (numbers ? NUMBER : 0) + GAP.y)
    + (shown < gridWidth ? SCROLLBAR : 0);
  return {
    beside, side, gutter: GUTTER, frame: FRAME, gap: GAP, space: SPACE, gridWidth: shown, gridHeight,
    largeWidth: beside ? width - shown - SPACE : width,
  };
}

/** The layout of a small map: square cells that fit a square. */
export function planSmall(side, { queries, keys }, ratio) {
  const exact = (side - 1 / ratio) / Math.max(queries, keys, 1);
  return squareCells(exact, { queries, keys, ratio }, 7); // from 7 on, lines between cells
}
