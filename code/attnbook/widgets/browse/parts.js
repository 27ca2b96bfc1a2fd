// The parts of the layer × head browser: controls and legend.
import { makeControls, tied } from "../core/controls.js";
import { segments, select } from "../core/inputs.js";
import { entry, legendOf, smallKey, swatch, vmaxText } from "../core/legend.js";
import { kindName } from "./words.js";

/** Another kind may have fewer layers or heads; a pinned cell is let go. */
function changesFor(model, changes) {
  const [layers, heads] = model.get("_sizes")[changes.kind ?? model.get("kind")];
  return {
    ...changes, cell: null,
    layer: Math.min(model.get("layer"), layers - 1), head: Math.min(model.get("head"), heads - 1),
  };
}

const MAKERS = {
  kind({ model, store }) {
    const kinds = model.get("kinds");
    if (kinds.length < 2) return null;
    const choices = kinds.map((kind) => [kind, kindName(kind)]);
    const input = segments("Attention", choices, (kind) => store(changesFor(model, { kind })));
    return tied(input, model, "kind");
  },
  example({ model, store }) {
    const names = model.get("_examples").map(({ name }) => name);
    if (names.length < 2) return null;
    const input = select("Example", names, (example) => store(changesFor(model, { example })));
    input.label.classList.add("lb-example");
    return tied(input, model, "example");
  },
};

/** The choice of kind and example, where there is one, and Reset, which calls `forget` first. */
export function makeBrowseControls(model, forget) {
  const moved = ["kind", "example", "layer", "head", "cell"];
  return makeControls(model, MAKERS, { moved, always: true, onReset: forget });
}

/** What the marks mean that the map shown has. */
export class BrowseLegend {
  constructor(model) {
    const some = (test) => model.get("_examples").some(test);
    const [kinds, scores] = ["kinds", "_scores"].map((name) => model.get(name));
    const masks = Boolean(model.get("_allowed")?.byteLength);
    Object.assign(this, { kinds, scores, masks });
    this.parts = {
      masked: (masks || kinds.includes("decoder")) && entry("", swatch("ah-masked"), "masked"),
      sure: some(({ sure }) => sure.length) && entry("", swatch("ah-gold"), "sure link"),
      possible: some(({ possible }) => possible.length) && entry("", swatch("ah-dashed"), "possible link"),
    };
    this.node = legendOf(entry("", swatch("ah-zero"), "zero"), smallKey(vmaxText(model.get("vmax"))),
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
    const on = { masked: causal || this.masks, sure: Boolean(sure), possible: Boolean(possible) };
    for (const [name, part] of Object.entries(this.parts)) {
      if (part) part.hidden = !on[name];
    }
    if (this.label) this.label.hidden = !numbers;
  }
}
