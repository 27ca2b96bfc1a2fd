// Kernel regression as attention: log kernels are the scores, a masked softmax the weights.
// Pure arithmetic, equal to attnbook.scores and attnbook.masked_softmax: no page, no state.
import { maskedSoftmax } from "../core/softmax.js";

/** The log of each kernel at a squared distance in widths; minus infinity outside its support. */
export const LOG_KERNELS = {
  gaussian: (square) => -square / 2,
  boxcar: (square) => (square > 1 ? -Infinity : 0),
  epanechnikov: (square) => Math.log(Math.max(0, 1 - square)),
  triangular: (square) => Math.log(Math.max(0, 1 - Math.sqrt(square))),
};

/** Scores of all pairs, row-major: queries in rows, points in columns. */
export function kernelScores(kernel, queries, x, width) {
  const logKernel = LOG_KERNELS[kernel];
  const scores = new Float64Array(queries.length * x.length);
  queries.forEach((query, i) => {
    for (let j = 0; j < x.length; j++) {
      scores[i * x.length + j] = logKernel(((query - x[j]) / width) ** 2);
    }
  });
  return scores;
}

/**
 * Weights, the fit at each query (0 where no point is in range), and `empty`: where that is so.
 * With `leaveOneOut` the queries are the points, and none may attend to itself.
 */
export function fitCurve({ x, y, queries, kernel, width, leaveOneOut = false }) {
  const places = leaveOneOut ? x : queries;
  const [m, n] = [places.length, x.length];
  const allowed = new Uint8Array(m * n).fill(1);
  if (leaveOneOut) for (let i = 0; i < n; i++) allowed[i * n + i] = 0;
  const weights = maskedSoftmax(kernelScores(kernel, places, x, width), allowed, m, n);
  const fit = new Float64Array(m);
  const empty = new Array(m).fill(true);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const w = weights[i * n + j];
      if (w > 0) empty[i] = false;
      fit[i] += w * y[j];
    }
  }
  return { places, allowed, weights, fit, empty };
}

/** Mean squared difference of two curves; NaN when the second is not known. */
export function meanSquaredError(fit, target) {
  if (!target.length) return NaN;
  return fit.reduce((sum, value, i) => sum + (value - target[i]) ** 2, 0) / fit.length;
}

/** The fewest weights of a row that together hold `share` of its sum. */
export function countCarrying(row, share) {
  const sorted = Float64Array.from(row).sort().reverse();
  const total = sorted.reduce((sum, w) => sum + w, 0);
  let [carried, count] = [0, 0];
  while (count < sorted.length && carried < share * total - 1e-12) carried += sorted[count++];
  return count;
}

/** The position of the place nearest to `x`; the first of equals. */
export function nearest(places, x) {
  let best = 0;
  for (let i = 1; i < places.length; i++) {
    if (Math.abs(places[i] - x) < Math.abs(places[best] - x)) best = i;
  }
  return best;
}
