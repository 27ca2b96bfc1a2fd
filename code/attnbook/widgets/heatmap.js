// The heat map widget: shows the weights that the model's scores and mask give, and answers.
import { makeControls } from "./controls.js";
import { drawMap } from "./draw.js";
import { cellAt, planLayout } from "./layout.js";
import { readArrays, takePicture } from "./picture.js";
import { applyTheme, watchTheme } from "./theme.js";
import { describeCell, fillTable } from "./words.js";

const SETTINGS = ["lengths", "causal", "temperature", "scale", "scaled", "batch", "vmax"];
const CONTENT = ["_scores", "_mask", "_values", "_shape", "query_labels", "key_labels", "title", "alt"];
const HINT = "Point at a cell, or focus the map and move with the arrow keys.";
const SKELETON = `
  <p class="ah-title"></p>
  <div class="ah-map">
    <canvas tabindex="0" role="application" aria-roledescription="heat map"></canvas>
    <div class="ah-ring" hidden></div>
  </div>
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>masked</span>
    <span class="ah-key"><i class="ah-swatch"></i>zero</span>
    <span class="ah-key">small<i class="ah-bar"></i><span class="ah-vmax"></span></span>
  </div>
  <p class="ah-readout" aria-hidden="true"></p>
  <div class="ah-hidden"><p aria-live="polite"></p><table></table></div>`;

class HeatmapView {
  constructor(model, el) {
    this.model = model;
    this.cell = null; // the cell that is pointed at or focused: {i, j}
    this.root = document.createElement("div");
    this.root.className = "attn-heatmap";
    this.root.innerHTML = SKELETON;
    el.append(this.root);
    const find = (selector) => this.root.querySelector(selector);
    this.title = find(".ah-title");
    this.map = find(".ah-map");
    this.canvas = find("canvas");
    this.ring = find(".ah-ring");
    this.readout = find(".ah-readout");
    this.live = find("[aria-live]");
    this.table = find("table");
    this.controls = makeControls(model);
    this.title.after(this.controls.node);
    this.palette = applyTheme(this.root);
    this.readContent();
    this.listen();
  }

  /** Takes in what a chapter fixes: arrays, labels, title. */
  readContent() {
    this.arrays = readArrays(this.model);
    this.title.textContent = this.model.get("title");
    this.title.hidden = !this.model.get("title");
    this.canvas.setAttribute("aria-label", this.model.get("alt"));
    this.cell = null;
    this.picture = takePicture(this.model, this.arrays);
    this.controls.refresh();
    this.writeVmax();
    this.place();
    this.speakLater(false);
  }

  /** Takes in what a reader moves: weights and picture, at once; the table and voice, later. */
  readSettings() {
    const { queryLabels, keyLabels } = this.picture;
    this.picture = takePicture(this.model, this.arrays);
    this.controls.refresh();
    this.writeVmax();
    const sameLabels = this.picture.queryLabels === queryLabels
      && this.picture.keyLabels === keyLabels;
    if (sameLabels) this.draw();
    else this.place();
    this.speakLater(true);
  }

  writeVmax() {
    const { vmax } = this.picture;
    this.root.querySelector(".ah-vmax").textContent = (vmax < 1 ? "≥ " : "") + vmax;
  }

  /** Chooses the cell size. In the static page the box's height is fixed: the map takes the rest. */
  place() {
    this.root.classList.toggle("ah-narrow", this.root.clientWidth < 480);
    const box = parseFloat(getComputedStyle(this.root).getPropertyValue("--attn-height"));
    const others = this.root.scrollHeight - this.map.offsetHeight;
    this.layout = planLayout(this.canvas.getContext("2d"), {
      width: this.root.clientWidth || 640,
      height: box ? box - others : Infinity,
      queryLabels: this.picture.queryLabels,
      keyLabels: this.picture.keyLabels,
      ratio: window.devicePixelRatio || 1,
    });
    this.draw();
  }

  draw() {
    drawMap(this.canvas, this.layout, this.picture, this.palette);
    this.showCell();
  }

  showCell() {
    const { cell, layout } = this;
    this.ring.hidden = cell === null;
    this.readout.textContent = cell ? describeCell(this.picture, cell.i, cell.j) : HINT;
    if (cell === null) return;
    this.ring.style.transform = `translate(${layout.left + cell.j * layout.cellWidth}px, `
      + `${layout.top + cell.i * layout.cellHeight}px)`;
    this.ring.style.width = `${layout.cellWidth}px`;
    this.ring.style.height = `${layout.cellHeight}px`;
  }

  moveTo(cell, spoken) {
    this.cell = cell;
    this.showCell();
    if (spoken) this.live.textContent = this.readout.textContent;
  }

  /** A table of 64 × 64 cells is too slow for every step of a slider. */
  speakLater(spoken) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      fillTable(this.table, this.picture, this.model.get("alt"));
      if (spoken && this.cell) this.live.textContent = this.readout.textContent;
    }, 150);
  }

  onKey(event) {
    const { queries, keys } = this.picture;
    if (!queries || !keys || event.ctrlKey || event.metaKey || event.altKey) return;
    const { i, j } = this.cell ?? { i: 0, j: 0 };
    const to = {
      ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
      Home: [i, 0], End: [i, keys - 1], PageUp: [0, j], PageDown: [queries - 1, j],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook would go to the next cell, the book to the next page
    const clamp = (n, end) => Math.min(Math.max(n, 0), end - 1);
    this.moveTo({ i: clamp(to[0], queries), j: clamp(to[1], keys) }, true);
  }

  onPointer(event) {
    const frame = this.canvas.getBoundingClientRect();
    const under = cellAt(this.layout, event.clientX - frame.left, event.clientY - frame.top,
      this.picture.queries, this.picture.keys);
    if (under) this.moveTo(under, false);
  }

  listen() {
    const { model, canvas } = this;
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    canvas.addEventListener("pointerdown", (event) => this.onPointer(event));
    canvas.addEventListener("focus", () => {
      if (this.picture.queries && this.picture.keys) this.moveTo(this.cell ?? { i: 0, j: 0 }, true);
    });
    const settings = () => this.readSettings();
    const content = () => this.readContent();
    SETTINGS.forEach((name) => model.on(`change:${name}`, settings));
    CONTENT.forEach((name) => model.on(`change:${name}`, content));
    const stopTheme = watchTheme(() => {
      this.palette = applyTheme(this.root);
      this.draw();
    });
    let width = this.root.clientWidth;
    const sizer = new ResizeObserver(() => {
      if (this.root.clientWidth === width) return;
      width = this.root.clientWidth;
      this.place();
    });
    sizer.observe(this.root);
    this.stop = () => {
      SETTINGS.forEach((name) => model.off(`change:${name}`, settings));
      CONTENT.forEach((name) => model.off(`change:${name}`, content));
      stopTheme();
      sizer.disconnect();
      clearTimeout(this.timer);
    };
  }
}

function render({ model, el }) {
  const view = new HeatmapView(model, el);
  return () => view.stop();
}

export default { render };
