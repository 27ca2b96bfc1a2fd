// The longer things that are said: what the hidden table is about, and what a setting changed.
import { describeHits } from "../core/words.js";

const join = (...parts) => parts.filter(Boolean).join(" ");

/** Which head and which view are shown; "" where there is no choice. */
function where(model, picture) {
  const head = model.get("head_labels")?.[picture.head];
  const [first, second] = model.get("compare_labels") ?? [];
  const views = { first, second, difference: `${second} minus ${first}` };
  const compared = model.get("_compare")?.byteLength;
  return join(head && `Head ${head}.`, compared && `View: ${views[picture.view]}.`);
}

/** The table's caption: alternative text, head, view, hits. */
export function caption(model, picture) {
  return join(model.get("alt"), where(model, picture), describeHits(picture));
}

/** What a change of the trait `name` is worth saying; `line` is the line under the map, if any. */
export function news(name, model, picture, line) {
  const moved = name === "head" || name === "view" ? where(model, picture) : "";
  return join(moved, line, (moved || line) && describeHits(picture));
}
