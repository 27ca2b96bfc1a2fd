// The alignment viewer: attention beside gold links, step by step through decoding.
import { makeControls } from "../core/controls.js";
import { COARSE, limit } from "../core/gestures.js";
import { element } from "../core/inputs.js";
import { entry, legendOf, smallKey, swatch, vmaxText } from "../core/legend.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { MAKERS } from "./controls.js";
import { alignmentPicture, keepStep, readExamples } from "./data.js";
import { planPanels } from "./layout.js";
import { NO_LINE } from "./lines.js";
import { AlignmentPanel } from "./panel.js";
import { SETTINGS } from "./settings.js";
import { describePlace, describeScore, describeStep, fillStepTable } from "./words.js";

const SHAPE = ["example", "model", "side_by_side", "view", "vmax"]; // what moves things
const CONTENT = ["_examples", "_weights", "model_labels", "title", "alt"];
const HINT = COARSE ? {
  map: "Tap a cell to read its weight and to step to its row.",
  lines: "Tap a target word to see its lines alone and to step there.",
} : {
  map: "Point at a cell to read its weight; click a row to step there. With the map in focus, "
    + "↑ and ↓ step, ← and → read the row.",
  lines: "Point at a target word to see its lines alone; click it to step there, or use the "
    + "arrow keys.",
};
const TALLEST = 520; // pixels of a map whose cells could be larger
const GIVE = 0.12; // the part of its height that it gives way
/** The legend: links, weights, masked; what differs between the views. */
class AlignmentLegend {
  constructor() {
    this.vmax = element("span", { class: "ah-vmax" });
    this.node = legendOf(
      entry("al-has-sure", swatch("ah-gold"), "sure link"),
      entry("al-has-possible", swatch("ah-dashed"), "possible link"),
      entry("al-has-masked", swatch("ah-masked"), "masked"),
      entry("al-on-map", swatch("ah-zero"), "zero"),
      smallKey(this.vmax),
      entry("al-on-lines", `no line below ${NO_LINE}`),
      entry("", swatch("al-now"), "this step"));
  }

  /** Keeps what the examples have, and what the view shows. */
  show(examples, view, vmax) {
    const shown = {
      "al-has-sure": examples.some(({ sure }) => sure.includes(1)),
      "al-has-possible": examples.some(({ possible }) => possible.includes(1)),
      "al-has-masked": examples.some(({ allowed }) => allowed.some((cells) => cells.includes(0))),
      "al-on-map": view === "map",
      "al-on-lines": view === "lines",
    };
    for (const [name, on] of Object.entries(shown)) this.node.querySelector(`.${name}`).hidden = !on;
    this.node.classList.toggle("al-as-lines", view === "lines");
    this.vmax.textContent = vmaxText(vmax);
  }
}

class AlignmentView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, '<div class="al-stage"></div>');
    this.stage = this.find(".al-stage");
    this.player = {};
    this.legend = new AlignmentLegend();
    this.stage.after(this.legend.node);
    this.readContent();
    this.follow(SHAPE, (name) => this.readShape(name));
    this.follow(["step"], () => this.readStep());
    this.follow(CONTENT, () => this.readContent());
    this.stops.push(() => this.player.stop?.());
  }

  get example() {
    return this.examples[this.model.get("example")];
  }

  /** The step, within the example: traits arrive one by one. */
  get step() {
    return Math.min(this.model.get("step"), this.example.queries - 1);
  }

  get shown() {
    return this.panels.filter(({ node }) => !node.hidden);
  }

  /** Takes in what a chapter fixes: examples, models, title. */
  readContent() {
    const { model } = this;
    this.examples = readExamples(model);
    const labels = model.get("model_labels");
    const actions = {
      goTo: (step) => this.goTo(step), enter: () => this.speakStep(),
      point: (cell, spoken) => this.point(cell, spoken),
    };
    this.panels = labels.map((label) => new AlignmentPanel(label, actions));
    this.showTitle(...this.panels.map(({ canvas }) => canvas));
    this.stage.replaceChildren(...this.panels.map(({ node }) => node));
    this.voice.live.parentNode.replaceChildren(this.voice.live, ...this.panels.map(({ table }) => table));
    this.controls?.node.remove();
    this.player.stop?.();
    this.controls = makeControls(model, SETTINGS, MAKERS, {
      count: () => this.example.queries, player: this.player, goTo: (step) => this.goTo(step),
      reset: false, adapt: (changes) => this.adapt(changes),
    });
    this.title.after(this.controls.node);
    this.readShape();
  }

  /** A reader's change ends the playing; the step stays at the end, or where it is, if it can. */
  adapt(changes) {
    this.player.stop?.();
    if (!("example" in changes)) return changes;
    const [before, after] = [this.example, this.examples[changes.example]].map(({ queries }) => queries);
    return { ...changes, step: keepStep(this.model.get("step"), before, after) };
  }

  /** Takes in which example, models and view are shown. */
  readShape(name) {
    const { model } = this;
    const labels = model.get("model_labels");
    const named = model.get("side_by_side") || !model.get("controls").includes("model");
    this.cell = null;
    this.panels.forEach((panel, m) => {
      panel.node.hidden = !(model.get("side_by_side") || labels[m] === model.get("model"));
      panel.name.hidden = !named || labels.length < 2; // else the control says which it is
      panel.setExample(this.picture(m));
    });
    this.legend.show(this.examples, model.get("view"), model.get("vmax"));
    this.controls.refresh();
    this.place();
    this.later(name ? `${this.describeShown()}. ` : "");
  }

  readStep() {
    if (this.cell) this.cell = { ...this.cell, i: this.step };
    this.controls.refresh();
    this.draw();
    this.shown.forEach((panel) => panel.reveal());
    if (this.player.timer) this.later("");
    else this.speakStep();
  }

  picture(m) {
    return alignmentPicture(this.example, m, this.step, this.model.get("vmax"));
  }

  /** Shares out the room. A map a little too high for its box in the static page gives way. */
  place() {
    const { root, stage, shown } = this;
    const width = root.clientWidth || 640;
    this.ratio = this.measure();
    const lines = this.model.get("view") === "lines";
    const { layout, columns, beside } = this.plan(width - 4, TALLEST);
    stage.classList.toggle("al-columns", !lines && columns > 1);
    shown.forEach((panel) => panel.place(lines ? null : layout, !lines && beside));
    const highest = Math.max(...shown.map((panel) => panel.cardHeight));
    for (const { card } of shown) card.style.minHeight = `${highest}px`;
    this.draw();
    const excess = Math.min(root.scrollHeight - this.box, GIVE * layout.height);
    if (excess > 0 && !lines && shown.length === 1) {
      shown[0].layout = this.plan(width - 4, layout.height - excess).layout;
      this.draw();
    }
    shown.forEach((panel) => panel.reveal());
  }

  plan(width, height) {
    const { shown, example } = this;
    return planPanels(shown[0].canvas.getContext("2d"), {
      width, height, count: shown.length, ratio: this.ratio,
      queryLabels: example.target, keyLabels: example.source,
    });
  }

  draw() {
    this.panels.forEach((panel, m) => {
      if (!panel.node.hidden) panel.draw(this.picture(m), this.palette, this.cell);
    });
    this.showLine();
  }

  /** The line under the maps: the cell that is pointed at, else what one can do. */
  showLine() {
    const { cell } = this;
    const shown = this.shown.map(({ label, picture }) => [label, picture]);
    this.line = cell ? describePlace(shown, cell) : HINT[this.model.get("view")];
    this.readout.textContent = this.line;
  }

  point(cell, spoken = false) {
    if (cell?.i === this.cell?.i && cell?.j === this.cell?.j && !spoken) return;
    this.cell = cell;
    this.shown.forEach((panel) => panel.frame(cell));
    this.showLine();
    if (spoken && cell) this.voice.say(this.line);
  }

  goTo(step) {
    this.store({ step: limit(step, 0, this.example.queries - 1) });
  }

  describeShown() {
    const { shown, step } = this;
    const each = shown.map(({ label, picture }) => {
      const name = this.panels.length > 1 ? `${label}: ` : "";
      return `${name}${describeStep(picture, step)}. ${describeScore(picture, step)}`;
    });
    return `Step ${step + 1} of ${this.example.queries}. ${each.join(". ")}`;
  }

  speakStep() {
    this.voice.say(this.describeShown());
    this.later("");
  }

  /** The tables, and what is said of a changed setting, come when things rest. */
  later(text) {
    this.voice.later(() => {
      for (const { node, table, picture, label } of this.panels) {
        table.hidden = node.hidden;
        const caption = `${this.model.get("alt")} ${label}. ${describeScore(picture, this.step)}`;
        if (!node.hidden) fillStepTable(table, picture, caption);
      }
    }, text);
  }
}

export default onStage(AlignmentView, "attn-heatmap attn-align");
