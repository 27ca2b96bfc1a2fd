// Kernel regression: the plot of points and curves beside the heat map of their weights.
import { drawMap } from "../core/draw.js";
import { frameRow } from "../core/frames.js";
import { limit, onDrag } from "../core/gestures.js";
import { slider } from "../core/inputs.js";
import { cellAt } from "../core/layout.js";
import { vmaxText } from "../core/legend.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { numeral } from "../core/words.js";
import { fitCurve, nearest } from "./fit.js";
import { planMap } from "./map.js";
import { drawPlot, planPlot } from "./plot.js";
import { SETTINGS } from "./settings.js";
import { describeError, describeQuery, digitsFor, fillKernelTable } from "./words.js";

const BESIDE = 520; // from this width on, the map stands beside the plot
const GAP = 16;
const CONTENT = ["_x", "_y", "_queries", "_truth"];
const SKELETON = `
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

/** The query's slider has a step for each place. */
function query({ store }) {
  let picture;
  const { label, input, show } = slider("Query", { min: 0, step: 1 }, 5,
    (place) => numeral(place, picture.digits), (row) => store({ query: picture.places[row] }));
  return { label, refresh: (shown) => {
    picture = shown;
    input.max = shown.places.length - 1;
    show(shown.row, shown.query);
  } };
}

class KernelView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette,
      { skeleton: SKELETON, last: "", settings: SETTINGS, makers: { query }, describe: describeQuery, fill: fillKernelTable,
        moving: ["leave_one_out", ...CONTENT] });
    this.map = this.find(".ah-map canvas");
    this.ring = this.find(".ah-ring");
    this.error = [...this.find(".ak-error").children];
    this.begin(...CONTENT);
    onDrag(this.canvas, (x) => this.move({ row: nearest(this.picture.places, this.layout.fromX(x)) }));
    onDrag(this.map, (x, y) => {
      const under = cellAt(this.mapLayout, x, y, this.picture.queries, this.picture.keys);
      if (under) this.move({ row: under.i });
    });
  }

  take({ kernel, width, vmax, leave_one_out: leaveOneOut, query }) {
    const [x, y, queries, truth] = this.get(...CONTENT);
    const curve = fitCurve({ x, y, queries, kernel, width, leaveOneOut });
    const digits = digitsFor(x[x.length - 1] - x[0]);
    const label = (place) => numeral(place, digits);
    const row = nearest(curve.places, query); // of the map: what the plot shows
    return {
      ...curve, x, y, truth, kernel, width, vmax, leaveOneOut, digits, row, query: curve.places[row],
      sites: queries, known: leaveOneOut ? y : truth, queries: curve.places.length, keys: x.length,
      queryLabels: Array.from(curve.places, label), keyLabels: Array.from(x, label),
    };
  }

  tell() {
    super.tell();
    this.find(".ak-known").hidden = !this.picture.truth.length;
    this.find(".ah-vmax").textContent = vmaxText(this.picture.vmax);
    const { name, value, note } = describeError(this.picture);
    [name, value, note].forEach((text, n) => { this.error[n].textContent = text; });
    this.said += name || note ? `. ${name}${value}${note}` : "";
  }

  /** Shares out the room. In the static page the box's height is fixed: the plot takes the rest. */
  place() {
    const { picture } = this;
    const ratio = this.measure();
    const width = this.figure.clientWidth || 640;
    const beside = width >= BESIDE;
    const height = Math.floor(this.restFor(this.figure));
    const tall = beside ? limit(height || 320, 200, 420) : 300;
    this.mapLayout = planMap(this.map.getContext("2d"), {
      width: beside ? Math.floor(0.51 * width) : width,
      height: tall, queryLabels: picture.queryLabels, keyLabels: picture.keyLabels, ratio,
    });
    const rest = height ? height - GAP - this.mapLayout.height : 230;
    this.figure.classList.toggle("ak-beside", beside);
    const { x, y, sites: queries, truth } = picture;
    this.layout = planPlot(this.canvas.getContext("2d"), {
      x, y, queries, truth, ratio,
      width: beside ? Math.floor(width - GAP - Math.min(this.mapLayout.width, 0.51 * width)) : width,
      height: Math.floor(beside ? tall : limit(rest, 160, 300)),
    });
    this.draw();
  }

  draw() {
    const { picture, mapLayout } = this;
    drawMap(this.map, mapLayout, picture, this.palette);
    drawPlot(this.canvas, this.layout, picture, this.palette);
    frameRow(this.ring, mapLayout, picture.row, mapLayout.left, picture.keys * mapLayout.cellWidth);
  }

  /** Marks the place at `row`, or the last one before it. */
  move({ row }) {
    const { places } = this.picture;
    this.store({ query: places[limit(row, 0, places.length - 1)] });
  }

  keys({ row, queries }) {
    return {
      ArrowLeft: { row: row - 1 }, ArrowRight: { row: row + 1 }, ArrowUp: { row: row - 1 }, ArrowDown: { row: row + 1 },
      PageUp: { row: row - 10 }, PageDown: { row: row + 10 }, Home: { row: 0 }, End: { row: queries - 1 },
    };
  }
}

export default onStage(KernelView, "attn-heatmap attn-kernel");
