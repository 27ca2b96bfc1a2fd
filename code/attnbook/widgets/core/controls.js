// The controls above a widget, bound to the model's traits: those that its settings declare
// (`settings.py`), and those that its own script makes.
import { button, checkbox, element, segments, select, slider } from "./inputs.js";
import { brief, numeral } from "./words.js";

/** A control that shows the trait `name` as it is. */
function tied({ label, show }, model, name) {
  return { label, refresh: () => show(model.get(name)) };
}

/** What a bound is now: a number, the trait or the part of one that it names, or the least of several. */
function boundOf(model, bound) {
  if (Array.isArray(bound)) return Math.min(...bound.map((one) => boundOf(model, one)));
  if (typeof bound === "number") return bound;
  const [, name, at, less] = bound.match(/^(\w+)\.?(\d*)(?: - (\d+))?$/);
  const value = at ? model.get(name)[at] : model.get(name);
  return (value.length ?? value) - (less ?? 0);
}

/** The least and the most that a setting may be now. */
export const endsOf = (model, { least = 0, most }) => [least, most].map((bound) => boundOf(model, bound));

/**
 * From a slider's whole numbers to values and back: parts of 1, so many `steps` even in the
 * logarithm, or `sizes` and, last, the most; a value between two sizes stands at the lower one.
 */
function scaleOf(model, setting) {
  const { parts = 1, step, steps, sizes } = setting;
  const [low, high] = endsOf(model, setting);
  if (sizes) {
    const all = [...sizes.filter((size) => size < high), high];
    return { min: 0, max: all.length - 1, to: (n) => all[n], from: (x) => all.filter((size) => size <= x).length - 1 };
  }
  if (steps) {
    const [start, span] = [Math.log10(low), Math.log10(high) - Math.log10(low)];
    return { min: 0, max: steps, to: (n) => 10 ** (start + (span * n) / steps),
      from: (x) => Math.round((steps * (Math.log10(x) - start)) / span) };
  }
  return { min: step ?? low * parts, max: high * parts, to: (n) => n / parts, from: (x) => Math.round(parts * x) };
}

/**
 * A slider; its ends follow the model. `none`: what is said where the most stands for null. It shows
 * what is drawn, if that is told, where a setting of the model is past its end.
 */
function sliderFor(name, setting, { model, store }) {
  const { label: text, room, step = 1, digits = 0, steps, none } = setting;
  const format = steps ? brief : (x) => numeral(x, digits);
  const made = slider(text, { step }, room, (x) => (x === null ? none : format(x)), (n) => {
    const { max, to } = scaleOf(model, setting);
    store({ [name]: none && n >= max ? null : to(n) });
  });
  return { ...made, refresh: (shown) => {
    const { min, max, to, from } = scaleOf(model, setting);
    Object.assign(made.input, { min, max });
    const value = shown?.[name] ?? model.get(name);
    if (none && (value === null || value >= to(max))) made.show(max, null);
    else made.show(from(value), value);
  } };
}

/** One of some words, or of some things: a list to choose from, or a few side by side. */
function choiceFor(name, { label, words, of, most, names, beside, optional }, { model, store }) {
  const values = words ? (of ? model.get(of) : Object.keys(words)) : [...Array(boundOf(model, most) + 1).keys()];
  const texts = words ? values.map((word) => words[word]) : names ? model.get(names).map((one) => one.name ?? one) : values;
  if (optional && values.length < 2) return null;
  const choose = (value) => store({ [name]: value });
  const made = beside ? segments(label, values.map((value, n) => [value, texts[n]]), choose)
    : select(label, texts, (n) => choose(values[n]), values);
  return tied(made, model, name);
}

/** The control that a setting declares; `when`: a trait, and the values of it with which it is there. */
export function controlFor(name, setting, tools) {
  const { model, store } = tools;
  const { label, when } = setting;
  let made;
  if (setting.switch) made = tied(checkbox(label, (on) => store({ [name]: on })), model, name);
  else made = (setting.words || setting.names || setting.list ? choiceFor : sliderFor)(name, setting, tools);
  return !when ? made : { ...made, refresh: (shown) => {
    made.label.hidden = !when.slice(1).includes(model.get(when[0]));
    made.refresh(shown);
  } };
}

/**
 * Builds the controls that the model switches on, or all: those of `settings`, and what `makers`
 * make in their place or besides. A maker takes { model, store, ...tools } and returns a node as
 * `label` and, if it shows something, `refresh`; or null where there is nothing to choose. `adapt`
 * may add to what is stored. Returns the node and `refresh`, which brings every input in line with
 * the model. Reset brings all settings back, if there is something to move, or `always`.
 */
export function makeControls(model, settings, makers = {}, { always = false, reset = true, adapt = (to) => to, ...tools } = {}) {
  const store = (changes) => {
    model.set(adapt(changes));
    model.save_changes();
  };
  const { controls, ...others } = settings;
  const moved = Object.entries(others).filter(([, { fixed }]) => !fixed);
  const start = Object.fromEntries(moved.map(([name]) => [name, model.get(name)]));
  const declared = moved.filter(([, { label }]) => label)
    .map(([name, setting]) => [name, (all) => controlFor(name, setting, all)]);
  const make = { ...Object.fromEntries(declared), ...makers };
  const names = controls ? controls.names.filter((name) => model.get("controls").includes(name)) : Object.keys(make);
  const made = names.map((name) => make[name]?.({ model, store, ...tools })).filter(Boolean);
  const node = element("div", { class: "ah-controls", role: "group", "aria-label": "Controls" },
    ...made.map(({ label }) => label));
  const refreshers = made.map(({ refresh }) => refresh).filter(Boolean);
  if (reset && (refreshers.length || always)) {
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
