// What the heat map says in words: the line under the map, and the table for screen readers.

/** A number for reading: fixed digits, a true minus sign, infinity by its sign. */
export function numeral(x, digits = 3) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const rounded = x.toFixed(digits);
  return Number(rounded) === 0 ? (0).toFixed(digits) : rounded.replace("-", "−");
}

/** A weight: exact zero is "0"; what would round to zero is said to be below the last digit. */
export function weightText(w) {
  if (w === 0) return "0";
  return w < 0.0005 ? "< 0.001" : numeral(w);
}

function contributionText(w, value) {
  if (value.length > 4) {
    return `${weightText(w)} × value, length ${numeral(w * Math.hypot(...value))}`;
  }
  const list = (xs) => (value.length === 1 ? xs[0] : `(${xs.join(", ")})`);
  const parts = [...value];
  return `${weightText(w)} × ${list(parts.map((x) => numeral(x, 2)))}`
    + ` = ${list(parts.map((x) => numeral(w * x, 2)))}`;
}

function whyMasked(picture, i, j) {
  const reasons = [];
  if (j >= picture.length) reasons.push(`beyond the valid length ${picture.length}`);
  if (picture.causal && j > i) reasons.push("later than the query");
  return reasons.length ? reasons.join(", ") : "by the mask";
}

/** One cell in one line: score → weight → contribution. */
export function describeCell(picture, i, j) {
  const at = i * picture.keys + j;
  const head = `query “${picture.queryLabels[i]}” → key “${picture.keyLabels[j]}”: `;
  if (!picture.allowed[at]) return `${head}masked (${whyMasked(picture, i, j)}) → weight 0`;
  let score = `score ${numeral(picture.scores[at])}`;
  if (picture.divisor !== 1) {
    score += ` / ${numeral(picture.divisor)} = ${numeral(picture.scores[at] / picture.divisor)}`;
  }
  const line = `${head}${score} → weight ${weightText(picture.weights[at])}`;
  if (!picture.values) return line;
  const d = picture.valueSize;
  const value = picture.values.subarray(j * d, (j + 1) * d);
  return `${line} → contribution ${contributionText(picture.weights[at], value)}`;
}

export function strongest(picture, i, count) {
  const row = picture.weights.subarray(i * picture.keys, (i + 1) * picture.keys);
  return [...row.keys()].filter((j) => row[j] > 0).sort((a, b) => row[b] - row[a]).slice(0, count)
    .map((j) => `${picture.keyLabels[j]} ${weightText(row[j])}`).join(", ") || "nothing";
}

export function cellOf(tag, text, scope) {
  const node = document.createElement(tag);
  node.textContent = text;
  if (scope) node.scope = scope;
  return node;
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
        const at = i * picture.keys + j;
        row.append(cellOf("td", picture.allowed[at] ? weightText(picture.weights[at]) : "masked"));
      }
    } else {
      row.append(cellOf("td", strongest(picture, i, 3)));
    }
    rows.push(row);
  }
  table.replaceChildren(cellOf("caption", caption), ...rows);
}
