// The heat map widget: shows the weights that the model's scores and mask give, and answers.
import { makeControls } from "../core/controls.js";
import { drawMap } from "../core/draw.js";
import { Explorer } from "../core/explorer.js";
import { listenTo } from "../core/gestures.js";
import { element } from "../core/inputs.js";
import { planLayout } from "../core/layout.js";
import { MAP } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { MAKERS } from "./controls.js";
import { HeadGrid } from "./heads.js";
import { Legend } from "./legend.js";
import { tensorLiteral } from "./literal.js";
import { caption, news } from "./news.js";
import { readArrays, takePicture } from "./picture.js";
import { SETTINGS } from "./settings.js";

const CONTENT = [
  "_scores", "_mask", "_values", "_compare", "_gold", "_shape", "query_labels", "key_labels",
  "title", "alt",
];
const TALLEST = 440; // pixels of a map below its heads, where the page sets no height

class HeatmapView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, MAP);
    const say = (text) => this.voice.say(text);
    this.map = this.find(".ah-map");
    this.canvas = this.find("canvas");
    this.explorer = new Explorer(root, model, say);
    listenTo(this.canvas, this.explorer);
    this.controls = makeControls(model, SETTINGS, MAKERS,
      { say, copyText: () => this.literal(), always: model.get("controls").includes("grid") });
    this.grid = model.get("controls").includes("grid") ? new HeadGrid(model) : null;
    this.legend = new Legend(model);
    this.title.after(this.controls.node, ...(this.grid ? [this.grid.node] : []));
    this.figure = element("div", { class: "ah-figure" });
    this.map.replaceWith(this.figure);
    this.figure.append(this.map, element("div", { class: "ah-aside" }, this.legend.node, this.readout));
    this.readContent();
    this.follow([...Object.keys(SETTINGS), "scale"], (name) => this.readSettings(name));
    this.follow(CONTENT, () => this.readContent());
  }

  literal() {
    const { weights, queries, keys } = this.picture;
    return tensorLiteral(weights, queries, keys);
  }

  /** Takes in what a chapter fixes: arrays, labels, title. */
  readContent() {
    this.arrays = readArrays(this.model);
    this.showTitle(this.canvas);
    this.explorer.forget();
    this.takePicture();
    this.place();
    this.voice.tell(this.picture, caption(this.model, this.picture));
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
    this.voice.tell(picture, caption(model, picture), news(name, model, picture, line));
  }

  takePicture() {
    this.picture = takePicture(this.model, this.arrays);
    this.controls.refresh();
    this.legend.show(this.picture, this.model.get("vmax"));
  }

  /**
   * Chooses the cell size. In the static page the box's height is fixed: the map takes the rest.
   * Where there is room (the style sheet says so), legend and line stand right beside it: not with a
   * map of many keys for few queries, which needs the width.
   */
  place() {
    const ratio = this.measure();
    const { queries, keys } = this.picture;
    this.figure.classList.toggle("ah-flat", keys > 2 * queries);
    const beside = parseFloat(getComputedStyle(this.figure).getPropertyValue("--ah-beside")) || 0;
    const width = (this.figure.clientWidth || 640) - beside;
    this.grid?.place(this.figure.clientWidth || 640, ratio);
    this.grid?.draw(this.arrays, this.palette);
    const { queryLabels, keyLabels } = this.picture;
    const height = this.restFor(this.figure) || (this.grid ? TALLEST : Infinity);
    this.layout = planLayout(this.canvas.getContext("2d"), { width, height, queryLabels, keyLabels, ratio });
    this.draw();
  }

  draw() {
    drawMap(this.canvas, this.layout, this.picture, this.palette);
    this.grid?.draw(this.arrays, this.palette);
    this.explorer.show(this.picture, this.layout);
  }
}

export default onStage(HeatmapView, "attn-heatmap");
