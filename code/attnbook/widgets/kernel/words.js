// What kernel regression says in words: the read-out, the error, and the table.
import { fillRows } from "../core/table.js";
import { numeral, strongest } from "../core/words.js";
import { countCarrying, meanSquaredError } from "./fit.js";

/** Digits after the point that tell `span` apart in about a hundred steps or more. */
export function digitsFor(span) {
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(span || 1))));
}

/** The marked query in one line: the fit, the truth, and how many points carry it. */
export function describeQuery(picture) {
  const { row, places, fit, empty, weights, keys, known, leaveOneOut, digits } = picture;
  const head = `query ${numeral(places[row], digits)}`;
  const compared = known.length ? `, ${leaveOneOut ? "its own y" : "truth"} ${numeral(known[row], 2)}` : "";
  const left = leaveOneOut ? ", its own point left out" : "";
  if (empty[row]) return `${head}${left}: no point in range, all weights 0, output 0${compared}`;
  const count = countCarrying(weights.subarray(row * keys, (row + 1) * keys), 0.95);
  const carry = count === 1 ? "1 of KEYS points carries" : `${count} of KEYS points carry`;
  return `${head}${left}: fit ${numeral(fit[row], 2)}${compared}; `
    + `${carry.replace("KEYS", keys)} 95% of the weight`;
}

/** The error of the whole curve: its name, its value, and a note on queries without a point. */
export function describeError({ fit, known, empty, leaveOneOut }) {
  const gaps = empty.filter(Boolean).length;
  const note = gaps ? ` (${gaps} of ${empty.length} queries: no point in range)` : "";
  const error = meanSquaredError(fit, known);
  if (Number.isNaN(error)) return { name: "", value: "", note };
  return {
    name: `Mean squared error against the ${leaveOneOut ? "left-out points" : "truth"}: `,
    value: error.toPrecision(3), note,
  };
}

/** Fills the hidden table: each query with its fit, what it is compared with, its three points. */
export function fillKernelTable(table, picture, caption) {
  const { places, fit, empty, known, leaveOneOut, digits } = picture;
  const compared = known.length ? [leaveOneOut ? "own y, left out" : "truth"] : [];
  fillRows(table, caption, ["query", "fit", ...compared, "strongest points"],
    Array.from(places, (place, i) => [
      numeral(place, digits), empty[i] ? "no point in range" : numeral(fit[i]),
      ...(known.length ? [numeral(known[i])] : []), strongest(picture, i, 3),
    ]));
}
