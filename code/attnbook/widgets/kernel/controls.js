// The controls above the plot: kernel, width, query, leave-one-out; native inputs with labels.
import { checkbox, element, slider } from "../core/inputs.js";
import { nearest } from "./fit.js";
import { numeral } from "../core/words.js";

const STEPS = 200; // of the width's slider, even in the logarithm
const NAMES = {
  gaussian: "Gaussian", boxcar: "boxcar", epanechnikov: "Epanechnikov", triangular: "triangular",
};

function kernelSelect(model, store) {
  const select = element("select");
  for (const name of model.get("kernels")) select.append(element("option", { value: name }, NAMES[name]));
  select.addEventListener("change", () => store({ kernel: select.value }));
  const label = element("label", { class: "ah-control" }, element("span", {}, "Kernel"), select);
  return { label, refresh: () => { select.value = model.get("kernel"); } };
}

function widthSlider(model, store) {
  const [low, high] = model.get("_widths").map(Math.log10);
  const toWidth = (step) => 10 ** (low + ((high - low) * step) / STEPS);
  const { label, show } = slider("Width", { min: 0, max: STEPS, step: 1 }, 5,
    (width) => String(Number(width.toPrecision(3))), (step) => store({ width: toWidth(step) }));
  return { label, refresh: () => {
    const width = model.get("width");
    show(Math.round((STEPS * (Math.log10(width) - low)) / (high - low)), width);
  } };
}

function querySlider(model, store, picture) {
  const { label, show } = slider("Query", { min: 0, step: 1 }, 5,
    (place) => numeral(place, picture().digits), (row) => store({ query: picture().places[row] }));
  const input = label.querySelector("input");
  return { label, refresh: () => {
    const { places } = picture();
    input.max = places.length - 1;
    const row = nearest(places, model.get("query"));
    show(row, places[row]);
  } };
}

function leaveOneOutBox(model, store) {
  const { label, show } = checkbox("Leave one out", (on) => store({ leave_one_out: on }));
  return { label, refresh: () => show(model.get("leave_one_out")) };
}

const MAKERS = {
  kernel: kernelSelect, width: widthSlider, query: querySlider, leave_one_out: leaveOneOutBox,
};

/**
 * Builds the controls that the model switches on. `picture()` is what is shown now. Returns the
 * node and `refresh`, which brings every input in line with the model.
 */
export function makeKernelControls(model, picture) {
  const store = (changes) => { model.set(changes); model.save_changes(); };
  const start = Object.fromEntries(Object.keys(MAKERS).map((name) => [name, model.get(name)]));
  const node = element("div", { class: "ah-controls", role: "group", "aria-label": "Controls" });
  const refreshers = [];
  for (const [name, make] of Object.entries(MAKERS)) {
    if (!model.get("controls").includes(name)) continue;
    const { label, refresh } = make(model, store, picture);
    node.append(label);
    refreshers.push(refresh);
  }
  const reset = element("button", { type: "button", class: "ah-reset" }, "Reset");
  reset.addEventListener("click", () => store(start));
  if (refreshers.length) node.append(reset);
  else node.hidden = true;
  return { node, refresh: () => refreshers.forEach((refresh) => refresh()) };
}
