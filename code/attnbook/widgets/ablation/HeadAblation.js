// The ablation widget: heads on one scale, the reader takes heads out, the output changes at once.
import { binary } from "../core/binary.js";
import { makeControls } from "../core/controls.js";
import { COARSE } from "../core/gestures.js";
import { button } from "../core/inputs.js";
import { vmaxText } from "../core/legend.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { HeadSwitches } from "./heads.js";
import { Bars, OutputTable } from "./output.js";
import { SETTINGS } from "./settings.js";
import { countRight, predictClasses, sharesOf, sumHeads } from "./sum.js";
import { describeOut, describeQuery, describeRight, withAll } from "./words.js";

const HINT = COARSE
  ? "Tap a map to take its head out; tap again to put it back. Tap a column to see what each head adds there."
  : "Click a map to take its head out; click again to put it back. Point at a column to see "
    + "what each head adds there.";
const SKELETON = `
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key ab-masks"><i class="ah-swatch ah-masked"></i>masked</span>
    <span class="ah-key"><i class="ah-swatch"></i>zero</span>
    <span class="ah-key">small<i class="ah-bar"></i><span class="ah-vmax"></span></span>
  </div>`;

function allHeadsIn({ model, store }) {
  const label = button("All heads in", () => store({ ablated: [] }));
  return { label, refresh: () => label.setAttribute("aria-disabled", !model.get("ablated").length) };
}

class AblationView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, SKELETON);
    this.readContent();
    this.place();
    this.follow(["ablated", "batch", "query", "vmax"], (name) => this.change(name));
  }

  /** Takes in what a chapter fixes, and builds the parts. */
  readContent() {
    const { model } = this;
    const [batches, heads, queries, keys, relations, classes] = model.get("_shape");
    this.sizes = { batches, heads, queries, keys, relations, classes };
    this.arrays = {
      weights: Float64Array.from(binary(model, "_weights", Uint8Array), (n) => n / 255),
      added: Float64Array.from(binary(model, "_added", Int16Array), (n) => n * model.get("_step")),
      base: binary(model, "_base", Float32Array),
      answers: binary(model, "_answers", Uint8Array),
      mask: binary(model, "_mask", Uint8Array),
    };
    this.find(".ab-masks").hidden = !this.arrays.mask;
    const names = model.get("relations");
    this.showTitle();
    this.find(".ah-vmax").textContent = vmaxText(model.get("vmax"));
    this.switches = new HeadSwitches(model.get("head_labels"), (head) => this.toggle(head));
    this.switches.node.setAttribute("aria-description", model.get("alt"));
    this.output = new OutputTable({
      inputs: model.get("inputs").map(([name]) => name), relations: names, queries,
      choose: (query) => this.store({ query }), step: (by) => this.step(by),
    });
    this.bars = new Bars(withAll(names));
    this.controls = makeControls(model, SETTINGS, { all: allHeadsIn }, { reset: false });
    this.title.after(this.controls.node, this.switches.node);
    this.readout.before(this.output.node, this.bars.node);
  }

  toggle(head) {
    const out = this.model.get("ablated");
    const next = out.includes(head) ? out.filter((n) => n !== head) : [...out, head];
    this.store({ ablated: next.sort((a, b) => a - b) });
  }

  step(by) {
    const { queries } = this.sizes;
    const at = this.model.get("query") ?? (by > 0 ? -1 : queries);
    this.store({ query: Math.min(Math.max(at + by, 0), queries - 1) });
  }

  /** Draws anew, and says what a change was about. */
  change(name) {
    if (name === "batch") this.place();
    else this.draw();
    this.voice.say(name === "query" ? this.readout.textContent : this.describe());
  }

  describe() {
    const { model, counts, sizes } = this;
    return `${describeOut(model.get("head_labels"), model.get("ablated"))} `
      + `${describeRight(model.get("relations"), counts, sizes.batches * sizes.queries)}.`;
  }

  labels(name) {
    const lists = this.model.get(name);
    return lists[this.model.get("batch")] ?? lists[0];
  }

  /** Shares out the room. Maps a little too high for their box in the static page give way. */
  place() {
    const { root, switches } = this;
    const ratio = this.measure();
    const share = (height) => {
      switches.place(root.clientWidth - 4 || 640, {
        ...this.sizes, ratio,
        queryLabels: this.labels("query_labels"), keyLabels: this.labels("key_labels"),
      }, height);
      this.draw();
    };
    share();
    const excess = root.getBoundingClientRect().height - this.box;
    if (excess > 0) share(switches.layout.height - excess / switches.lines);
  }

  /** What one head draws. */
  pictureOf(head) {
    const { heads, queries, keys } = this.sizes;
    const start = (this.model.get("batch") * heads + head) * queries * keys;
    const part = (array) => array.subarray(start, start + queries * keys);
    return {
      queries, keys, head, vmax: this.model.get("vmax"), signed: false, pinned: null, dimLater: false,
      weights: part(this.arrays.weights),
      allowed: this.arrays.mask ? part(this.arrays.mask) : this.everything ??= new Uint8Array(queries * keys).fill(1),
      queryLabels: this.labels("query_labels"), keyLabels: this.labels("key_labels"),
    };
  }

  draw() {
    const { model, arrays, sizes } = this;
    const { batches, heads, queries, relations } = sizes;
    const [out, batch, query] = this.get("ablated", "batch", "query");
    this.controls.refresh();
    const pictures = Array.from({ length: heads }, (_, head) => this.pictureOf(head));
    this.switches.draw(pictures, out, query, this.palette);
    const plane = queries * relations;
    this.said = predictClasses(sumHeads(arrays, sizes, batch, out), sizes.classes);
    this.right = [...arrays.answers.subarray(batch * plane, (batch + 1) * plane)];
    this.output.show({
      inputs: model.get("inputs").map(([, lists]) => lists[batch] ?? lists[0]),
      said: this.said, right: this.right, classes: model.get("classes"), query,
    });
    this.counts = countRight(arrays, sizes, out);
    this.bars.show(this.counts, batches * queries);
    this.readout.textContent = query === null ? HINT : this.describeColumn(batch, query, out);
  }

  describeColumn(batch, query, out) {
    const { model, arrays, sizes } = this;
    const { relations, classes } = sizes;
    const each = (f) => Array.from({ length: relations }, (_, r) => f(r));
    const right = each((r) => this.right[query * relations + r]);
    return describeQuery({
      label: this.labels("query_labels")[query], relations: model.get("relations"),
      classes: model.get("classes"), headLabels: model.get("head_labels"), out, right,
      said: each((r) => this.said[query * relations + r]),
      shares: each((r) => sharesOf(arrays, sizes, batch, query, r, right[r])),
      base: each((r) => arrays.base[r * classes + right[r]]),
    });
  }
}

export default onStage(AblationView, "attn-heatmap attn-ablation");
