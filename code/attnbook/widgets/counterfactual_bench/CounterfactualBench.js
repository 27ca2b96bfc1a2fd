// The counterfactual bench: weights changed by hand, the output before and after, and the rung.
import { binary } from "../core/binary.js";
import { pointOn } from "../core/gestures.js";
import { checkbox, element } from "../core/inputs.js";
import { figureOf } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { agreementOf, changeWeights, distanceOf, effectsOf, meanRow, outputOf } from "./math.js";
import { Output, Rungs } from "./output.js";
import { drawBench, keyAt, planBench } from "./picture.js";
import { SETTINGS } from "./settings.js";
import { describeBench, fillBench } from "./words.js";

const RUNG = { trained: 0, compare: 1 }; // of the rest: 2

/** A box for each head: whether it is changed. */
function heads({ model, store }) {
  const labels = model.get("head_labels");
  if (labels.length < 2) return null;
  const boxes = labels.map((label, head) => checkbox(label, (on) => {
    const others = model.get("changed").filter((one) => one !== head);
    store({ changed: (on ? [...others, head] : others).sort((a, b) => a - b) });
  }));
  const label = element("div", { class: "ah-control cb-heads", role: "group", "aria-label": "Heads that are changed" },
    ...boxes.map((box) => box.label));
  return { label, refresh: () => boxes.forEach(({ show }, head) => show(model.get("changed").includes(head))) };
}

class BenchView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette, { skeleton: figureOf("cb-figure", "weights of keys"), settings: SETTINGS,
      makers: { heads }, describe: describeBench, fill: fillBench, moving: ["batch"] });
    this.rungs = new Rungs();
    this.output = new Output(model.get("classes"));
    this.figure.after(this.output.node, this.rungs.node);
    this.bench = this.readBench();
    this.begin();
    this.canvas.addEventListener("click", (event) => { // not a drag that scrolls the page
      const key = keyAt(this.layout, ...pointOn(this.canvas, event));
      if (key !== null) this.choose(key);
    });
  }

  /** The numbers of each example. */
  readBench() {
    const { model } = this;
    const [batches, heads, keys, features] = model.get("_shape");
    const [step, order] = this.get("_step", "_order");
    const floats = (name) => Float64Array.from(binary(model, name, Float32Array) ?? []);
    const [weights, residual, readout, bias, norm] = ["_weights", "_residual", "_readout", "_bias", "_norm"].map(floats);
    const added = Float64Array.from(binary(model, "_added", Int16Array), (n) => n * step);
    const part = (array, b) => array.subarray((b * array.length) / batches, ((b + 1) * array.length) / batches);
    return Array.from({ length: batches }, (_, b) => ({
      sizes: { keys, features }, order, readout, bias, norm: norm.length ? norm : null,
      added: part(added, b), residual: part(residual, b),
      weights: Array.from({ length: heads }, (__, h) => [...part(weights, b).subarray(h * keys, (h + 1) * keys)]),
    }));
  }

  /** What is to be drawn: the same numbers as `weights`, `probabilities` and `effects` in Python. */
  take({ batch, operation, key, changed }) {
    const bench = this.bench[batch];
    const weights = changeWeights(bench, operation, key, changed);
    const [before, now] = [bench.weights, weights].map((rows) => outputOf(bench, rows));
    const compared = operation === "compare";
    const effects = compared ? effectsOf(bench, changed) : null;
    const own = changed.map((head) => bench.weights[head]);
    const lists = this.model.get("key_labels");
    const gold = this.model.get("_gold")[batch] ?? null;
    const picture = {
      operation, key, changed, gold, weights, before, now, trained: bench.weights, labels: lists[batch] ?? lists[0],
      shown: compared ? bench.weights.map(() => effects) : weights,
      shownName: compared ? "moved when erased" : "now",
      classes: this.model.get("classes"), headLabels: this.model.get("head_labels"),
      moved: distanceOf(before, now), away: distanceOf(bench.weights[0], weights[0]),
      agreement: compared && own.length ? agreementOf(meanRow(own), effects) : 0,
    };
    this.output.show([...before], [...now]);
    this.rungs.show([RUNG[operation] ?? 2, ...(gold === null ? [] : [3])]);
    return picture;
  }

  plan({ width, ratio }) {
    return planBench(this.canvas.getContext("2d"), { ...this.picture, width, ratio });
  }

  draw() {
    drawBench(this.canvas, this.layout, this.picture, this.palette);
  }

  /** Marks a key; unless it is to be erased, the weight is put on it. */
  choose(key) {
    this.store({ key, ...(this.model.get("operation") === "erase" ? {} : { operation: "force" }) });
  }

  onKey(name) {
    const operation = { Enter: "force", " ": "force", Delete: "erase", Backspace: "erase", Escape: "trained" }[name];
    if (!operation) return super.onKey(name);
    if (name === "Escape" && this.picture.operation === operation) return false;
    this.store({ operation });
    return this.voice.say(this.said);
  }

  /** The changes that keys make. */
  keys({ key, labels }) {
    const [back, on] = [{ key: key - 1 }, { key: key + 1 }];
    return { ArrowLeft: back, ArrowUp: back, ArrowRight: on, ArrowDown: on, Home: { key: 0 }, End: { key: labels.length - 1 } };
  }
}

export default onStage(BenchView, "attn-heatmap attn-bench");
