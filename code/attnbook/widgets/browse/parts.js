// The parts of the layer × head browser: controls and legend.
import { kindName } from "./words.js";
import { button, element, segments, select } from "../core/inputs.js";

const MOVED_BY_READERS = ["kind", "example", "layer", "head", "cell"];

/** Another kind may have fewer layers or heads; a pinned cell is let go. */
export function changesFor(model, changes) {
  const [layers, heads] = model.get("_sizes")[changes.kind ?? model.get("kind")];
  return {
    ...changes, cell: null,
    layer: Math.min(model.get("layer"), layers - 1), head: Math.min(model.get("head"), heads - 1),
  };
}

/** The choice of kind and example, where there is one, and Reset, which calls `forget` first. */
export function makeBrowseControls(model, forget) {
  const store = (changes) => { model.set(changes); model.save_changes(); };
  const start = Object.fromEntries(MOVED_BY_READERS.map((name) => [name, model.get(name)]));
  const node = element("div", { class: "ah-controls", role: "group", "aria-label": "Controls" });
  const refreshers = [];
  if (model.get("kinds").length > 1) {
    const choices = model.get("kinds").map((kind) => [kind, kindName(kind)]);
    const { label, show } = segments("Attention", choices, (kind) => store(changesFor(model, { kind })));
    node.append(label);
    refreshers.push(() => show(model.get("kind")));
  }
  if (model.get("_examples").length > 1) {
    const names = model.get("_examples").map(({ name }) => name);
    const { label, show } = select("Example", names, (example) => store(changesFor(model, { example })));
    label.classList.add("lb-example");
    node.append(label);
    refreshers.push(() => show(model.get("example")));
  }
  node.append(button("Reset", () => { forget(); store(start); }));
  return { node, refresh: () => refreshers.forEach((refresh) => refresh()) };
}

const entry = (name, ...children) => element("span", { class: `ah-key ${name}` }, ...children);
const patch = (name) => element("i", { class: `ah-swatch ${name}` });

/** What the marks mean that the map shown has. */
export class BrowseLegend {
  constructor(model) {
    const some = (test) => model.get("_examples").some(test);
    const [kinds, scores] = ["kinds", "_scores"].map((name) => model.get(name));
    Object.assign(this, { kinds, scores });
    const vmax = model.get("vmax");
    this.parts = {
      masked: kinds.includes("decoder") && entry("", patch("ah-masked"), "masked"),
      sure: some(({ sure }) => sure.length) && entry("", patch("ah-gold"), "sure link"),
      possible: some(({ possible }) => possible.length) && entry("", patch("lb-dashed"), "possible link"),
    };
    this.node = element("div", { class: "ah-legend", "aria-hidden": "true" },
      entry("", patch("ah-zero"), "zero"),
      entry("", "small", element("i", { class: "ah-bar" }), (vmax < 1 ? "≥ " : "") + vmax),
      ...Object.values(this.parts).filter(Boolean));
    this.label = model.get("score_label") && Object.keys(scores).length
      ? entry("", `under each map: ${model.get("score_label")}`) : null;
    if (this.label) this.node.append(this.label);
  }

  /** Keeps room for the kind whose marks take most. */
  place(scene) {
    const { node, kinds, scores } = this;
    node.style.minHeight = "";
    const heights = kinds.map((kind) => {
      const cross = kind === "cross";
      this.show({ causal: kind === "decoder", sure: cross, possible: cross, numbers: kind in scores });
      return node.getBoundingClientRect().height;
    });
    node.style.minHeight = `${Math.max(...heights)}px`;
    this.show(scene);
  }

  show({ causal, sure, possible, numbers }) {
    const on = { masked: causal, sure: Boolean(sure), possible: Boolean(possible) };
    for (const [name, part] of Object.entries(this.parts)) {
      if (part) part.hidden = !on[name];
    }
    if (this.label) this.label.hidden = !numbers;
  }
}
