// One query's scores shared in four ways, and what each sends back: equal to attnbook's
// normalisers and their gradients. Pure arithmetic.
import { maskedSoftmax } from "../core/softmax.js";

const EXPONENT = { entmax: 1.5, sparsemax: 2 }; // of the others 1, with weights among the chosen
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

/** Where the k best scores stand, as 0 or 1; of equal ones the first. */
function bestPlaces(scores, k) {
  const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
  const chosen = new Uint8Array(scores.length);
  order.slice(0, k).forEach((j) => { chosen[j] = 1; });
  return chosen;
}

/** Weights of the scores; the threshold of entmax and sparsemax is found by bisection. */
export function shareRow(scores, normalizer, k) {
  const keys = scores.length;
  const exponent = EXPONENT[normalizer];
  if (!exponent) {
    const chosen = bestPlaces(scores, normalizer === "top_k" ? k : keys);
    return Array.from(maskedSoftmax(scores, chosen, 1, keys));
  }
  const z = scores.map((a) => (exponent - 1) * a);
  const above = (threshold) => z.map((x) => Math.max(0, x - threshold) ** (1 / (exponent - 1)));
  let low = Math.max(...z) - 1;
  for (let width = 0.5; width > 1e-17; width /= 2) {
    if (sum(above(low + width)) >= 1) low += width;
  }
  return above(low);
}

/** How a step against the gradient moves each score, at a rate of 1. */
export function scoreMoves(weights, slopes, normalizer) {
  const kappa = weights.map((w) => (w > 0 ? w ** (2 - (EXPONENT[normalizer] ?? 1)) : 0));
  const mean = sum(kappa.map((x, j) => x * slopes[j])) / sum(kappa);
  return kappa.map((x, j) => (x ? -x * (slopes[j] - mean) : 0));
}

/** Scores that give these weights, which all are above zero or nearly so; at most `most` in size. */
export function scoresFor(weights, normalizer, most) {
  const power = { entmax: (w) => 2 * Math.sqrt(w), sparsemax: (w) => w }[normalizer];
  const raw = weights.map(power ?? ((w) => Math.log(Math.max(w, 1e-9))));
  const middle = power ? 0 : sum(raw.map((x) => Math.max(x, -2 * most))) / raw.length;
  return raw.map((x) => Math.round(100 * Math.min(most, Math.max(-most, x - middle))) / 100);
}
