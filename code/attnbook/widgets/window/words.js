// What the window says in words: the line under the bars, and the table.
import { fillRows } from "../core/table.js";
import { numeral, weightText } from "../core/words.js";

/** The window in one line: where it is, what it leaves out, what the row sums to. */
export function describeWindow({ centre, radius, inside, keys, outside, sum, gold, allowed }) {
  const place = `centre ${numeral(centre, 1)}, radius ${radius}: ${inside} of ${keys} keys in the window`;
  const lost = gold.filter((j) => !allowed[j]).length;
  const links = gold.length ? `; gold outside: ${lost} of ${gold.length}` : "";
  return `${place}${links}; outside lies ${weightText(outside)} of the global weight; `
    + `the row sums to ${numeral(sum, 2)}`;
}

/** Fills the hidden table: each key with its global and its local weight. */
export function fillWindow(table, { labels, whole, weights, allowed, gold }, caption) {
  fillRows(table, caption, ["key", "global weight", "local weight"],
    labels.map((label, j) => [`${label}${gold.includes(j) ? " (gold)" : ""}`, weightText(whole[j]),
      allowed[j] ? weightText(weights[j]) : "outside"]));
}
