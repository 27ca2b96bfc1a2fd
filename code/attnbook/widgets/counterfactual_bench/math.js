// The bench's numbers: weights changed, the output that they give, and how two rows agree.
// Equal to the methods of the class in Python. Pure arithmetic: no page, no widget, no state.

const EPS = 1e-5; // of the layer norm
const range = (n) => [...Array(n).keys()];
const sumOf = (row) => row.reduce((sum, x) => sum + x, 0);

/** Half the sum of absolute differences; what rounding leaves is 0. */
export function distanceOf(one, other) {
  const distance = sumOf(one.map((x, n) => Math.abs(x - other[n]))) / 2;
  return distance < 1e-12 ? 0 : distance;
}

/** The shares of the classes with these weights, a row for each head. */
export function outputOf({ added, residual, norm, readout, bias, sizes }, weights) {
  const { keys, features } = sizes;
  let x = range(features).map((f) => residual[f]);
  weights.forEach((row, h) => row.forEach((w, k) => {
    if (w === 0) return;
    const start = (h * keys + k) * features;
    for (let f = 0; f < features; f++) x[f] += w * added[start + f];
  }));
  if (norm) {
    const mean = sumOf(x) / features;
    const spread = Math.sqrt(sumOf(x.map((one) => (one - mean) ** 2)) / features + EPS);
    x = x.map((one, f) => ((one - mean) / spread) * norm[f] + norm[features + f]);
  }
  const logits = [...bias].map((one, c) => one + sumOf(x.map((value, f) => value * readout[c * features + f])));
  const top = Math.max(...logits);
  const raw = logits.map((one) => Math.exp(one - top));
  return raw.map((one) => one / sumOf(raw));
}

/** What each key votes for the second of two classes, against the first. */
function votesOf({ added, readout, sizes: { keys, features } }) {
  return range(keys).map((k) => sumOf(range(features).map((f) =>
    added[k * features + f] * (readout[features + f] - readout[f]))));
}

/** The weights farthest away that give the same sum of votes: on two keys, one on either side of it. */
export function farthestCounterfeit(weights, votes) {
  const total = sumOf(weights.map((w, k) => w * votes[k]));
  let [best, farthest] = [weights, 0];
  votes.forEach((above, i) => votes.forEach((below, j) => {
    if (!(above >= total && total >= below && above > below)) return;
    const share = (total - below) / (above - below);
    const distance = 1 - Math.min(weights[i], share) - Math.min(weights[j], 1 - share);
    if (distance <= farthest) return;
    farthest = distance;
    best = weights.map((_, k) => (k === i ? share : k === j ? 1 - share : 0));
  }));
  return best;
}

function erased(row, key) {
  const left = row.map((w, k) => (k === key ? 0 : w));
  const rest = sumOf(left);
  return rest > 0 ? left.map((w) => w / rest) : left;
}

/** What an operation makes of one head's row. */
const CHANGES = {
  trained: (row) => row,
  compare: (row) => row,
  out: (row) => row.map(() => 0),
  even: (row) => row.map(() => 1 / row.length),
  shuffled: (row, { order }, key, head) => row.map((_, k) => row[order[head][k]]),
  erase: (row, bench, key) => erased(row, key),
  force: (row, bench, key) => row.map((_, k) => (k === key ? 1 : 0)),
  counterfeit: (row, bench) => farthestCounterfeit(row, votesOf(bench)),
};

/** The weights after an operation on the heads that are `changed`. */
export function changeWeights(bench, operation, key, changed) {
  return bench.weights.map((row, head) =>
    (changed.includes(head) ? CHANGES[operation](row, bench, key, head) : row));
}

/** How far the output moves when each key is erased. */
export function effectsOf(bench, changed) {
  const before = outputOf(bench, bench.weights);
  return range(bench.sizes.keys).map((key) =>
    distanceOf(before, outputOf(bench, changeWeights(bench, "erase", key, changed))));
}

/** Ranks about their mean; 1e-9 apart counts as equal. */
function ranksOf(row) {
  const near = row.map((x) => Math.round(x * 1e9));
  return near.map((x) => sumOf(near.map((y) => Math.sign(x - y))) / 2);
}

export const meanRow = (rows) => rows[0].map((_, k) => sumOf(rows.map((row) => row[k])) / rows.length);

/** Spearman's rank correlation; 0 where one of the rows is constant. */
export function agreementOf(first, second) {
  const [one, other] = [first, second].map(ranksOf);
  const product = (a, b) => sumOf(a.map((x, n) => x * b[n]));
  const scale = Math.sqrt(product(one, one) * product(other, other));
  return scale > 0 ? product(one, other) / scale : 0;
}
