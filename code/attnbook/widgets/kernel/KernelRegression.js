// Kernel regression: the plot of points and curves beside the heat map of their weights.
import { drawMap } from "../core/draw.js";
import { frameRow } from "../core/frames.js";
import { limit, onDrag, onKeys } from "../core/gestures.js";
import { cellAt } from "../core/layout.js";
import { vmaxText } from "../core/legend.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { numeral } from "../core/words.js";
import { makeKernelControls } from "./controls.js";
import { fitCurve, nearest } from "./fit.js";
import { planMap } from "./map.js";
import { drawPlot, planPlot } from "./plot.js";
import { describeError, describeQuery, digitsFor, fillKernelTable } from "./words.js";

const BESIDE = 520; // from this width on, the map stands beside the plot
const GAP = 16;
const SKELETON = `
  <p class="ah-title"></p>
  <div class="ak-figure">
    <canvas class="ak-plot" tabindex="0" role="application" aria-roledescription="plot"></canvas>
    <div class="ah-map" aria-hidden="true"><canvas></canvas><div class="ah-ring"></div></div>
  </div>
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key ak-known"><i class="ak-line ak-truth"></i>truth</span>
    <span class="ah-key"><i class="ak-line"></i>fit</span>
    <span class="ah-key"><i class="ak-kernel"></i>kernel</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>masked</span>
    <span class="ah-key"><i class="ah-swatch"></i>zero</span>
    <span class="ah-key">small<i class="ah-bar"></i><span class="ah-vmax"></span></span>
  </div>
  <div class="ak-words">
    <p class="ah-readout" aria-hidden="true"></p>
    <p class="ak-error"><span></span><output aria-live="off"></output><span></span></p>
  </div>
  <div class="ah-hidden"><p aria-live="polite"></p><table></table></div>`;

class KernelView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, SKELETON);
    this.figure = this.find(".ak-figure");
    this.plot = this.find(".ak-plot");
    this.map = this.find(".ah-map canvas");
    this.ring = this.find(".ah-ring");
    this.error = [...this.find(".ak-error").children];
    this.controls = makeKernelControls(model, () => this.picture);
    this.title.after(this.controls.node);
    this.readContent();
    onKeys(this.plot, (name) => this.onKey(name));
    this.plot.addEventListener("focus", () => this.voice.say(this.words()));
    onDrag(this.plot, (x) => this.moveTo(nearest(this.picture.places, this.plan.fromX(x))));
    onDrag(this.map, (x, y) => {
      const under = cellAt(this.layout, x, y, this.picture.queries, this.picture.keys);
      if (under) this.moveTo(under.i);
    });
    this.follow(["kernel", "width", "leave_one_out", "vmax"], () => this.readSettings());
    this.follow(["_x", "_y", "_queries", "_truth", "title", "alt"], () => this.readContent());
    this.follow(["query"], () => this.readQuery());
  }

  /** Takes in what a chapter fixes: points, truth, title. */
  readContent() {
    this.showTitle(this.plot);
    this.find(".ak-known").hidden = !this.model.get("_truth").length;
    this.compute();
    this.place();
    this.speakLater("");
  }

  /** Takes in what a reader moves: weights, curve and error at once; table and voice later. */
  readSettings() {
    const { places } = this.picture;
    this.compute();
    if (this.picture.places === places) this.draw();
    else this.place(); // the rows have changed
    this.speakLater(this.words());
  }

  compute() {
    const [x, y, queries, truth] = this.get("_x", "_y", "_queries", "_truth");
    const [kernel, width, vmax, leaveOneOut] = this.get("kernel", "width", "vmax", "leave_one_out");
    const curve = fitCurve({ x, y, queries, kernel, width, leaveOneOut });
    const digits = digitsFor(x[x.length - 1] - x[0]);
    const label = (place) => numeral(place, digits);
    const sameRows = this.picture?.places === curve.places;
    this.picture = {
      ...curve, x, y, truth, kernel, width, vmax, leaveOneOut, digits,
      sites: queries, known: leaveOneOut ? y : truth,
      queries: curve.places.length, keys: x.length,
      queryLabels: sameRows ? this.picture.queryLabels : Array.from(curve.places, label),
      keyLabels: sameRows ? this.picture.keyLabels : Array.from(x, label),
    };
    this.markQuery();
    this.find(".ah-vmax").textContent = vmaxText(vmax);
    const { name, value, note } = describeError(this.picture);
    [name, value, note].forEach((text, n) => { this.error[n].textContent = text; });
    this.controls.refresh();
  }

  /** The row of the map that the plot shows: the query nearest to the model's. */
  markQuery() {
    this.picture.row = nearest(this.picture.places, this.model.get("query"));
    this.picture.query = this.picture.places[this.picture.row];
  }

  /** Shares out the room. In the static page the box's height is fixed: the plot takes the rest. */
  place() {
    const { picture } = this;
    const ratio = this.measure();
    const width = this.figure.clientWidth || 640;
    const beside = width >= BESIDE;
    const height = Math.floor(this.restFor(this.figure));
    const tall = beside ? limit(height || 320, 200, 420) : 300;
    this.layout = planMap(this.map.getContext("2d"), {
      width: beside ? Math.floor(0.51 * width) : width,
      height: tall, queryLabels: picture.queryLabels, keyLabels: picture.keyLabels, ratio,
    });
    const rest = height ? height - GAP - this.layout.height : 230;
    this.figure.classList.toggle("ak-beside", beside);
    const { x, y, sites: queries, truth } = picture;
    this.plan = planPlot(this.plot.getContext("2d"), {
      x, y, queries, truth, ratio,
      width: beside ? Math.floor(width - GAP - Math.min(this.layout.width, 0.51 * width)) : width,
      height: Math.floor(beside ? tall : limit(rest, 160, 300)),
    });
    this.draw();
  }

  draw() {
    drawMap(this.map, this.layout, this.picture, this.palette);
    this.showQuery();
  }

  showQuery() {
    const { picture, layout } = this;
    drawPlot(this.plot, this.plan, picture, this.palette);
    frameRow(this.ring, layout, picture.row, layout.left, picture.keys * layout.cellWidth);
    this.readout.textContent = describeQuery(picture, picture.row);
  }

  readQuery() {
    this.markQuery();
    this.controls.refresh();
    this.showQuery();
    this.voice.later(null, this.words());
  }

  /** Tables and voice follow when a slider rests. */
  speakLater(text) {
    const { table } = this.voice;
    this.voice.later(() => fillKernelTable(table, this.picture, this.model.get("alt")), text);
  }

  words() {
    const error = this.error.map((part) => part.textContent).join("");
    return this.readout.textContent + (error && `. ${error}`);
  }

  moveTo(row) {
    const { places } = this.picture;
    this.store({ query: places[limit(row, 0, places.length - 1)] });
  }

  onKey(name) {
    const { row, queries } = this.picture;
    const to = {
      ArrowLeft: row - 1, ArrowRight: row + 1, ArrowUp: row - 1, ArrowDown: row + 1,
      PageUp: row - 10, PageDown: row + 10, Home: 0, End: queries - 1,
    }[name];
    if (to === undefined) return false;
    this.moveTo(to);
    return this.voice.say(this.words());
  }
}

export default onStage(KernelView, "attn-heatmap attn-kernel");
