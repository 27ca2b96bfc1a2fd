// One row of local attention: equal to attnbook.local_attention for one query. Pure arithmetic.
import { maskedSoftmax } from "../core/softmax.js";

const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);

/**
 * What a window around `centre` makes of one query's scores. `bell`: "none", "weights" (a factor
 * after the softmax) or "scores" (its logarithm, as a term). `whole` is the softmax over all keys.
 */
export function localRow({ scores, centre, radius, bell }) {
  const keys = scores.length;
  const logs = scores.map((_, j) => -(((j - centre) / (radius / 2)) ** 2) / 2);
  const allowed = Uint8Array.from(scores, (_, j) => (Math.abs(j - centre) <= radius ? 1 : 0));
  const terms = bell === "scores" ? scores.map((a, j) => a + logs[j]) : scores;
  const softmax = maskedSoftmax(terms, allowed, 1, keys);
  const bells = Float64Array.from(logs, (log, j) => (allowed[j] && bell !== "none" ? Math.exp(log) : allowed[j]));
  const weights = bell === "weights" ? softmax.map((w, j) => w * bells[j]) : softmax;
  const whole = maskedSoftmax(scores, new Uint8Array(keys).fill(1), 1, keys);
  const outside = total(whole.filter((_, j) => !allowed[j]));
  return { keys, allowed, bells, weights, whole, outside, sum: total(weights), inside: total(allowed) };
}
