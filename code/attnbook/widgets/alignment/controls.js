// The controls of the alignment viewer: sentence, model, view, play, step.
import { makeControls, stepper, tied } from "../core/controls.js";
import { button, element, segments, select, slider } from "../core/inputs.js";
import { keepStep } from "./data.js";

const PACE = 1100; // milliseconds a step, when playing
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Makers by name; null where there is nothing to choose. */
const MAKERS = {
  example({ model, store }) {
    const examples = model.get("_examples");
    if (examples.length < 2) return null;
    const input = select("Sentence", examples.map(({ name }) => name), (example) => {
      const [before, after] = [model.get("example"), example].map((n) => examples[n].target.length);
      store({ example, step: keepStep(model.get("step"), before, after) });
    });
    input.label.classList.add("al-sentence");
    return tied(input, model, "example");
  },
  model({ model, store }) {
    const names = model.get("model_labels");
    if (names.length < 2) return null;
    const choices = [...names.map((name, n) => [String(n), name]), ["all", "Side by side"]];
    const { label, show } = segments("Model", choices, (value) => store(
      value === "all" ? { side_by_side: true } : { side_by_side: false, model: names[value] }));
    label.classList.add("al-models");
    return { label, refresh: () => show(
      model.get("side_by_side") ? "all" : String(names.indexOf(model.get("model")))) };
  },
  view({ model, store }) {
    const choices = [["map", "Heat map"], ["lines", "Lines"]];
    return tied(segments("View", choices, (view) => store({ view })), model, "view");
  },
  play: makePlayer,
  step({ model, goTo, count }) {
    const { label: range, input, show } = slider("Step", { min: 1, step: 1 }, 7,
      (n) => `${n} of ${count()}`, (n) => goTo(n - 1));
    const { label, mark } = stepper("step", range, (by) => goTo(model.get("step") + by));
    return { label, refresh: () => {
      const step = model.get("step");
      input.max = count();
      show(step + 1);
      mark(step === 0, step === count() - 1);
    } };
  },
};

/** Steps by itself until the end, from the start if it stands at the end; not for calm readers. */
function makePlayer({ model, goTo, count, player }) {
  const words = element("span", {}, "▶ Play");
  const node = button(words, () => (player.timer ? stop() : start()), { class: "ah-button al-play" });
  const atEnd = () => model.get("step") >= count() - 1;
  const label = element("div", { class: "ah-control" }, node);
  function stop() {
    clearInterval(player.timer);
    player.timer = null;
    words.textContent = "▶ Play";
  }
  function start() {
    words.textContent = "❚❚ Pause";
    goTo(atEnd() ? 0 : model.get("step") + 1);
    player.timer = setInterval(() => {
      if (calm() || atEnd()) return stop();
      goTo(model.get("step") + 1);
      return atEnd() && stop();
    }, PACE);
  }
  player.stop = stop;
  return { label, refresh: () => { label.hidden = calm() || count() < 2; } };
}

/** Builds them; `player` gets `timer` (playing) and `stop`. */
export function makeAlignmentControls(model, { goTo, count, player }) {
  return makeControls(model, MAKERS, { goTo, count, player, before: () => player.stop?.() });
}
