// Attention with many heads, and what a reader may do to it: take heads out, force weights.
import { maskedSoftmax } from "../attnbook/widgets/core/softmax.js";

/** Features of one head over all rows. */
function scoresOf(queries, keys, h, d, heads) {
  const size = d / heads;
  const [q, k] = [queries.length / d, keys.length / d];
  const scores = new Float64Array(q * k);
  for (let i = 0; i < q; i++) {
    for (let j = 0; j < k; j++) {
      let sum = 0;
      for (let c = h * size; c < (h + 1) * size; c++) sum += queries[i * d + c] * keys[j * d + c];
      scores[i * k + j] = sum;
    }
  }
  return scores;
}

/** All weight of a query on one key, for each [query, key] that is there and not masked. */
function force(weights, forced, allowed, offset, q, k) {
  for (const [query, key] of forced) {
    const i = query - offset;
    if (i < 0 || i >= q || key >= k || !allowed[i * k + key]) continue;
    weights.fill(0, i * k, (i + 1) * k);
    weights[i * k + key] = 1;
  }
}

/**
 * Weights of every head and the pooled values, joined: {pooled (q, d), weights: [(q, k), ...]}.
 * Queries, keys and values are rows of d features, head after head. `allowed` (q, k); `offset` is
 * the place of the first query; `changes[h]`: {out, forced: [[query, key], ...]} or nothing.
 */
export function attend(queries, { keys, values }, allowed, { d, heads, offset = 0, changes = [] }) {
  const size = d / heads;
  const [q, k] = [queries.length / d, keys.length / d];
  const pooled = new Float32Array(q * d);
  const weights = [];
  for (let h = 0; h < heads; h++) {
    const scores = scoresOf(queries, keys, h, d, heads);
    const own = maskedSoftmax(scores, allowed, q, k, Math.sqrt(size));
    const { out = false, forced = [] } = changes[h] ?? {};
    force(own, forced, allowed, offset, q, k);
    weights.push(own);
    if (out) continue; // a head that is out has weights, but its result is not used
    for (let i = 0; i < q; i++) {
      for (let j = 0; j < k; j++) {
        const w = own[i * k + j];
        if (w === 0) continue;
        for (let c = h * size; c < (h + 1) * size; c++) pooled[i * d + c] += w * values[j * d + c];
      }
    }
  }
  return { pooled, weights };
}
