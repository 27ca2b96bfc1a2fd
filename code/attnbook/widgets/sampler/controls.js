// The controls of the sampler: four settings, and what writes.
import { makeControls } from "../core/controls.js";
import { button, element, slider } from "../core/inputs.js";

const MOVED = ["temperature", "top_k", "top_p", "min_p", "path"];
const HUNDREDTH = { min: 0, max: 100, step: 1 };

/** A slider of hundredths, from `least` on. */
function hundredths(text, name, least, most) {
  return ({ model, store }) => {
    const { label, show } = slider(text, { ...HUNDREDTH, min: least, max: most }, 4, (x) => x.toFixed(2),
      (n) => store({ [name]: n / 100 }));
    return { label, refresh: () => show(Math.round(100 * model.get(name)), model.get(name)) };
  };
}

const MAKERS = {
  temperature: hundredths("Temperature", "temperature", 10, 300),
  top_k({ model, store }) {
    const size = model.get("tokens").length;
    const { label, show } = slider("Top-k", { min: 1, max: size, step: 1 }, 4,
      (k) => (k >= size ? "all" : String(k)), (k) => store({ top_k: k >= size ? null : k }));
    return { label, refresh: () => show(Math.min(size, model.get("top_k") ?? size)) };
  },
  top_p: hundredths("Top-p", "top_p", 1, 100),
  min_p: hundredths("Min-p", "min_p", 0, 100),
  draw({ model, write, back }) {
    const ends = [button("Draw a token", () => write(1)), button("Draw ten", () => write(10))];
    const undo = button("Take one back", back);
    const label = element("div", { class: "ah-control ns-draw", role: "group", "aria-label": "Writing" },
      ...ends, undo);
    return { label, refresh: ({ over }) => { // disabled would lose the focus
      ends.forEach((node) => node.setAttribute("aria-disabled", over));
      undo.setAttribute("aria-disabled", !model.get("path").length);
    } };
  },
};

/** Builds them; `write(count)` draws tokens, `back()` takes one back. */
export function makeSamplerControls(model, writing) {
  return makeControls(model, MAKERS, { moved: MOVED, ...writing });
}
