// Masked softmax over one matrix of scores (queries in rows, keys in columns, row-major).
// Pure arithmetic, equal to attnbook.masked_softmax: no page, no widget, no state.

/**
 * Where attention is allowed, as 0 or 1 for each cell: the mask, and key j < length,
 * and, when causal, j <= i. `mask` is null when everything may be attended to.
 */
export function allowedCells({ queries, keys, mask = null, length = keys, causal = false }) {
  const allowed = new Uint8Array(queries * keys);
  for (let i = 0; i < queries; i++) {
    const end = Math.min(keys, length, causal ? i + 1 : keys);
    for (let j = 0; j < end; j++) {
      const at = i * keys + j;
      allowed[at] = mask === null || mask[at] ? 1 : 0;
    }
  }
  return allowed;
}

/**
 * Weights from scores / divisor. A row that may attend to nothing, or only to scores of
 * minus infinity, is all zeros. Scores at places that are not allowed are never read.
 */
export function maskedSoftmax(scores, allowed, queries, keys, divisor = 1) {
  const weights = new Float64Array(queries * keys);
  for (let i = 0; i < queries; i++) {
    const start = i * keys;
    const end = start + keys;
    let top = -Infinity;
    for (let at = start; at < end; at++) {
      if (allowed[at] && scores[at] > top) top = scores[at];
    }
    if (top === -Infinity) continue;
    let total = 0;
    for (let at = start; at < end; at++) {
      if (!allowed[at]) continue;
      weights[at] = Math.exp((scores[at] - top) / divisor);
      total += weights[at];
    }
    for (let at = start; at < end; at++) weights[at] /= total;
  }
  return weights;
}
