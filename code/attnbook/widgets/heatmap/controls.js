// The controls above the map, bound to the model's traits.
import { makeCopier } from "./copy.js";
import { button, checkbox, element, segments, select, slider } from "../core/inputs.js";
import { readShape } from "./picture.js";

const ORDER = [
  "batch", "head", "view", "lengths", "temperature", "causal", "scale", "step", "copy",
];
const MOVED = ["lengths", "causal", "temperature", "scaled", "batch", "head", "view", "query"];

/** Makers by name. Each returns its node as `label` and, if it shows a trait, `refresh`. */
const makers = {
  batch({ model, store }) {
    const { batches } = readShape(model);
    const names = Array.from({ length: batches }, (_, b) => String(b));
    const { label, show } = select("Sequence", names, (batch) => store({ batch }));
    return { label, refresh: () => show(model.get("batch")) };
  },
  head({ model, store }) {
    const { label, show } = select("Head", model.get("head_labels"), (head) => store({ head }));
    return { label, refresh: () => show(model.get("head")) };
  },
  view({ model, store }) {
    const [first, second] = model.get("compare_labels");
    const choices = [["first", first], ["second", second], ["difference", "Difference"]];
    const { label, show } = segments("View", choices, (view) => store({ view }));
    return { label, refresh: () => show(model.get("view")) };
  },
  lengths({ model, store }) {
    const { keys } = readShape(model);
    const { label, show } = slider("Valid length", { min: 0, max: keys, step: 1 },
      4 + 2 * String(keys).length, (n) => `${n} of ${keys}`, (value) => {
        const lengths = [...model.get("lengths")];
        lengths[model.get("batch")] = value;
        store({ lengths });
      });
    return { label, refresh: () => {
      const length = model.get("lengths")[model.get("batch")];
      show(length, length);
    } };
  },
  causal({ model, store }) {
    const { label, show } = checkbox("Causal", (causal) => store({ causal }));
    return { label, refresh: () => show(model.get("causal")) };
  },
  temperature({ model, store }) {
    // The slider moves the temperature by its logarithm.
    const { label, show } = slider("Temperature", { min: -1, max: 1, step: 0.05 },
      5, (t) => String(Number(t.toPrecision(3))), (value) => store({ temperature: 10 ** value }));
    return { label, refresh: () => {
      const temperature = model.get("temperature");
      show(Math.log10(temperature), temperature);
    } };
  },
  scale({ model, store }) {
    const size = Number(model.get("scale").toPrecision(6));
    const { label, show } = checkbox(`Divide by √${size}`, (scaled) => store({ scaled }));
    return { label, refresh: () => show(model.get("scaled")) };
  },
  step({ model, store }) {
    const { queries } = readShape(model);
    const go = (by) => () => {
      const at = model.get("query") ?? (by > 0 ? -1 : queries);
      if (queries) store({ query: Math.min(Math.max(at + by, 0), queries - 1) });
    };
    const count = element("output", { class: "ah-value", style: `min-width: ${9 + 2 * String(queries).length}ch` });
    const back = button("‹", go(-1), { "aria-label": "Previous query" });
    const on = button("›", go(1), { "aria-label": "Next query" });
    const label = element("div", { class: "ah-control ah-step", role: "group", "aria-label": "Step" },
      back, count, on);
    return { label, refresh: () => {
      const query = model.get("query");
      count.textContent = query === null ? `${queries} queries` : `query ${query + 1} of ${queries}`;
      back.setAttribute("aria-disabled", query === 0); // disabled would lose the focus
      on.setAttribute("aria-disabled", query === queries - 1);
    } };
  },
  copy: ({ copyText, say }) => ({ label: makeCopier(copyText, say) }),
};

/**
 * Builds the controls that the model switches on. Returns the node and `refresh`, which
 * brings every input in line with the model. `copyText` gives what Copy copies; `say` speaks.
 */
export function makeControls(model, { copyText, say } = {}) {
  const store = (changes) => { model.set(changes); model.save_changes(); };
  const start = Object.fromEntries(MOVED.map((name) => [name, model.get(name)]));
  const node = element("div", { class: "ah-controls", role: "group", "aria-label": "Controls" });
  const wanted = ORDER.filter((name) => model.get("controls").includes(name));
  const made = wanted.map((name) => makers[name]({ model, store, copyText, say }));
  node.append(...made.map((control) => control.label));
  const refreshers = made.map((control) => control.refresh).filter(Boolean);
  if (refreshers.length || model.get("controls").includes("grid")) {
    node.append(button("Reset", () => store(start)));
  }
  node.hidden = !node.children.length;
  return { node, refresh: () => refreshers.forEach((refresh) => refresh()) };
}
