// The terms as rows of native inputs: operator, pattern, and what the pattern is made of.
import { button, checkbox, element, select } from "../core/inputs.js";
import { KINDS } from "./pattern.js";

const MOST_TERMS = 4;
const OPERATORS = ["|", "&"];
const LEAST = { width: 1, dilation: 1, size: 1 }; // others 0

/** A number, or places with commas between; what cannot be read yet changes nothing. */
function field(name, many, onChange) {
  const text = (value) => [].concat(value).join(", ");
  const input = element("input", many ? { type: "text", inputmode: "numeric" }
    : { type: "number", min: LEAST[name] ?? 0, max: 256, step: 1 });
  const read = () => {
    const words = input.value.split(/[\s,]+/).filter(Boolean);
    const good = many ? words.every((word) => /^\d+$/.test(word) && word < 256)
      : words.length && input.validity.valid;
    return good ? (many ? words.map(Number) : Number(words[0])) : null;
  };
  let last;
  const show = (value) => {
    last = value;
    input.removeAttribute("aria-invalid");
    if (read() === null || text(read()) !== text(value)) input.value = text(value);
  };
  input.addEventListener("input", () => {
    if (read() === null) input.setAttribute("aria-invalid", "true");
    else onChange(read());
  });
  input.addEventListener("change", () => show(last)); // the reader leaves it
  return { label: element("label", { class: "ah-control" }, element("span", {}, name), input), show };
}

function namedSelect(name, options, onChange, values) {
  const made = select("", options, onChange, values);
  made.label.firstChild.remove(); // its text, for which there is no room
  made.label.firstChild.setAttribute("aria-label", name);
  return made;
}

/** Row `t`: `change(t, edit)` puts what `edit` makes of its term in its place. */
function termRow(t, change, remove) {
  const kinds = Object.keys(KINDS);
  const operator = namedSelect("Operator", ["| or", "& and"],
    (n) => change(t, ([, ...rest]) => [OPERATORS[n], ...rest]), OPERATORS);
  const pattern = namedSelect("Pattern", kinds,
    (n) => change(t, ([op]) => [op, kinds[n], KINDS[kinds[n]]]), kinds);
  const away = button("×", () => remove(t), { "aria-label": `Remove term ${t + 1}` });
  const options = element("div", { class: "pd-options" });
  const node = element("div", { class: "pd-term", role: "group", "aria-label": `Term ${t + 1}` },
    t ? operator.label : element("span", {}, "mask ="), pattern.label, away, options);
  const made = {}; // the fields of each pattern, once it was shown
  let shown;
  function make([name, value]) {
    const set = (to) => change(t, ([op, kind, values]) => [op, kind, { ...values, [name]: to }]);
    return [name, typeof value === "boolean" ? checkbox(name, set) : field(name, Array.isArray(value), set)];
  }
  function show([op, kind, values]) {
    operator.show(op);
    pattern.show(kind);
    const fields = made[kind] ??= Object.entries(KINDS[kind]).map(make);
    if (kind !== shown) options.replaceChildren(...fields.map(([, { label }]) => label));
    shown = kind;
    fields.forEach(([name, one]) => one.show(values[name]));
  }
  return { node, away, show };
}

/** All terms, with a button for one more; `refresh` brings them in line with the model. */
export function makeTerms(model) {
  const rows = [];
  const terms = () => model.get("terms");
  const store = (changed) => {
    model.set({ terms: changed });
    model.save_changes();
  };
  const change = (t, edit) => store(terms().map((term, m) => (m === t ? edit(term) : term)));
  const add = button("Add a term", () => {
    if (rows.length === MOST_TERMS) return;
    const kind = Object.keys(KINDS).find((one) => !terms().some(([, used]) => used === one));
    store([...terms(), ["|", kind, KINDS[kind]]]);
  });
  function remove(t) {
    store(terms().filter((_, m) => m !== t));
    if (t >= rows.length || rows.length === 1) add.focus(); // its button is gone
  }
  const list = element("div");
  const note = element("span", { class: "pd-note" }, "combined from top to bottom");
  const label = element("div", { class: "pd-terms" }, list, add, note);
  function refresh() {
    while (rows.length > terms().length) rows.pop().node.remove();
    while (rows.length < terms().length) {
      rows.push(termRow(rows.length, change, remove));
      list.append(rows.at(-1).node); // others stay where they are, and keep the focus
    }
    rows.forEach((row, t) => row.show(terms()[t]));
    rows[0].away.hidden = rows.length === 1;
    add.setAttribute("aria-disabled", rows.length === MOST_TERMS); // disabled would lose the focus
  }
  return { label, refresh };
}
