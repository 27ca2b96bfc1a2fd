// What the explorer of normalisers says: the line under the picture, one key, the table.
import { fillRows } from "../core/table.js";
import { differenceText, numeral, weightText } from "../core/words.js";

/** The move of a score: what is no more than rounding is zero. */
export const moveText = (x) => differenceText(Math.abs(x) < 1e-9 ? 0 : x);

/** How many keys are kept, and what a step would do. */
export function describeShares({ name, weights, moves }) {
  const kept = weights.filter((w) => w > 0).length;
  const moved = moves.filter((x) => Math.abs(x) >= 1e-9).length;
  return `${name}: ${kept} of ${weights.length} keys kept, the largest weight is `
    + `${weightText(Math.max(...weights))}; a step moves ${moved || "none"} of the scores`;
}

/** One key: its score, its weight, and how a step would move it. */
export function describeKey({ labels, scores, weights, moves }, j) {
  return `${labels[j]}: score ${numeral(scores[j], 2)} → weight ${weightText(weights[j])}, `
    + `a step moves the score by ${moveText(moves[j])}`;
}

export function fillShares(table, { labels, scores, weights, moves }, caption) {
  fillRows(table, caption, ["key", "score", "weight", "step"], labels.map((label, j) =>
    [label, numeral(scores[j], 2), weightText(weights[j]), moveText(moves[j])]));
}
