// The table that stands for the map where it is not seen.
import { shownText, strongest } from "./words.js";

export function cellOf(tag, text, scope) {
  const node = document.createElement(tag);
  node.textContent = text;
  if (scope) node.scope = scope;
  return node;
}

function cellText(picture, at) {
  const text = picture.allowed[at] ? shownText(picture, at) : "masked";
  return picture.gold?.[at] ? `${text} (gold)` : text;
}

/** Fills the hidden table: every cell of a small map, the three strongest keys of a large one. */
export function fillTable(table, picture, caption) {
  const small = picture.queries * picture.keys <= 256;
  const rows = [document.createElement("tr")];
  rows[0].append(cellOf("th", "query", "col"));
  for (const text of small ? picture.keyLabels : ["strongest keys"]) {
    rows[0].append(cellOf("th", text, "col"));
  }
  for (let i = 0; i < picture.queries; i++) {
    const row = document.createElement("tr");
    row.append(cellOf("th", picture.queryLabels[i], "row"));
    if (small) {
      for (let j = 0; j < picture.keys; j++) {
        row.append(cellOf("td", cellText(picture, i * picture.keys + j)));
      }
    } else {
      row.append(cellOf("td", strongest(picture, i, 3)));
    }
    rows.push(row);
  }
  table.replaceChildren(cellOf("caption", caption), ...rows);
}
