// What the haystack explorer says: its query, the cost, all queries; one key; the table.
import { fillRows } from "../core/table.js";
import { numeral, weightText } from "../core/words.js";

const inGroups = (number) => number.toLocaleString("en");
const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** Blocks are kept whole: why they are more, or fewer, keys than the budget. */
function wholeBlocks(n, block, budget) {
  if (budget % block === 0) return "";
  return ` (${Math.min(block, n) > budget ? "the least, more than" : "all that fit into"} the budget of ${budget})`;
}

/** By what right the keys are kept. */
function whyKept({ scorer, n, block, budget, rounds, clusters, nearest }) {
  const blocks = Math.ceil(n / block);
  const texts = {
    mean: () => `in ${Math.min(blocks, Math.max(1, Math.floor(budget / block)))} of ${count(blocks, "block")}`
      + wholeBlocks(n, block, budget),
    indexer: () => "the best by the indexer",
    hash: () => (rounds === 1 ? "all in its bucket" : `all in its bucket in any of ${rounds} rounds`),
    cluster: () => `all in ${Math.min(nearest, clusters)} of ${count(clusters, "cluster")}`,
  };
  return texts[scorer]();
}

/** The shown query; what it costs; all queries: a sentence each. */
export function describeChoice(picture) {
  const { n, q, d, query, needles, results, spent } = picture;
  const own = results[query];
  const mean = (name) => results.reduce((sum, result) => sum + result[name], 0) / q;
  const found = results.filter((result) => result.found).length;
  return [
    `Query ${query} looks for key ${needles[query]}: ${own.found ? "found" : "missed"}.`,
    `Kept: ${own.count} of ${n} keys, ${whyKept(picture)}; they hold ${weightText(own.weight)} of the weight.`,
    `Multiplications: ${inGroups(spent)} to choose, ${inGroups(own.count * d)} to score what is kept; `
      + `dense attention ${inGroups(n * d)}.`,
    `All ${q} queries: needle found for ${found}; on average ${numeral(mean("count"), 1)} keys kept, with `
      + `${weightText(mean("weight"))} of the weight.`,
  ];
}

/** The cheap score of a key, in words. */
function scoreText({ scorer, rounds }, score) {
  if (scorer === "hash") return `in the query's bucket in ${score} of ${count(rounds, "round")}`;
  if (scorer === "cluster") return `its centre is ${numeral(-score, 2)} from the query`;
  return `${scorer === "mean" ? "its block's" : "its"} cheap score ${numeral(score, 2)}`;
}

const keyName = ({ needles, query }, j) => `key ${j}${needles[query] === j ? " (needle)" : ""}`;
const fate = (kept) => (kept ? "kept" : "left out");

/** One key: its weight in dense attention, its cheap score, and whether it is kept. */
export function describeKey(picture, j) {
  const at = picture.query * picture.n + j;
  return `${keyName(picture, j)}: weight ${weightText(picture.weights[at])}; `
    + `${scoreText(picture, picture.scores[at])}; ${fate(picture.kept[at])}`;
}

/** Fills the hidden table: every key of the shown query. */
export function fillKeys(table, picture, caption) {
  const { n, query, weights, scores, kept } = picture;
  fillRows(table, caption, ["key", "weight", "cheap score", "kept"], Array.from({ length: n }, (_, j) => {
    const at = query * n + j;
    return [keyName(picture, j), weightText(weights[at]), numeral(scores[at], 2), fate(kept[at])];
  }));
}
