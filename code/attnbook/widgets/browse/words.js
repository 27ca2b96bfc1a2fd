// What the layer × head browser says: of a head, of one of its cells, of a choice.
import { COARSE } from "../core/gestures.js";
import { goldMark, numeral, shownText, strongest, whyMasked } from "../core/words.js";

const SIDE_NAMES = {
  encoder: "source → source", decoder: "target → target", cross: "target → source",
};
export const BROWSE_HINT = COARSE ? "Tap a head to see it large. Tap a cell of the large map to read and pin it."
  : "Choose a head with a click or the arrow keys. Point at a cell of the large map, or "
    + "focus it and move with the arrow keys. Click or press Enter to pin a cell.";

/** From which tokens to which a kind looks. */
export const sidesOf = (kind) => SIDE_NAMES[kind];

/** The number of a head with its name, "hit rate 0.87"; "" where there is none. */
export function numberText(number, label) {
  return number === null ? "" : `${label} ${numeral(number, 2)}`.trim();
}

/** A head as it is called everywhere: positions from 0 are counted from 1. */
export const headName = (layer, head) => `layer ${layer + 1}, head ${head + 1}`;

/** One cell of the large map in one line. */
export function describeBrowsed(picture, { i, j }) {
  const at = i * picture.keys + j;
  const place = `query “${picture.queryLabels[i]}” → key “${picture.keyLabels[j]}”${goldMark(picture, at)}`;
  const line = `${headName(picture.layer, picture.head)}: ${place}`;
  if (!picture.allowed[at]) return `${line}: masked (${whyMasked(picture, i, j)}) → weight 0`;
  return `${line} → weight ${shownText(picture, at)}`;
}

/** A pinned cell: the same, and where the rest of its query's weight went. */
export function describePinned(picture, cell) {
  return `${describeBrowsed(picture, cell)}. Strongest keys: ${strongest(picture, cell.i, 3)}`;
}

/** The hidden table's caption, and what a change of kind, example or head is worth saying. */
export function describeHead({ kind, layer, head, number }, label) {
  const more = numberText(number, label);
  return `${kind[0].toUpperCase()}${kind.slice(1)}, ${headName(layer, head)}${more ? `, ${more}` : ""}`;
}
