// The controls above the map.
import { makeControls, stepper, tied } from "../core/controls.js";
import { checkbox, element, segments, select, slider } from "../core/inputs.js";
import { makeCopier } from "./copy.js";
import { readShape } from "./picture.js";

const MOVED = ["lengths", "causal", "temperature", "scaled", "batch", "head", "view", "query"];

const MAKERS = {
  batch({ model, store }) {
    const names = Array.from({ length: readShape(model).batches }, (_, b) => String(b));
    return tied(select("Sequence", names, (batch) => store({ batch })), model, "batch");
  },
  head: ({ model, store }) =>
    tied(select("Head", model.get("head_labels"), (head) => store({ head })), model, "head"),
  view({ model, store }) {
    const [first, second] = model.get("compare_labels");
    const choices = [["first", first], ["second", second], ["difference", "Difference"]];
    return tied(segments("View", choices, (view) => store({ view })), model, "view");
  },
  lengths({ model, store }) {
    const { keys } = readShape(model);
    const { label, show } = slider("Valid length", { min: 0, max: keys, step: 1 },
      4 + 2 * String(keys).length, (n) => `${n} of ${keys}`, (value) => {
        const lengths = [...model.get("lengths")];
        lengths[model.get("batch")] = value;
        store({ lengths });
      });
    return { label, refresh: () => show(model.get("lengths")[model.get("batch")]) };
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
  causal: ({ model, store }) => tied(checkbox("Causal", (causal) => store({ causal })), model, "causal"),
  scale({ model, store }) {
    const size = Number(model.get("scale").toPrecision(6));
    return tied(checkbox(`Divide by √${size}`, (scaled) => store({ scaled })), model, "scaled");
  },
  step({ model, store }) {
    const { queries } = readShape(model);
    const count = element("output", { class: "ah-value", style: `min-width: ${9 + 2 * String(queries).length}ch` });
    const { label, mark } = stepper("query", count, (by) => {
      const at = model.get("query") ?? (by > 0 ? -1 : queries);
      if (queries) store({ query: Math.min(Math.max(at + by, 0), queries - 1) });
    });
    return { label, refresh: () => {
      const query = model.get("query");
      count.textContent = query === null ? `${queries} queries` : `query ${query + 1} of ${queries}`;
      mark(query === 0, query === queries - 1);
    } };
  },
  copy: ({ copyText, say }) => ({ label: makeCopier(copyText, say) }),
};

/** Builds them. `copyText` gives what Copy copies; `say` speaks. */
export function makeHeatmapControls(model, tools) {
  const always = model.get("controls").includes("grid");
  return makeControls(model, MAKERS, { moved: MOVED, always, ...tools });
}
