// The parts of a legend.
import { element } from "./inputs.js";

/** One entry; `name` adds a class. */
export const entry = (name, ...children) => element("span", { class: `ah-key ${name}`.trim() }, ...children);

export const swatch = (name) => element("i", { class: `ah-swatch ${name}` });

/** The scale of weights, up to `end`. */
export const smallKey = (end) => entry("", "small", element("i", { class: "ah-bar" }), end);

/** The end of the scale: what is larger has its colour, too. */
export const vmaxText = (vmax) => (vmax < 1 ? "≥ " : "") + vmax;

export const legendOf = (...keys) =>
  element("div", { class: "ah-legend", "aria-hidden": "true" }, ...keys);
