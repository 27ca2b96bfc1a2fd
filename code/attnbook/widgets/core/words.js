// What the heat map says in words, on the line under the map and to screen readers.

/** A number for reading: fixed digits, a true minus sign, infinity by its sign. */
export function numeral(x, digits = 3) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const rounded = x.toFixed(digits);
  return Number(rounded) === 0 ? (0).toFixed(digits) : rounded.replace("-", "−");
}

/** A number with three significant digits. */
export const brief = (x) => String(Number(x.toPrecision(3)));

/** A weight: exact zero is "0"; what would round to zero is said to be below the last digit. */
export function weightText(w) {
  if (w === 0) return "0";
  return w < 0.0005 ? "< 0.001" : numeral(w);
}

/** A difference of weights, with its sign; exact zero is "0". */
export function differenceText(w) {
  if (w === 0) return "0";
  const size = Math.abs(w);
  return (w > 0 ? "+" : "−") + (size < 0.0005 ? Number(size.toPrecision(1)) : numeral(size));
}

/** A weight or probability with two digits, also one that came in 255 steps. */
export function shortWeight(w) {
  if (w === 0) return "0";
  return w < 0.005 ? "< 0.01" : numeral(w, 2);
}

/** What is drawn at a place, as text. */
export function shownText(picture, at) {
  const unsigned = picture.inSteps ? shortWeight : weightText;
  return (picture.signed ? differenceText : unsigned)(picture.weights[at]);
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

/** Why a place is masked. */
export function whyMasked(picture, i, j) {
  const reasons = [];
  if (j >= picture.length) reasons.push(`beyond the valid length ${picture.length}`);
  if (picture.causal && j > i) reasons.push("later than the query");
  return reasons.length ? reasons.join(", ") : "by the mask";
}

/** How gold marks a place: " (gold)", or, where links are sure or possible, which; else "". */
export function goldMark(picture, at) {
  if (picture.gold?.[at]) return picture.possible ? " (sure)" : " (gold)";
  return picture.possible?.[at] ? " (possible)" : "";
}

function cellHead(picture, i, j) {
  const gold = goldMark(picture, i * picture.keys + j);
  return `query “${picture.queryLabels[i]}” → key “${picture.keyLabels[j]}”${gold}: `;
}

/** One cell in one line: score → weight → contribution, or the first and second weight. */
export function describeCell(picture, i, j) {
  const at = i * picture.keys + j;
  const head = cellHead(picture, i, j);
  if (!picture.allowed[at]) return `${head}masked (${whyMasked(picture, i, j)}) → weight 0`;
  if (picture.signed) {
    const { first, second } = picture;
    return `${head}${first.name} ${weightText(first.weights[at])}, `
      + `${second.name} ${weightText(second.weights[at])} → weight difference ${shownText(picture, at)}`;
  }
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

/** The keys of query `i` by falling size of what is drawn, without zeros: [j, ...]. */
export function strongestKeys(picture, i) {
  const row = picture.weights.subarray(i * picture.keys, (i + 1) * picture.keys);
  return [...row.keys()].filter((j) => row[j] !== 0)
    .sort((a, b) => Math.abs(row[b]) - Math.abs(row[a]));
}

/** The `count` strongest keys of query `i` with what is drawn there. */
export function strongest(picture, i, count) {
  const parts = strongestKeys(picture, i).slice(0, count).map((j) => {
    const at = i * picture.keys + j;
    return `${picture.keyLabels[j]} ${shownText(picture, at)}${goldMark(picture, at)}`;
  });
  return parts.join(", ") || (picture.signed ? "no difference" : "nothing");
}

/** A pinned query in one line, its weights from the strongest down. */
export function describeRow(picture, i, count) {
  const more = strongestKeys(picture, i).length - count;
  const row = picture.allowed.slice(i * picture.keys, (i + 1) * picture.keys);
  const none = row.includes(1) ? "" : "every key is masked, so all weights are zero";
  return `query “${picture.queryLabels[i]}” pinned: ${none || strongest(picture, i, count)}`
    + (more > 0 ? `, and ${more} more` : "");
}

/** How many queries have their argmax on a gold mark; "" when nothing is marked. */
export function describeHits(picture) {
  if (!picture.gold) return "";
  const { marked } = picture.hits;
  const end = `of ${marked} ${marked === 1 ? "query" : "queries"}`
    + (picture.reached < picture.queries ? " so far" : "");
  if (!picture.signed) return `argmax in gold: ${picture.hits.hits} ${end}`;
  const count = ({ name, hits }) => `${name} ${hits.hits}`;
  return `argmax in gold: ${count(picture.first)}, ${count(picture.second)} ${end}`;
}
