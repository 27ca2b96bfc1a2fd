// What two matrices of weights, or weights and gold marks, say of each other. Pure arithmetic.

const ROUNDING = 1e-7; // scores are float32: a smaller difference says nothing

/** second - first, cell by cell; what is no more than rounding is exactly zero. */
export function subtract(second, first) {
  return second.map((w, at) => (Math.abs(w - first[at]) < ROUNDING ? 0 : w - first[at]));
}

/** The first key with the largest weight of query `i`, as `argmax` gives; -1 when all are zero. */
export function argmaxKey(weights, i, keys) {
  let best = -1;
  for (let j = 0; j < keys; j++) {
    const w = weights[i * keys + j];
    if (w > 0 && (best < 0 || w > weights[i * keys + best])) best = j;
  }
  return best;
}

/** Links (query, key) as marks: 1 at each of them, else 0. */
export function marksOf(links, queries, keys) {
  const marks = new Uint8Array(queries * keys);
  for (const [i, j] of links) marks[i * keys + j] = 1;
  return marks;
}

/** Of the queries that have gold marks, how many have their argmax on one: {hits, marked}. */
export function goldHits(weights, gold, queries, keys) {
  let hits = 0;
  let marked = 0;
  for (let i = 0; i < queries; i++) {
    if (!gold.subarray(i * keys, (i + 1) * keys).includes(1)) continue;
    marked++;
    const best = argmaxKey(weights, i, keys);
    if (best >= 0 && gold[i * keys + best]) hits++;
  }
  return { hits, marked };
}
