// The controls of the haystack explorer: what each way to choose can be given.
import { tied } from "../core/controls.js";
import { select, slider } from "../core/inputs.js";
import { SCORERS } from "./words.js";

const BLOCKS = [1, 2, 4, 8, 16, 32, 64];
const BUCKETS = [2, 4, 8, 16, 32];
const BUDGETS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
const USED_BY = {
  budget: ["mean", "indexer"], block: ["mean"], buckets: ["hash"], rounds: ["hash"],
  clusters: ["cluster"], nearest: ["cluster"],
};

/** A slider for the trait `name`, seen while a way that uses it is chosen. */
function ofWays(name, made, model, show) {
  const { label } = made;
  return { label, refresh: () => {
    label.hidden = !USED_BY[name].includes(model.get("scorer"));
    show(model.get(name));
  } };
}

/** A whole number from 1 to `most(model)`. */
const counted = (name, text, most) => ({ model, store }) => {
  const made = slider(text, { min: 1, max: most(model), step: 1 }, 3, String, (to) => store({ [name]: to }));
  return ofWays(name, made, model, made.show);
};

/** One of the `sizes` that go with the model; what Python has set between them stands below it. */
const sized = (name, text, sizesOf) => ({ model, store }) => {
  const sizes = sizesOf(model);
  const made = slider(text, { min: 0, max: sizes.length - 1, step: 1 }, 3, String,
    (at) => store({ [name]: sizes[at] }));
  const place = (value) => sizes.filter((size) => size <= value).length - 1;
  return ofWays(name, made, model, (value) => made.show(place(value), value));
};

const keysOf = (model) => model.get("_shape")[0];

export const MAKERS = {
  query({ model, store }) {
    const last = model.get("_shape")[1] - 1;
    return tied(slider("Query", { min: 0, max: last, step: 1 }, 2, String, (query) => store({ query })),
      model, "query");
  },
  scorer({ model, store }) {
    const names = Object.keys(SCORERS);
    return tied(select("Keep", Object.values(SCORERS), (n) => store({ scorer: names[n] }), names),
      model, "scorer");
  },
  block: sized("block", "Block", () => BLOCKS),
  budget: sized("budget", "Budget", (model) =>
    [...BUDGETS.filter((size) => size < keysOf(model)), keysOf(model)]),
  buckets: sized("buckets", "Buckets", () => BUCKETS),
  rounds: counted("rounds", "Rounds", () => 8),
  clusters: counted("clusters", "Clusters", (model) => Math.min(32, keysOf(model))),
  nearest: counted("nearest", "Look in", () => 4),
};
