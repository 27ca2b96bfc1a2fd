// The positions explorer: a table of places, one of its columns as a curve, and likeness by offset.
import { limit, onDrag } from "../core/gestures.js";
import { cellAt } from "../core/layout.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { MAKERS, within } from "./controls.js";
import { encode } from "./math.js";
import { drawLine, drawTable, planLine, planTable } from "./plot.js";
import { SETTINGS } from "./settings.js";
import { captions, describePlace, fillPlaces } from "./words.js";

const BESIDE = 520; // from this width on, the curves stand beside the table
const GAP = 16;
const SKELETON = `
  <div class="ap-figure">
    <canvas class="ap-table" tabindex="0" role="application" aria-roledescription="table of places"></canvas>
    <div class="ap-lines" aria-hidden="true"><canvas class="ap-curve"></canvas><canvas class="ap-likeness"></canvas></div>
  </div>
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key ap-signed">−1<i class="ah-bar ah-both"></i>1</span>
    <span class="ah-key ap-factor">0<i class="ah-bar"></i>1</span>
    <span class="ah-key"><i class="ap-dot"></i>place</span>
    <span class="ah-key"><i class="ap-dot ap-other"></i>place + offset</span>
  </div>`;

class PositionsView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette,
      { skeleton: SKELETON, settings: SETTINGS, makers: MAKERS, describe: describePlace, fill: fillPlaces });
    [this.curve, this.likeness] = [".ap-curve", ".ap-likeness"].map((name) => this.find(name));
    this.begin("kinds");
    onDrag(this.canvas, (x, y) => {
      const under = cellAt(this.layout, x, y, this.picture.places, this.picture.columns);
      if (under) this.move({ place: under.i, column: under.j });
    });
    onDrag(this.curve, (x) => this.move({ place: this.curvePlan.fromX(x) }));
    onDrag(this.likeness, (x) => this.move({ offset: this.likenessPlan.fromX(x) }));
  }

  take(moved) {
    const settings = within(moved);
    this.find(".ap-signed").hidden = settings.kind === "alibi";
    this.find(".ap-factor").hidden = settings.kind !== "alibi";
    return { ...settings, ...encode(settings) };
  }

  /** Shares out the room. In the static page the box's height is fixed: the figure takes the rest. */
  place() {
    this.measure();
    const width = this.figure.clientWidth || 640;
    const beside = width >= BESIDE;
    const total = Math.floor(this.restFor(this.figure)) || (beside ? 340 : 660);
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

  draw() {
    const { picture, palette } = this;
    const { places, place, offset, curve, similarity, kind, matrices } = picture;
    const ratio = window.devicePixelRatio || 1;
    const columns = picture.columns;
    this.layout = planTable({ ...this.room, places, columns, ratio });
    drawTable(this.canvas, this.layout, picture, palette);
    const all = Array.from({ length: places }, (_, i) => i);
    const titles = captions(picture);
    const other = place + offset;
    const depth = Math.min(-0.5, ...curve);
    this.curvePlan = planLine({ ...this.lineRoom, ratio, x: [0, places - 1],
      y: kind === "alibi" ? [depth, 0] : [-1, 1] });
    drawLine(this.curve, this.curvePlan, { xs: all, ys: curve, title: titles.curve,
      marks: [[other, curve[other], false], [place, curve[place], true]] }, palette);
    const low = kind !== "alibi" && matrices === "random" ? -1 : Math.min(0, ...similarity) < 0 ? -0.5 : 0;
    this.likenessPlan = planLine({ ...this.lineRoom, ratio, x: [1 - places, places - 1],
      y: [Math.min(low, ...similarity), 1] });
    drawLine(this.likeness, this.likenessPlan, { xs: all.map((i) => i - place), ys: similarity,
      title: titles.similarity,
      marks: [[offset, similarity[other], false], [0, similarity[place], true]] }, palette);
  }

  move(changes) {
    const { places, columns, place } = this.picture;
    const ends = {
      place: [0, places - 1], column: [0, columns - 1], offset: [-place, places - 1 - place],
    };
    this.store(Object.fromEntries(Object.entries(changes).map(([name, value]) =>
      [name, limit(Math.round(value), ...ends[name])])));
  }

  keys({ place, column, offset }) {
    return {
      ArrowUp: { place: place - 1 }, ArrowDown: { place: place + 1 },
      ArrowLeft: { column: column - 1 }, ArrowRight: { column: column + 1 },
      PageUp: { offset: offset - 1 }, PageDown: { offset: offset + 1 },
      Home: { place: 0 }, End: { place: Infinity },
    };
  }
}

export default onStage(PositionsView, "attn-heatmap attn-positions");
