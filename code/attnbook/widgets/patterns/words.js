// What the pattern designer says in words: its counts, its Python, and the table.
import { fillRows } from "../core/table.js";
import { numeral } from "../core/words.js";
import { KINDS } from "./pattern.js";

const grouped = (count) => count.toLocaleString("en");
const percent = (part, whole) => `${numeral((100 * part) / whole, 1)}%`;
const layerText = (count) => `${count} ${count === 1 ? "layer" : "layers"}`;

/** The counts, a sentence each. */
export function describePattern({ n, layers, query, counts, causal, pairs, steps }) {
  const half = causal && pairs ? `; of the causal half ${percent(pairs, (n * (n + 1)) / 2)}` : "";
  const least = Math.min(...counts);
  const emptiest = counts.indexOf(least);
  const empty = counts.filter((count) => !count).length;
  const poorest = empty
    ? `${empty === 1 ? "1 query" : `${empty} queries`} may attend to nothing, first ${emptiest}`
    : `fewest ${least}, for query ${emptiest}`;
  const within = steps.filter((step) => step >= 0 && step <= layers).length;
  const ever = steps.filter((step) => step >= 0).length;
  return [
    `Pairs kept: ${grouped(pairs)} of ${grouped(n * n)}, ${percent(pairs, n * n)}${half}.`,
    `Keys of a query: ${numeral(pairs / n, 1)} on average; ${poorest}.`,
    `Query ${query} reaches ${within} of ${n} places in ${layerText(layers)}; `
      + `all that it can ever reach, ${ever}, in ${layerText(Math.max(...steps))}.`,
  ];
}

function callText(n, kind, options) {
  if (kind === "full") return `torch.ones(${n}, ${n}, dtype=torch.bool)`;
  const text = { // otherwise name=value
    width: (width) => `None, ${width}`,
    causal: (causal) => causal && "causal=True",
    places: (places) => `places=[${places.filter((place) => place < n).join(", ")}]`,
    count: (count) => `count=${Math.min(count, n)}`,
    seed: (seed) => `generator=torch.Generator().manual_seed(${seed})`,
  };
  const given = Object.keys(KINDS[kind]).map((name) => // saved state does not keep their order
    (name in text ? text[name](options[name]) : `${name}=${options[name]}`));
  return `ab.${kind}_mask(${[n, ...given].filter(Boolean).join(", ")})`;
}

/** The Python expression of the mask, with brackets where the operator changes. */
export function pythonText(n, terms) {
  return terms.reduce((text, [operator, kind, options], t) => {
    if (!t) return callText(n, kind, options);
    const before = t > 1 && terms[t - 1][0] !== operator ? `(${text})` : text;
    return `${before} ${operator} ${callText(n, kind, options)}`;
  }, "");
}

/** Fills the hidden table: the keys of each query, and after how many layers it is reached. */
export function fillPattern(table, { query, counts, steps }, caption) {
  const reached = (step) => (step < 0 ? "never" : step ? layerText(step) : "its own place");
  fillRows(table, caption, ["place", "keys", `reached by query ${query}`],
    counts.map((count, i) => [i, count, reached(steps[i])]));
}
