// The controls of the alignment viewer that it makes itself: model, play, step.
import { stepper } from "../core/controls.js";
import { button, element, segments, slider } from "../core/inputs.js";

const PACE = 1100; // milliseconds a step, when playing
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** They are given `goTo(step)`, `count()` of steps, and `player`, which gets `timer` and `stop`. */
export const MAKERS = {
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
