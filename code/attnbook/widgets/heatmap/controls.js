// The controls of the heat map that it makes itself.
import { stepper } from "../core/controls.js";
import { checkbox, element, segments, slider } from "../core/inputs.js";
import { makeCopier } from "./copy.js";
import { readShape } from "./picture.js";

export const MAKERS = {
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
    return { label, refresh: () => show(model.get("lengths")[model.get("batch")]) };
  },
  scale({ model, store }) {
    const size = Number(model.get("scale").toPrecision(6));
    const { label, show } = checkbox(`Divide by √${size}`, (scaled) => store({ scaled }));
    return { label, refresh: () => show(model.get("scaled")) };
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
