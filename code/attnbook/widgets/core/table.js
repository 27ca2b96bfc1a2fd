// The table that stands for the map where it is not seen.
import { element } from "./inputs.js";
import { shownText, strongest } from "./words.js";

/** Fills a table: its caption, the heads of its columns, its rows, whose first cell is a head. */
export function fillRows(table, caption, heads, rows) {
  const cells = (tag, texts, scope) => texts.map((text) => element(tag, scope ? { scope } : {}, text));
  table.replaceChildren(element("caption", {}, caption),
    element("tr", {}, ...cells("th", heads, "col")),
    ...rows.map(([head, ...texts]) =>
      element("tr", {}, ...cells("th", [head], "row"), ...cells("td", texts))));
}

function cellText(picture, at) {
  const text = picture.allowed[at] ? shownText(picture, at) : "masked";
  return picture.gold?.[at] ? `${text} (gold)` : text;
}

/** Fills the hidden table: every cell of a small map, the three strongest keys of a large one. */
export function fillTable(table, picture, caption) {
  const { queries, keys, queryLabels, keyLabels } = picture;
  const small = queries * keys <= 256;
  const texts = (i) => (small ? keyLabels.map((_, j) => cellText(picture, i * keys + j))
    : [strongest(picture, i, 3)]);
  fillRows(table, caption, ["query", ...(small ? keyLabels : ["strongest keys"])],
    queryLabels.map((label, i) => [label, ...texts(i)]));
}
