// What the bench says: the answer, what may be said of it, the marked key; and the table of keys.
import { fillRows } from "../core/table.js";
import { numeral, shortWeight, weightText } from "../core/words.js";
import { meanRow } from "./math.js";

const top = (row) => row.indexOf(Math.max(...row));

const nameOf = ({ labels }, key) => `key ${key} “${labels[key]}”`;

function describeAnswer({ before, now, classes, moved, operation }) {
  const [first, then] = [top(before), top(now)];
  if (operation === "trained" || operation === "compare") {
    return `The output is “${classes[first]}”, with ${shortWeight(before[first])}.`;
  }
  const said = first === then ? "is still" : `was “${classes[first]}” and now is`;
  return `The output ${said} “${classes[then]}”, with ${shortWeight(now[then])}; it moved by ${shortWeight(moved)}.`;
}

/** What may be said after an operation, and no more. */
function describeClaim({ operation, agreement, before, now, away, changed }) {
  if (operation === "trained") return "Seen: so the values are mixed here. What the output needs is not known yet.";
  if (operation === "compare") {
    return `Correlated: weights and effects of erasure agree by ${numeral(agreement, 2)} (Spearman). Both describe this model.`;
  }
  if (operation === "counterfeit" && changed.length) {
    return away > 0.001 ? `Intervened: other weights, ${weightText(away)} away, give the same output.`
      : "Intervened: no weights farther than 0.001 away give this output.";
  }
  if (!changed.length) return "No head is changed.";
  if (top(before) !== top(now)) return "Intervened: these weights can change the answer of this model.";
  return "Intervened: the answer stays. Show a change of the same kind that turns it before you say “not needed”.";
}

function describeTruth(picture) {
  const { gold, trained } = picture;
  const mean = meanRow(trained);
  const most = top(mean);
  const own = `Judged by truth: ${nameOf(picture, gold)} decides, and has ${weightText(mean[gold])} of the weight as trained`;
  return most === gold ? `${own}, the most.` : `${own}; ${nameOf(picture, most)} has ${weightText(mean[most])}.`;
}

function describeKey(picture) {
  const { key, trained, weights } = picture;
  const [was, is] = [trained, weights].map((rows) => weightText(meanRow(rows)[key]));
  const over = trained.length > 1 ? `, mean of ${trained.length} heads` : "";
  return `Marked: ${nameOf(picture, key)}, weight ${was}${over}${was === is ? "" : `, now ${is}`}.`;
}

export function describeBench(picture) {
  const truth = picture.gold === null ? [] : [describeTruth(picture)];
  return [describeAnswer(picture), describeClaim(picture), ...truth, describeKey(picture)];
}

/** Fills the hidden table: each key's weights by head, as trained and now, or the effects of erasure. */
export function fillBench(table, { labels, trained, shown, headLabels, shownName, gold }, caption) {
  const named = (rows, what) => rows.map((_, h) => (rows.length > 1 ? `${headLabels[h]}, ${what}` : what));
  fillRows(table, caption, ["key", ...named(trained, "as trained"), ...named(shown, shownName)],
    labels.map((label, k) => [`${k}: ${label}${k === gold ? " (decides)" : ""}`,
      ...[...trained, ...shown].map((row) => weightText(row[k]))]));
}
