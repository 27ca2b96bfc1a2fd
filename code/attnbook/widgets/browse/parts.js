// The legend of the layer × head browser.
import { entry, legendOf, smallKey, swatch, vmaxText } from "../core/legend.js";

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
