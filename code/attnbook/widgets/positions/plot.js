// Drawing of the positions explorer on canvases: the table, and curves with their marks.
import { drawSmall } from "../core/draw.js";
import { FONT } from "../core/layout.js";
import { circle, niceTicks, paintTicks, startPlot, TICK_SIZE } from "../core/plot.js";

const TOP = 22; // room for the title of a plot or the axis of the table

/** Places the table so that it fills `width` by `height`; its edges are whole device pixels. */
export function planTable({ width, height, places, columns, ratio }) {
  const left = 30;
  const snap = (length) => Math.max(1, Math.floor(length * ratio)) / ratio;
  return {
    left, top: TOP, ratio, width, height,
    cellWidth: snap(width - left - 2) / columns, cellHeight: snap(height - TOP - 2) / places,
  };
}

/** The table's cells; the marked row and column stand in frames. */
export function drawTable(canvas, layout, picture, palette) {
  const { table, places, columns, kind, place, column } = picture;
  const cells = { weights: table, allowed: new Uint8Array(table.length).fill(1), vmax: 1,
    queries: places, keys: columns, signed: kind !== "alibi" };
  drawSmall(canvas, layout, cells, palette);
  const ctx = canvas.getContext("2d");
  const { left, top, cellWidth, cellHeight } = layout;
  ctx.fillStyle = palette.muted;
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  ctx.fillText(`${kind === "alibi" ? "head" : "feature"} →`, left, top - 8);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const { at, text } of niceTicks(0, places - 1, Math.max(2, places * cellHeight / 40))) {
    ctx.fillText(text, left - 6, top + (at + 0.5) * cellHeight);
  }
  ctx.strokeStyle = palette.mark;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(left, top + place * cellHeight, columns * cellWidth, cellHeight);
  ctx.strokeRect(left + column * cellWidth, top, cellWidth, places * cellHeight);
}

/** Places a plot: its frame, and data to pixels. `x` and `y` are [low, high]. */
export function planLine({ width, height, x, y, ratio }) {
  const [left, right, bottom] = [44, width - 8, height - 22];
  const scale = (right - left) / (x[1] - x[0] || 1);
  const rise = (bottom - TOP - 4) / (y[1] - y[0] || 1);
  return {
    width, height, ratio, x, y, left, right, top: TOP, bottom,
    toX: (value) => left + (value - x[0]) * scale,
    toY: (value) => bottom - (value - y[0]) * rise,
    fromX: (pixel) => x[0] + (pixel - left) / scale,
  };
}

function paintFrame(ctx, plan, title, palette) {
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.fillStyle = palette.ink;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.fillText(title, plan.left, 2);
  const yTicks = niceTicks(...plan.y, Math.max(2, (plan.bottom - TOP) / 34));
  const xTicks = niceTicks(...plan.x, Math.max(2, (plan.right - plan.left) / 52));
  paintTicks(ctx, plan, xTicks, yTicks, 6, palette);
}

/** A line through (xs, ys); `marks` are [x, y, filled], each with its line through the plot. */
export function drawLine(canvas, plan, { xs, ys, marks, title }, palette) {
  const ctx = startPlot(canvas, plan);
  paintFrame(ctx, plan, title, palette);
  ctx.strokeStyle = palette.mark;
  ctx.lineWidth = 1.25;
  for (const [x, , filled] of marks) {
    ctx.setLineDash(filled ? [] : [4, 3]);
    ctx.beginPath();
    ctx.moveTo(plan.toX(x), plan.top);
    ctx.lineTo(plan.toX(x), plan.bottom);
    ctx.stroke();
  }
  ctx.setLineDash([]);
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = 2;
  ctx.lineJoin = "round";
  ctx.beginPath();
  xs.forEach((x, i) => ctx.lineTo(plan.toX(x), plan.toY(ys[i])));
  ctx.stroke();
  for (const [x, y, filled] of marks) {
    circle(ctx, plan.toX(x), plan.toY(y), 4.5);
    ctx.fillStyle = filled ? palette.mark : palette.panel;
    ctx.fill();
    ctx.strokeStyle = palette.mark;
    ctx.lineWidth = 2;
    ctx.stroke();
  }
}
