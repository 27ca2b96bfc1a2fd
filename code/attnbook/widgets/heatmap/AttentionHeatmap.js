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
const BESIDE = 636; // pixels of a widget in which what is said has room beside the map
const SAID = 256; // what of them is not the map's: the least column, and the gap (the style sheet)

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
    this.figure.append(this.map, element("div", {}, this.legend.node, this.readout));
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
   * Where there is room, legend and line stand beside the map, within one look; not with a map of
   * many keys for few queries, which needs the width and is low.
   */
  place() {
    const ratio = this.measure();
    const { queries, keys, queryLabels, keyLabels } = this.picture;
    const room = this.figure.clientWidth || 640;
    const beside = room >= BESIDE && keys <= 2 * queries;
    this.root.classList.toggle("ah-beside", beside);
    this.grid?.place(room, ratio);
    this.grid?.draw(this.arrays, this.palette);
    const width = beside ? room - SAID : room;
    const height = this.restFor(beside ? this.figure : this.map) || (this.grid ? TALLEST : Infinity);
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
