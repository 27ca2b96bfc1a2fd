// The legend of the alignment viewer: links, weights, masked; what differs between the views.
import { NO_LINE } from "./lines.js";
import { element } from "../core/inputs.js";

const key = (name, ...children) => element("span", { class: `ah-key ${name}` }, ...children);
const swatch = (name) => element("i", { class: `ah-swatch ${name}` });

export class AlignmentLegend {
  constructor() {
    this.vmax = element("span", { class: "ah-vmax" });
    this.node = element("div", { class: "ah-legend", "aria-hidden": "true" },
      key("al-has-sure", swatch("ah-gold"), "sure link"),
      key("al-has-possible", swatch("al-dashed"), "possible link"),
      key("al-has-padding", swatch("ah-masked"), "masked (padding)"),
      key("al-on-map", swatch("ah-zero"), "zero"),
      key("", "small", element("i", { class: "ah-bar" }), this.vmax),
      key("al-on-lines", `no line below ${NO_LINE}`),
      key("", swatch("al-now"), "this step"));
  }

  /** Keeps what the examples have, and what the view shows. */
  show(examples, view, vmax) {
    const some = (test) => examples.some(test);
    const shown = {
      "al-has-sure": some(({ sure }) => sure.includes(1)),
      "al-has-possible": some(({ possible }) => possible.includes(1)),
      "al-has-padding": some(({ length, keys }) => length < keys),
      "al-on-map": view === "map",
      "al-on-lines": view === "lines",
    };
    for (const [name, on] of Object.entries(shown)) this.node.querySelector(`.${name}`).hidden = !on;
    this.node.classList.toggle("al-as-lines", view === "lines");
    this.vmax.textContent = (vmax < 1 ? "≥ " : "") + vmax;
  }
}
