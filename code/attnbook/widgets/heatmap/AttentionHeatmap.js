// The heat map widget: shows the weights that the model's scores and mask give, and answers.
import { drawMap } from "../core/draw.js";
import { follow } from "../core/follow.js";
import { planLayout } from "../core/layout.js";
import { caption, news } from "./news.js";
import { buildParts } from "./parts.js";
import { readArrays, takePicture } from "./picture.js";
import { onStage } from "../core/stage.js";

const SETTINGS = [
  "lengths", "causal", "temperature", "scale", "scaled", "batch", "vmax", "head", "view", "query",
  "dim_later", "difference_max",
];
const CONTENT = [
  "_scores", "_mask", "_values", "_compare", "_gold", "_shape", "query_labels", "key_labels",
  "title", "alt",
];
const TALLEST = 440; // pixels of a map below its heads, where the page sets no height
class HeatmapView {
  constructor(model, root, palette) {
    Object.assign(this, buildParts(model, root, () => this.picture), { palette });
    this.readContent();
    const stops = [
      follow(model, SETTINGS, (name) => this.readSettings(name)),
      follow(model, CONTENT, () => this.readContent()),
      () => this.voice.stop(),
    ];
    this.stop = () => stops.forEach((stop) => stop());
  }

  /** Takes in what a chapter fixes: arrays, labels, title. */
  readContent() {
    this.arrays = readArrays(this.model);
    this.title.textContent = this.model.get("title");
    this.title.hidden = !this.model.get("title");
    this.canvas.setAttribute("aria-label", this.model.get("alt"));
    this.explorer.forget();
    this.takePicture();
    this.place();
    this.voice.later(this.picture, caption(this.model, this.picture));
  }

  /** Takes in what a reader moves: weights and picture, at once; the table and voice, later. */
  readSettings(name) {
    const { queryLabels, keyLabels } = this.picture;
    this.takePicture();
    const same = this.picture.queryLabels === queryLabels && this.picture.keyLabels === keyLabels;
    if (same) this.draw();
    else this.place();
    if (name === "query") this.explorer.queryChanged();
    else this.speak(name);
  }

  speak(name) {
    const { model, picture, explorer } = this;
    const line = explorer.resting ? "" : explorer.describe(16);
    this.voice.later(picture, caption(model, picture), news(name, model, picture, line));
  }

  takePicture() {
    this.picture = takePicture(this.model, this.arrays);
    this.controls.refresh();
    this.legend.show(this.picture, this.model.get("vmax"));
  }

  /** Chooses the cell size. In the static page the box's height is fixed: the map takes the rest. */
  place() {
    const width = this.root.clientWidth || 640;
    const ratio = window.devicePixelRatio || 1;
    this.root.classList.toggle("ah-narrow", this.root.clientWidth < 480);
    this.grid?.place(width, ratio);
    this.grid?.draw(this.arrays, this.palette);
    const box = parseFloat(getComputedStyle(this.root).getPropertyValue("--attn-height"));
    const tallness = (node) => parseFloat(getComputedStyle(node).height); // also of half pixels
    const others = tallness(this.root) - tallness(this.map);
    const { queryLabels, keyLabels } = this.picture;
    const height = box ? box - others : this.grid ? TALLEST : Infinity;
    this.layout = planLayout(this.canvas.getContext("2d"), { width, height, queryLabels, keyLabels, ratio });
    this.draw();
  }

  paint(palette) {
    this.palette = palette;
    this.draw();
  }

  draw() {
    drawMap(this.canvas, this.layout, this.picture, this.palette);
    this.grid?.draw(this.arrays, this.palette);
    this.explorer.show(this.picture, this.layout);
  }
}

export default onStage(HeatmapView, "attn-heatmap");
