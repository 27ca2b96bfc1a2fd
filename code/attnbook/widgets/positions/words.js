// What the positions explorer says: its read-out, the names of its parts, and the table.
import { fillRows } from "../core/table.js";
import { brief, numeral } from "../core/words.js";
import { alibiSlopes, frequencies } from "./math.js";

/** The titles of the two plots, and what a column is called. */
export function captions({ kind, matrices, column, place }) {
  if (kind === "alibi") {
    return { column: "head", curve: `bias of each key, query ${place}, head ${column + 1}`,
      similarity: `factor left to a key, by offset` };
  }
  return {
    column: "feature", curve: `feature ${column}, by place`,
    similarity: matrices === "random" ? `score of query ${place} and each key, by offset`
      : kind === "rotary" ? "score of equal query and key, by offset"
      : "similarity of two places, by offset",
  };
}

/** The marked column: what it is, and how fast. */
export function describeColumn({ kind, column, columns, base, heads }) {
  if (kind === "alibi") return `head ${column + 1} (slope ${brief(alibiSlopes(heads)[column])})`;
  const sine = (column % 2 === 0) === (kind === "sinusoidal");
  const period = (2 * Math.PI) / frequencies(columns, base)[Math.floor(column / 2)];
  return `feature ${column} (${sine ? "sine" : "cosine"}, period ${brief(period)} places)`;
}

/** The marked place, column and offset in one line. */
export function describePlace(picture) {
  const { kind, matrices, place, offset, curve, similarity } = picture;
  const other = place + offset;
  const sign = offset > 0 ? `+${offset}` : numeral(offset, 0);
  if (kind === "alibi") {
    return `query ${place}, ${describeColumn(picture)}; key ${other}, offset ${sign}: `
      + `bias ${numeral(curve[other], 2)}, factor ${numeral(similarity[other], 2)}`;
  }
  const what = kind === "rotary" || matrices === "random" ? "score" : "similarity";
  return `place ${place}, ${describeColumn(picture)}: ${numeral(curve[place], 2)}; `
    + `offset ${sign}: ${what} ${numeral(similarity[other], 2)}`;
}

/** Fills the hidden table: each place with the marked column and its likeness to the marked one. */
export function fillPlaces(table, picture, caption) {
  const { kind, matrices, place, curve, similarity } = picture;
  const heads = kind === "alibi" ? ["key", "offset", "bias", "factor"]
    : ["place", "offset", describeColumn(picture), matrices === "random" ? "score" : "similarity"];
  fillRows(table, caption, heads, curve.map((value, i) =>
    [String(i), numeral(i - place, 0), numeral(value), numeral(similarity[i])]));
}
