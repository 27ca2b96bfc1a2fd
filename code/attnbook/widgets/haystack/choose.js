// Four cheap choices among the keys, for all queries. Equal to attnbook's functions of `cheap`; the
// numbers are whole steps, so that products are exact and equal scores are equal here and there.
import { maskedSoftmax } from "../core/softmax.js";
import { hashCodes, homes, kMeans, nearness, products } from "./groups.js";

const WIDTH = 16; // columns of a round's rotation, for 32 buckets

/** The weights of dense attention: q × n. */
export function denseWeights({ keys, queries, q, n, d }) {
  return maskedSoftmax(products(queries, keys, d), new Uint8Array(q * n).fill(1), q, n, Math.sqrt(d));
}

/** 1 at the best `keep` of each row of `size`, of equal ones the first. */
function bestOf(scores, size, keep) {
  const best = new Uint8Array(scores.length);
  for (let from = 0; from < scores.length; from += size) {
    const row = scores.subarray(from, from + size);
    [...row.keys()].sort((a, b) => row[b] - row[a] || a - b).slice(0, keep)
      .forEach((j) => { best[from + j] = 1; });
  }
  return best;
}

/** For each query and key the number that `at(j)` picks from the query's row of `size`. */
function spread(numbers, size, { q, n }, at) {
  const spacious = new numbers.constructor(q * n);
  for (let i = 0; i < q; i++) {
    for (let j = 0; j < n; j++) spacious[i * n + j] = numbers[i * size + at(j)];
  }
  return spacious;
}

/** The mean of each block's keys; the last block may be short. */
function blockMeans({ keys, n, d }, block) {
  const means = new Float64Array(Math.ceil(n / block) * d);
  for (let j = 0; j < n; j++) {
    const first = j - (j % block);
    const share = 1 / Math.min(block, n - first);
    for (let c = 0; c < d; c++) means[(first / block) * d + c] += share * keys[j * d + c];
  }
  return means;
}

function byMeans(hay, { block, budget }) {
  const blocks = Math.ceil(hay.n / block);
  const scores = products(hay.queries, blockMeans(hay, block), hay.d);
  const best = bestOf(scores, blocks, Math.max(1, Math.floor(budget / block)));
  const home = (j) => Math.floor(j / block);
  return {
    scores: spread(scores, blocks, hay, home), kept: spread(best, blocks, hay, home), spent: blocks * hay.d,
  };
}

/** The sum over an indexer's heads of a share times the ReLU of a product. */
function byIndexer({ n, q, heads, size, asked, small, shares }, { budget }) {
  const fits = products(asked, small, size); // (q, heads, n)
  const scores = new Float64Array(q * n);
  fits.forEach((fit, at) => {
    const row = Math.floor(at / n);
    scores[Math.floor(row / heads) * n + (at % n)] += shares[row] * Math.max(0, fit);
  });
  scores.forEach((sum, at) => { scores[at] = sum / Math.sqrt(size); });
  return { scores, kept: bestOf(scores, n, budget), spent: n * heads * size };
}

function byHash(hay, { rounds, buckets }) {
  const { q, n, d, rotations } = hay;
  const size = { rounds, half: buckets / 2, width: WIDTH };
  const [asked, given] = [hay.queries, hay.keys].map((x) => hashCodes(x, d, rotations, size));
  const scores = new Float64Array(q * n);
  scores.forEach((_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    for (let r = 0; r < rounds; r++) scores[at] += asked[i * rounds + r] === given[j * rounds + r];
  });
  return { scores, kept: Uint8Array.from(scores, (agree) => agree > 0), spent: (rounds * d * buckets) / 2 };
}

function byCluster(hay, { clusters, nearest }) {
  const { q, keys, queries, d } = hay;
  const centres = kMeans(keys, hay.starts.slice(0, clusters), d);
  const home = homes(keys, centres, d);
  const near = nearness(queries, centres, d);
  const distances = near.map((x, at) => {
    const i = Math.floor(at / clusters);
    const square = queries.subarray(i * d, (i + 1) * d).reduce((sum, a) => sum + a * a, 0);
    return -Math.sqrt(Math.max(0, square - 2 * x));
  });
  const looked = bestOf(near, clusters, nearest);
  const [scores, kept] = [distances, looked].map((x) => spread(x, clusters, hay, (j) => home[j]));
  return { scores, kept, spent: clusters * d };
}

const CHOICES = { mean: byMeans, indexer: byIndexer, hash: byHash, cluster: byCluster };

/** What `settings.scorer` keeps: scores and kept, q × n, and the multiplications for one query. */
export const choose = (hay, settings) => CHOICES[settings.scorer](hay, settings);

/** For each query: how many keys are kept, with what share of the weight, and whether its needle is. */
export function judge({ q, n, needles }, weights, kept) {
  return Array.from({ length: q }, (_, i) => {
    let [count, weight] = [0, 0];
    for (let at = i * n; at < (i + 1) * n; at++) {
      if (!kept[at]) continue;
      count++;
      weight += weights[at];
    }
    return { count, weight, found: Boolean(kept[i * n + needles[i]]) };
  });
}
