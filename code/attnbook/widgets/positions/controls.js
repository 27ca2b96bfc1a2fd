// The controls of the positions explorer that depend on the encoding.
import { controlFor } from "../core/controls.js";
import { limit } from "../core/gestures.js";
import { slider } from "../core/inputs.js";
import { columnCount } from "./math.js";
import { SETTINGS } from "./settings.js";

const ALIBI = "alibi"; // its columns are heads, which are counted from 1

export const MAKERS = {
  size({ model, store }) {
    const alibi = () => model.get("kind") === ALIBI;
    const trait = () => (alibi() ? "num_heads" : "d_model");
    const { label, name, input, show } = slider("Features", {}, 3, String, (value) => store({ [trait()]: value }));
    return { label, refresh: ({ columns }) => {
      name.textContent = alibi() ? "Heads" : "Features";
      input.max = SETTINGS[trait()].most;
      input.min = input.step = model.get("kind") === "rotary" ? 2 : 1;
      show(columns);
    } };
  },
  base(tools) {
    const made = controlFor("base", SETTINGS.base, tools);
    return { ...made, refresh: (shown) => {
      made.refresh(shown);
      made.label.classList.toggle("ap-unused", shown.kind === ALIBI);
      made.input.disabled = shown.kind === ALIBI;
    } };
  },
  column({ model, store }) {
    const { label, name, input, show } = slider("Feature", { step: 1 }, 3, String,
      (value) => store({ column: model.get("kind") === ALIBI ? value - 1 : value }));
    return { label, refresh: ({ kind, columns, column }) => {
      const first = kind === ALIBI ? 1 : 0;
      name.textContent = kind === ALIBI ? "Head" : "Feature";
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

/** The settings as they are drawn: column and offset within what there is. */
export function within({ d_model: size, num_heads: heads, ...moved }) {
  const settings = { ...moved, size, heads };
  const { places, place, column, offset } = settings;
  settings.column = Math.min(column, columnCount(settings) - 1);
  settings.offset = limit(offset, -place, places - 1 - place);
  return settings;
}
