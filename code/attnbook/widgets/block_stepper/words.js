// What the stepper says in words: the line under the bars, and the table.
import { fillRows } from "../core/table.js";
import { numeral, weightText } from "../core/words.js";

/** What is kept after the blocks that have been read, and what the last of them changed. */
export function describeBlocks({ read, blocks, largest, total, factor, output, wanted, rescale }) {
  const place = `${read} of ${blocks} blocks read`;
  if (!read) return `${place}; dense attention gives ${numeral(wanted)}`;
  const old = factor === 1 || read === 1 ? "" : rescale ? `, what was there before × ${numeral(factor)}`
    : `, what was there before should be × ${numeral(factor)}`;
  return `${place}${old}; largest score ${numeral(largest, 1)}, sum ${numeral(total)}, `
    + `output ${numeral(output)}; dense attention gives ${numeral(wanted)}`;
}

/** Fills the hidden table: each key with its score, part, share, and dense weight. */
export function fillBlocks(table, { labels, scores, parts, shares, dense, seen }, caption) {
  fillRows(table, caption, ["key", "score", "part of the sum", "share", "dense weight"],
    labels.map((label, j) => [label, numeral(scores[j], 1),
      ...(j < seen ? [weightText(parts[j]), weightText(shares[j])] : ["not read", "not read"]),
      weightText(dense[j])]));
}
