// The output as a sum over the heads in use. Pure arithmetic: no page, no widget, no state.

/**
 * Logits (q, r, m) of sequence `b` without the heads in `out`, from `added` (b, h, q, r, m) and
 * `base` (r, m). `sizes`: heads, queries, relations, classes.
 */
export function sumHeads({ added, base }, sizes, b, out) {
  const { heads, queries, relations, classes } = sizes;
  const plane = queries * relations * classes;
  const logits = new Float64Array(plane);
  for (let at = 0; at < plane; at++) logits[at] = base[at % (relations * classes)];
  for (let head = 0; head < heads; head++) {
    if (out.includes(head)) continue;
    const start = (b * heads + head) * plane;
    for (let at = 0; at < plane; at++) logits[at] += added[start + at];
  }
  return logits;
}

/** The first class with the largest logit, as `argmax` gives, for each query and relation: (q, r). */
export function predictClasses(logits, classes) {
  return Array.from({ length: logits.length / classes }, (_, n) => {
    let best = 0;
    for (let c = 1; c < classes; c++) {
      if (logits[n * classes + c] > logits[n * classes + best]) best = c;
    }
    return best;
  });
}

/** Over all sequences, how many answers are right for each relation, and for all at once, last. */
export function countRight(arrays, sizes, out) {
  const { batches, queries, relations, classes } = sizes;
  const counts = new Array(relations + 1).fill(0);
  for (let b = 0; b < batches; b++) {
    const found = predictClasses(sumHeads(arrays, sizes, b, out), classes);
    for (let i = 0; i < queries; i++) {
      let all = 1;
      for (let r = 0; r < relations; r++) {
        const hit = found[i * relations + r] === arrays.answers[(b * queries + i) * relations + r];
        if (hit) counts[r]++;
        else all = 0;
      }
      counts[relations] += all;
    }
  }
  return counts;
}

/** What each head adds to the logit of class `c` at query `i` and relation `r`: one number a head. */
export function sharesOf({ added }, { heads, queries, relations, classes }, b, i, r, c) {
  return Array.from({ length: heads }, (_, head) =>
    added[(((b * heads + head) * queries + i) * relations + r) * classes + c]);
}
