// The positions explorer: a table of places, one of its columns as a curve, and likeness by offset.
import { follow } from "../core/follow.js";
import { cellAt } from "../core/layout.js";
import { makePositionControls, readPositions } from "./controls.js";
import { encode } from "./math.js";
import { drawLine, drawTable, planLine, planTable } from "./plot.js";
import { captions, describePlace, fillPlaces } from "./words.js";
import { onStage } from "../core/stage.js";

const WATCHED = [
  "kind", "kinds", "places", "d_model", "num_heads", "base", "place", "column", "offset", "title", "alt",
];
const BESIDE = 520; // from this width on, the curves stand beside the table
const GAP = 16;
const SKELETON = `
  <p class="ah-title"></p>
  <div class="ap-figure">
    <canvas class="ap-table" tabindex="0" role="application" aria-roledescription="table of places"></canvas>
    <div class="ap-lines" aria-hidden="true"><canvas class="ap-curve"></canvas><canvas class="ap-likeness"></canvas></div>
  </div>
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key ap-signed">−1<i class="ah-bar ah-both"></i>1</span>
    <span class="ah-key ap-factor">0<i class="ah-bar"></i>1</span>
    <span class="ah-key"><i class="ap-dot"></i>place</span>
    <span class="ah-key"><i class="ap-dot ap-other"></i>place + offset</span>
  </div>
  <p class="ah-readout" aria-hidden="true"></p>
  <div class="ah-hidden"><p aria-live="polite"></p><table></table></div>`;

class PositionsView {
  constructor(model, root, palette) {
    Object.assign(this, { model, root, palette });
    root.innerHTML = SKELETON;
    const find = (selector) => this.root.querySelector(selector);
    [this.title, this.figure, this.map] = [".ah-title", ".ap-figure", ".ap-table"].map(find);
    [this.curve, this.likeness] = [".ap-curve", ".ap-likeness"].map(find);
    [this.readout, this.live, this.table] = [".ah-readout", "[aria-live=polite]", "table"].map(find);
    this.controls = makePositionControls(model);
    this.title.after(this.controls.node);
    this.compute();
    this.place();
    this.speakLater(false);
    this.listen();
  }

  compute() {
    const { model, root } = this;
    const settings = readPositions(model);
    this.picture = { ...settings, ...encode(settings) };
    this.title.textContent = model.get("title");
    this.title.hidden = !model.get("title");
    this.map.setAttribute("aria-label", model.get("alt"));
    const alibi = settings.kind === "alibi";
    root.querySelector(".ap-signed").hidden = alibi;
    root.querySelector(".ap-factor").hidden = !alibi;
    this.readout.textContent = describePlace(this.picture);
    this.controls.refresh(this.picture);
  }

  /** Shares out the room. In the static page the box's height is fixed: the figure takes the rest. */
  place() {
    const { root } = this;
    root.classList.toggle("ah-narrow", root.clientWidth < 480);
    const width = this.figure.clientWidth || 640;
    const beside = width >= BESIDE;
    const box = parseFloat(getComputedStyle(root).getPropertyValue("--attn-height"));
    const tallness = (node) => node.getBoundingClientRect().height;
    const rest = box ? Math.floor(box - (tallness(root) - tallness(this.figure))) : NaN;
    const total = rest || (beside ? 340 : 660);
    this.figure.classList.toggle("ap-beside", beside);
    const share = beside ? Math.floor(0.47 * width) : width;
    const high = beside ? total : Math.floor(0.44 * (total - 2 * GAP));
    this.room = { width: share, height: Math.max(160, high) };
    const lines = beside ? total - GAP : total - 2 * GAP - high;
    this.lineRoom = {
      width: beside ? width - GAP - share : width, height: Math.max(110, Math.floor(lines / 2)),
    };
    this.draw();
  }

  paint(palette) {
    this.palette = palette;
    this.draw();
  }

  draw() {
    const { picture, palette } = this;
    const { places, place, offset, curve, similarity, kind } = picture;
    const ratio = window.devicePixelRatio || 1;
    const columns = picture.columns;
    this.layout = planTable({ ...this.room, places, columns, ratio });
    drawTable(this.map, this.layout, picture, palette);
    const all = Array.from({ length: places }, (_, i) => i);
    const titles = captions(picture);
    const other = place + offset;
    const depth = Math.min(-0.5, ...curve);
    this.curvePlan = planLine({ ...this.lineRoom, ratio, x: [0, places - 1],
      y: kind === "alibi" ? [depth, 0] : [-1, 1] });
    drawLine(this.curve, this.curvePlan, { xs: all, ys: curve, title: titles.curve,
      marks: [[other, curve[other], false], [place, curve[place], true]] }, palette);
    const low = Math.min(0, ...similarity) < 0 ? -0.5 : 0;
    this.likenessPlan = planLine({ ...this.lineRoom, ratio, x: [1 - places, places - 1],
      y: [Math.min(low, ...similarity), 1] });
    drawLine(this.likeness, this.likenessPlan, { xs: all.map((i) => i - place), ys: similarity,
      title: titles.similarity,
      marks: [[offset, similarity[other], false], [0, 1, true]] }, palette);
  }

  read() {
    this.compute();
    this.draw();
    this.speakLater(true);
  }

  /** Table and voice follow when a slider rests. */
  speakLater(spoken) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      fillPlaces(this.table, this.picture, this.model.get("alt"));
      if (spoken) this.speak();
    }, 150);
  }

  speak() {
    this.live.textContent = this.readout.textContent;
  }

  moveTo(changes) {
    const { places, columns, place } = this.picture;
    const limit = (value, least, most) => Math.min(Math.max(Math.round(value), least), most);
    const next = {};
    if ("place" in changes) next.place = limit(changes.place, 0, places - 1);
    if ("column" in changes) next.column = limit(changes.column, 0, columns - 1);
    if ("offset" in changes) next.offset = limit(changes.offset, -place, places - 1 - place);
    this.model.set(next);
    this.model.save_changes();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { place, column, offset } = this.picture;
    const to = {
      ArrowUp: { place: place - 1 }, ArrowDown: { place: place + 1 },
      ArrowLeft: { column: column - 1 }, ArrowRight: { column: column + 1 },
      PageUp: { offset: offset - 1 }, PageDown: { offset: offset + 1 },
      Home: { place: 0 }, End: { place: Infinity },
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook would go to the next cell, the book to the next page
    this.moveTo(to);
    this.speak();
  }

  /** Calls `move(x, y)` with the pointer's place on `canvas` while it is pressed. */
  listenDrag(canvas, move) {
    const at = (event) => {
      const frame = canvas.getBoundingClientRect();
      move(event.clientX - frame.left, event.clientY - frame.top);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      at(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) at(event);
    });
  }

  listen() {
    const { model, map } = this;
    map.addEventListener("keydown", (event) => this.onKey(event));
    map.addEventListener("focus", () => this.speak());
    this.listenDrag(map, (x, y) => {
      const under = cellAt(this.layout, x, y, this.picture.places, this.picture.columns);
      if (under) this.moveTo({ place: under.i, column: under.j });
    });
    this.listenDrag(this.curve, (x) => this.moveTo({ place: this.curvePlan.fromX(x) }));
    this.listenDrag(this.likeness, (x) => this.moveTo({ offset: this.likenessPlan.fromX(x) }));
    const stop = follow(model, WATCHED, () => this.read());
    this.stop = () => {
      stop();
      clearTimeout(this.timer);
    };
  }
}

export default onStage(PositionsView, "attn-heatmap attn-positions");
