// The document on a canvas: sentences in lines, a stripe below each word, two bars a sentence.
import { rgb } from "../core/cells.js";
import { FONT, LABEL_SIZE } from "../core/layout.js";
import { startPlot } from "../core/plot.js";
import { weightText } from "../core/words.js";

const [LINE, GAP, NUMBER] = [24, 10, 24]; // pixels of a line, between sentences, of the numbers

/** Places each word in `width` pixels, and the bars right of them. */
export function planPage(ctx, { width, ratio, sentences }) {
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  const bars = Math.round(Math.min(170, 0.3 * width));
  const [right, space] = [width - bars - 12, ctx.measureText(" ").width];
  let y = 4;
  const places = sentences.map((words) => {
    let x = NUMBER;
    const top = y;
    const row = words.map((word) => {
      const long = ctx.measureText(word).width;
      if (x > NUMBER && x + long > right) [x, y] = [NUMBER, y + LINE];
      const place = { x, y, long };
      x += long + space;
      return place;
    });
    y += LINE + GAP;
    return { top, bottom: y - GAP, row };
  });
  return { width, height: y, ratio, places, left: right + 12, end: width - 46 };
}

/** Draws the sentences; the erased one is struck through, and has no weight. */
export function drawPage(canvas, plan, { sentences, words, weights, left, truth }, palette) {
  const ctx = startPlot(canvas, plan);
  const most = Math.max(...truth) || 1;
  ctx.font = `${LABEL_SIZE}px ${FONT}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  plan.places.forEach(({ top, bottom, row }, i) => {
    const highest = Math.max(...words[i]) || 1;
    ctx.fillStyle = palette.muted;
    ctx.fillText(String(i + 1), 2, top + LINE / 2 - 3);
    row.forEach(({ x, y, long }, j) => {
      ctx.fillStyle = left[i] ? palette.ink : palette.muted;
      ctx.fillText(sentences[i][j], x, y + LINE / 2 - 3);
      ctx.fillStyle = left[i] ? rgb(palette.ramp, words[i][j] / highest) : palette.muted;
      if (left[i]) ctx.fillRect(x, y + LINE - 6, long, 4);
      else ctx.fillRect(x, y + LINE / 2 - 3, long, 1);
    });
    const middle = (top + bottom) / 2;
    const [room, bar] = [plan.end - plan.left, 9];
    ctx.fillStyle = rgb(palette.ramp, 0.5);
    ctx.fillRect(plan.left, middle - bar - 1, Math.max(1, weights[i] * room), bar);
    ctx.fillStyle = palette.mark;
    ctx.fillRect(plan.left, middle + 1, Math.max(1, (truth[i] / most) * room), bar);
    ctx.fillStyle = palette.ink;
    ctx.fillText(left[i] ? weightText(weights[i]) : "erased", plan.end + 3, middle - bar / 2);
  });
}
