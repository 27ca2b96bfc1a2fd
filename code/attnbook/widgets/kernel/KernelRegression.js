// Kernel regression: the plot of points and curves beside the heat map of their weights.
import { drawMap } from "../core/draw.js";
import { makeKernelControls } from "./controls.js";
import { fitCurve, nearest } from "./fit.js";
import { planMap } from "./map.js";
import { drawPlot, planPlot } from "./plot.js";
import { describeError, describeQuery, digitsFor, fillKernelTable } from "./words.js";
import { follow } from "../core/follow.js";
import { cellAt } from "../core/layout.js";
import { onStage } from "../core/stage.js";
import { numeral } from "../core/words.js";

const SETTINGS = ["kernel", "width", "leave_one_out", "vmax"];
const CONTENT = ["_x", "_y", "_queries", "_truth", "title", "alt"];
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

class KernelView {
  constructor(model, root, palette) {
    Object.assign(this, { model, root, palette });
    root.innerHTML = SKELETON;
    const find = (selector) => this.root.querySelector(selector);
    this.title = find(".ah-title");
    this.figure = find(".ak-figure");
    this.plot = find(".ak-plot");
    this.map = find(".ah-map canvas");
    this.ring = find(".ah-ring");
    this.readout = find(".ah-readout");
    this.error = [...find(".ak-error").children];
    this.live = find("[aria-live=polite]");
    this.table = find("table");
    this.controls = makeKernelControls(model, () => this.picture);
    this.title.after(this.controls.node);
    this.readContent();
    this.listen();
  }

  /** Takes in what a chapter fixes: points, truth, title. */
  readContent() {
    const { model } = this;
    this.title.textContent = model.get("title");
    this.title.hidden = !model.get("title");
    this.plot.setAttribute("aria-label", model.get("alt"));
    this.root.querySelector(".ak-known").hidden = !model.get("_truth").length;
    this.compute();
    this.place();
    this.speakLater(false);
  }

  /** Takes in what a reader moves: weights, curve and error at once; table and voice later. */
  readSettings() {
    const { places } = this.picture;
    this.compute();
    if (this.picture.places === places) this.draw();
    else this.place(); // the rows have changed
    this.speakLater(true);
  }

  compute() {
    const { model } = this;
    const [x, y, queries, truth] = ["_x", "_y", "_queries", "_truth"].map((name) => model.get(name));
    const leaveOneOut = model.get("leave_one_out");
    const [kernel, width, vmax] = ["kernel", "width", "vmax"].map((name) => model.get(name));
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
    this.root.querySelector(".ah-vmax").textContent = (vmax < 1 ? "≥ " : "") + vmax;
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
    const { root, picture } = this;
    root.classList.toggle("ah-narrow", root.clientWidth < 480);
    const width = this.figure.clientWidth || 640;
    const beside = width >= BESIDE;
    const box = parseFloat(getComputedStyle(root).getPropertyValue("--attn-height"));
    const tallness = (node) => node.getBoundingClientRect().height;
    const height = box ? Math.floor(box - (tallness(root) - tallness(this.figure))) : NaN;
    const ratio = window.devicePixelRatio || 1;
    const limit = (least, size, most) => Math.min(Math.max(size, least), most);
    const tall = beside ? limit(200, height || 320, 420) : 300;
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
      height: Math.floor(beside ? tall : limit(160, rest, 300)),
    });
    this.draw();
  }

  paint(palette) {
    this.palette = palette;
    this.draw();
  }

  draw() {
    drawMap(this.map, this.layout, this.picture, this.palette);
    this.showQuery();
  }

  showQuery() {
    const { picture, layout } = this;
    drawPlot(this.plot, this.plan, picture, this.palette);
    this.ring.style.transform = `translate(${layout.left}px, `
      + `${layout.top + picture.row * layout.cellHeight}px)`;
    this.ring.style.width = `${picture.keys * layout.cellWidth}px`;
    this.ring.style.height = `${layout.cellHeight}px`;
    this.readout.textContent = describeQuery(picture, picture.row);
  }

  readQuery() {
    this.markQuery();
    this.controls.refresh();
    this.showQuery();
    this.speakLater(true, false);
  }

  /** Tables and voice follow when a slider rests. */
  speakLater(spoken, changed = true) {
    clearTimeout(this.timer);
    this.stale = this.stale || changed;
    this.timer = setTimeout(() => {
      if (this.stale) fillKernelTable(this.table, this.picture, this.model.get("alt"));
      this.stale = false;
      if (spoken) this.speak();
    }, 150);
  }

  speak() {
    const error = this.error.map((part) => part.textContent).join("");
    this.live.textContent = this.readout.textContent + (error && `. ${error}`);
  }

  moveTo(row) {
    const { places } = this.picture;
    this.model.set({ query: places[Math.min(Math.max(row, 0), places.length - 1)] });
    this.model.save_changes();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, queries } = this.picture;
    const to = {
      ArrowLeft: row - 1, ArrowRight: row + 1, ArrowUp: row - 1, ArrowDown: row + 1,
      PageUp: row - 10, PageDown: row + 10, Home: 0, End: queries - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook would go to the next cell, the book to the next page
    this.moveTo(to);
    clearTimeout(this.timer);
    this.speak();
    if (this.stale) this.speakLater(false);
  }

  onPlot(event) {
    const frame = this.plot.getBoundingClientRect();
    this.moveTo(nearest(this.picture.places, this.plan.fromX(event.clientX - frame.left)));
  }

  onMap(event) {
    const frame = this.map.getBoundingClientRect();
    const under = cellAt(this.layout, event.clientX - frame.left, event.clientY - frame.top,
      this.picture.queries, this.picture.keys);
    if (under) this.moveTo(under.i);
  }

  /** Calls `move` while the pointer is pressed on `canvas`, also when it leaves it. */
  listenDrag(canvas, move) {
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) move(event);
    });
  }

  listen() {
    const { model, plot, map } = this;
    plot.addEventListener("keydown", (event) => this.onKey(event));
    plot.addEventListener("focus", () => this.speak());
    this.listenDrag(plot, (event) => this.onPlot(event));
    this.listenDrag(map, (event) => this.onMap(event));
    const stops = [
      follow(model, SETTINGS, () => this.readSettings()),
      follow(model, CONTENT, () => this.readContent()),
      follow(model, ["query"], () => this.readQuery()),
      () => clearTimeout(this.timer),
    ];
    this.stop = () => stops.forEach((stop) => stop());
  }
}

export default onStage(KernelView, "attn-heatmap attn-kernel");
