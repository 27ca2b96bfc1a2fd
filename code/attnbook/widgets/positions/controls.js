// The controls of the positions explorer: native inputs with labels, bound to the model's traits.
import { makeControls, tied } from "../core/controls.js";
import { limit } from "../core/gestures.js";
import { segments, slider } from "../core/inputs.js";
import { brief } from "../core/words.js";
import { columnCount } from "./math.js";

const KINDS = { sinusoidal: "Sinusoidal", rotary: "Rotary", alibi: "ALiBi" };
const GRAIN = 20; // steps of the base's slider for each factor of ten
const MOVED = ["kind", "d_model", "num_heads", "base", "place", "column", "offset"];

const MAKERS = {
  kind({ model, store }) {
    const choices = model.get("kinds").map((kind) => [kind, KINDS[kind]]);
    return tied(segments("Positions", choices, (kind) => store({ kind })), model, "kind");
  },
  size({ model, store }) {
    const alibi = () => model.get("kind") === "alibi";
    const { label, name, input, show } = slider("Features", { min: 1, max: 64, step: 1 }, 3, String,
      (value) => store(alibi() ? { num_heads: value } : { d_model: value }));
    return { label, refresh: ({ columns }) => {
      name.textContent = alibi() ? "Heads" : "Features";
      input.max = alibi() ? 16 : 64;
      input.min = input.step = model.get("kind") === "rotary" ? 2 : 1;
      show(columns);
    } };
  },
  base({ model, store }) {
    const { label, input, show } = slider("Base", { min: GRAIN, max: 6 * GRAIN, step: 1 }, 7, brief,
      (step) => store({ base: 10 ** (step / GRAIN) }));
    return { label, refresh: () => {
      const base = model.get("base");
      show(Math.round(GRAIN * Math.log10(base)), base);
      label.classList.toggle("ap-unused", model.get("kind") === "alibi");
      input.disabled = model.get("kind") === "alibi";
    } };
  },
  place({ store }) {
    const { label, input, show } = slider("Place", { min: 0, step: 1 }, 4, String, (place) => store({ place }));
    return { label, refresh: ({ places, place }) => {
      input.max = places - 1;
      show(place);
    } };
  },
  column({ model, store }) {
    const { label, name, input, show } = slider("Feature", { step: 1 }, 3, String,
      (value) => store({ column: model.get("kind") === "alibi" ? value - 1 : value }));
    return { label, refresh: ({ kind, columns, column }) => {
      const first = kind === "alibi" ? 1 : 0; // heads are counted from 1, features from 0
      name.textContent = kind === "alibi" ? "Head" : "Feature";
      input.min = first;
      input.max = columns - 1 + first;
      show(column + first);
    } };
  },
  offset({ store }) {
    const { label, input, show } = slider("Offset", { step: 1 }, 4, (n) => (n > 0 ? `+${n}` : String(n).replace("-", "−")),
      (offset) => store({ offset }));
    return { label, refresh: ({ places, place, offset }) => {
      input.min = -place;
      input.max = places - 1 - place;
      show(offset);
    } };
  },
};

/** The settings as they are drawn: place, column and offset within what there is. */
export function readPositions(model) {
  const names = ["kind", "places", "base", "place", "column", "offset"];
  const settings = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  Object.assign(settings, { size: model.get("d_model"), heads: model.get("num_heads") });
  const { places, place, column, offset } = settings;
  settings.column = Math.min(column, columnCount(settings) - 1);
  settings.offset = limit(offset, -place, places - 1 - place);
  return settings;
}

/** Builds the controls that the model switches on; returns the node and `refresh(picture)`. */
export function makePositionControls(model) {
  return makeControls(model, MAKERS, { moved: MOVED });
}
