// What the reader of documents says in words: the line below, and the table.
import { fillRows } from "../core/table.js";
import { numeral, weightText } from "../core/words.js";

const highest = (row) => row.indexOf(Math.max(...row)) + 1;

/** What the model says, where its largest weight lies, and where that of the truth does. */
export function describeReading({ name, side, logit, weights, truth, truthName, erased }) {
  const without = erased ? ` without sentence ${erased}` : "";
  return `${name}${without} says “${side}”, logit ${numeral(logit, 2)}; its largest weight, `
    + `${weightText(Math.max(...weights))}, is that of sentence ${highest(weights)}; `
    + `largest for ${truthName}: sentence ${highest(truth)}`;
}

/** Fills the hidden table: each sentence, its weight, its truth. */
export function fillReading(table, { sentences, weights, truth, truthName, left }, caption) {
  fillRows(table, caption, ["sentence", "weight", truthName], sentences.map((words, i) =>
    [`${i + 1}: ${words.join(" ")}`, left[i] ? weightText(weights[i]) : "erased", numeral(truth[i], 2)]));
}
