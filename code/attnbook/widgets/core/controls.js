// The controls above a widget, bound to the model's traits.
import { button, element } from "./inputs.js";

/** A control that shows the trait `name` as it is. */
export function tied({ label, show }, model, name) {
  return { label, refresh: () => show(model.get(name)) };
}

/**
 * Builds the controls that the model switches on, or all. `makers` by name, in their order: each
 * takes { model, store, ...tools } and returns its node as `label` and, if it shows something,
 * `refresh`; or null where there is nothing to choose. Returns the node and `refresh`, which
 * brings every input in line with the model. Reset brings the traits `moved` back, if there is
 * something to move, or `always`.
 */
export function makeControls(model, makers, { moved = [], always = false, ...tools } = {}) {
  const store = (changes) => {
    tools.before?.();
    model.set(changes);
    model.save_changes();
  };
  const start = Object.fromEntries(moved.map((name) => [name, model.get(name)]));
  const names = model.get("controls") ?? Object.keys(makers);
  const made = Object.keys(makers).filter((name) => names.includes(name))
    .map((name) => makers[name]({ model, store, ...tools })).filter(Boolean);
  const node = element("div", { class: "ah-controls", role: "group", "aria-label": "Controls" },
    ...made.map(({ label }) => label));
  const refreshers = made.map(({ refresh }) => refresh).filter(Boolean);
  if (moved.length && (refreshers.length || always)) {
    node.append(button("Reset", () => { tools.onReset?.(); store(start); }));
  }
  node.hidden = !node.children.length;
  return { node, refresh: (shown) => refreshers.forEach((refresh) => refresh(shown)) };
}

/** Buttons to the step before and after: `go(by)`; between them `middle`. */
export function stepper(what, middle, go) {
  const back = button("‹", () => go(-1), { "aria-label": `Previous ${what}` });
  const on = button("›", () => go(1), { "aria-label": `Next ${what}` });
  const label = element("div", { class: "ah-control ah-step", role: "group", "aria-label": "Step" },
    back, middle, on);
  return { label, mark: (first, last) => { // disabled would lose the focus
    back.setAttribute("aria-disabled", first);
    on.setAttribute("aria-disabled", last);
  } };
}
