// The controls above the plot: kernel, width, query, leave-one-out.
import { makeControls, tied } from "../core/controls.js";
import { checkbox, select, slider } from "../core/inputs.js";
import { numeral } from "../core/words.js";
import { nearest } from "./fit.js";

const STEPS = 200; // of the width's slider, even in the logarithm
const NAMES = {
  gaussian: "Gaussian", boxcar: "boxcar", epanechnikov: "Epanechnikov", triangular: "triangular",
};

const MAKERS = {
  kernel({ model, store }) {
    const kernels = model.get("kernels");
    const input = select("Kernel", kernels.map((name) => NAMES[name]),
      (n) => store({ kernel: kernels[n] }), kernels);
    return tied(input, model, "kernel");
  },
  width({ model, store }) {
    const [low, high] = model.get("_widths").map(Math.log10);
    const toWidth = (step) => 10 ** (low + ((high - low) * step) / STEPS);
    const { label, show } = slider("Width", { min: 0, max: STEPS, step: 1 }, 5,
      (width) => String(Number(width.toPrecision(3))), (step) => store({ width: toWidth(step) }));
    return { label, refresh: () => {
      const width = model.get("width");
      show(Math.round((STEPS * (Math.log10(width) - low)) / (high - low)), width);
    } };
  },
  query({ model, store, picture }) {
    const { label, input, show } = slider("Query", { min: 0, step: 1 }, 5,
      (place) => numeral(place, picture().digits), (row) => store({ query: picture().places[row] }));
    return { label, refresh: () => {
      const { places } = picture();
      input.max = places.length - 1;
      const row = nearest(places, model.get("query"));
      show(row, places[row]);
    } };
  },
  leave_one_out: ({ model, store }) =>
    tied(checkbox("Leave one out", (on) => store({ leave_one_out: on })), model, "leave_one_out"),
};

/** Builds them; `picture()` is what is shown now. */
export function makeKernelControls(model, picture) {
  return makeControls(model, MAKERS, { moved: Object.keys(MAKERS), picture });
}
