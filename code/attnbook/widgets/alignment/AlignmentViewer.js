// The alignment viewer: attention beside gold links, step by step through decoding.
import { makeAlignmentControls } from "./controls.js";
import { alignmentPicture, readExamples } from "./data.js";
import { planPanels } from "./layout.js";
import { AlignmentLegend } from "./legend.js";
import { AlignmentPanel } from "./panel.js";
import { describePlace, describeScore, describeStep, fillStepTable } from "./words.js";
import { follow } from "../core/follow.js";
import { onStage } from "../core/stage.js";

const SHAPE = ["example", "model", "side_by_side", "view", "vmax"]; // what moves things
const CONTENT = ["_examples", "_weights", "model_labels", "title", "alt"];
const HINT = {
  map: "Point at a cell to read its weight; click a row to step there. With the map in focus, "
    + "↑ and ↓ step, ← and → read the row.",
  lines: "Point at a target word to see its lines alone; click it to step there, or use the "
    + "arrow keys.",
};
const TALLEST = 520; // pixels of a map whose cells could be larger
const GIVE = 0.12; // the part of its height that it gives way
const SKELETON = `
  <p class="ah-title"></p>
  <div class="al-stage"></div>
  <p class="ah-readout" aria-hidden="true"></p>
  <div class="ah-hidden"><p aria-live="polite"></p></div>`;

class AlignmentView {
  constructor(model, root, palette) {
    Object.assign(this, { model, root, palette });
    root.innerHTML = SKELETON;
    [this.title, this.stage, this.readout, this.live] = [
      ".ah-title", ".al-stage", ".ah-readout", "[aria-live]",
    ].map((selector) => this.root.querySelector(selector));
    this.player = {};
    this.legend = new AlignmentLegend();
    this.stage.after(this.legend.node);
    this.readContent();
    const stops = [
      follow(model, SHAPE, (name) => this.readShape(name)),
      follow(model, ["step"], () => this.readStep()),
      follow(model, CONTENT, () => this.readContent()),
      () => { this.player.stop?.(); clearTimeout(this.timer); },
    ];
    this.stop = () => stops.forEach((stop) => stop());
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
    this.title.textContent = model.get("title");
    this.title.hidden = !model.get("title");
    const labels = model.get("model_labels");
    const actions = {
      goTo: (step) => this.goTo(step), enter: () => this.speakStep(),
      point: (cell, spoken) => this.point(cell, spoken),
    };
    this.panels = labels.map((label) => new AlignmentPanel(label, actions));
    this.panels.forEach(({ canvas }) => canvas.setAttribute("aria-label", model.get("alt")));
    this.stage.replaceChildren(...this.panels.map(({ node }) => node));
    this.live.parentNode.replaceChildren(this.live, ...this.panels.map(({ table }) => table));
    this.controls?.node.remove();
    this.player.stop?.();
    const count = () => this.example.queries;
    this.controls = makeAlignmentControls(model, {
      count, player: this.player, goTo: (step) => this.goTo(step),
    });
    this.title.after(this.controls.node);
    this.readShape();
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
    root.classList.toggle("ah-narrow", width < 480);
    const lines = this.model.get("view") === "lines";
    const { layout, columns, beside } = this.plan(width - 4, TALLEST);
    stage.classList.toggle("al-columns", !lines && columns > 1);
    shown.forEach((panel) => panel.place(lines ? null : layout, !lines && beside));
    const highest = Math.max(...shown.map((panel) => panel.cardHeight));
    for (const { card } of shown) card.style.minHeight = `${highest}px`;
    this.draw();
    const box = parseFloat(getComputedStyle(root).getPropertyValue("--attn-height"));
    const excess = Math.min(root.scrollHeight - box, GIVE * layout.height);
    if (excess > 0 && !lines && shown.length === 1) {
      shown[0].layout = this.plan(width - 4, layout.height - excess).layout;
      this.draw();
    }
    shown.forEach((panel) => panel.reveal());
  }

  plan(width, height) {
    const { shown, example } = this;
    return planPanels(shown[0].canvas.getContext("2d"), {
      width, height, count: shown.length, ratio: window.devicePixelRatio || 1,
      queryLabels: example.target, keyLabels: example.source,
    });
  }

  paint(palette) {
    this.palette = palette;
    this.draw();
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
    if (spoken && cell) this.live.textContent = this.line;
  }

  goTo(step) {
    this.model.set({ step: Math.min(Math.max(step, 0), this.example.queries - 1) });
    this.model.save_changes();
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
    clearTimeout(this.timer);
    this.live.textContent = this.describeShown();
    this.later("");
  }

  /** The tables, and what is said of a changed setting, come when things rest. */
  later(text) {
    this.waiting = text || this.waiting;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      for (const { node, table, picture, label } of this.panels) {
        table.hidden = node.hidden;
        const caption = `${this.model.get("alt")} ${label}. ${describeScore(picture, this.step)}`;
        if (!node.hidden) fillStepTable(table, picture, caption);
      }
      if (this.waiting) this.live.textContent = this.waiting;
      this.waiting = "";
    }, 150);
  }
}

export default onStage(AlignmentView, "attn-heatmap attn-align");
