// What plots of curves share: round numbers on their axes.
import { sizeCanvas } from "./draw.js";
import { FONT } from "./layout.js";

export const TICK_SIZE = 12;

/** Round numbers within [low, high], about `count` of them. */
export function niceTicks(low, high, count) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough * 0.999);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) {
    const text = (n * step).toFixed(digits);
    ticks.push({ at: n * step, text: Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−") });
  }
  return ticks;
}

/** The pen of an empty plot, exactly as large as its plan. */
export function startPlot(canvas, plan) {
  const ctx = sizeCanvas(canvas, plan);
  canvas.style.width = `${plan.width}px`;
  canvas.style.height = `${plan.height}px`;
  return ctx;
}

/** Lines across at each y, marks at each x, and the numbers, `gap` pixels away; the x `axis`. */
export function paintTicks(ctx, plan, xTicks, yTicks, gap, palette, axis = false) {
  const { left, right, bottom, toX, toY } = plan;
  ctx.strokeStyle = palette.grid;
  ctx.lineWidth = 1;
  ctx.fillStyle = palette.muted;
  ctx.font = `${TICK_SIZE}px ${FONT}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.beginPath();
  for (const { at, text } of yTicks) {
    const y = Math.round(toY(at)) + 0.5;
    ctx.moveTo(left, y);
    ctx.lineTo(right, y);
    ctx.fillText(text, left - gap, y);
  }
  if (axis) {
    ctx.moveTo(left, bottom + 0.5);
    ctx.lineTo(right, bottom + 0.5);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const { at, text } of xTicks) {
    const x = Math.round(toX(at)) + 0.5;
    ctx.moveTo(x, bottom);
    ctx.lineTo(x, bottom + 4);
    ctx.fillText(text, x, bottom + gap + 1);
  }
  ctx.stroke();
}

export function circle(ctx, x, y, radius) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}
