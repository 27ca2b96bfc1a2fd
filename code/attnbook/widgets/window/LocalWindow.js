// Local attention: the keys of one query, a window over them that can be moved and widened.
import { binary } from "../core/binary.js";
import { onDrag } from "../core/gestures.js";
import { figureOf } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { drawLines, holdsCentre, placeAt, planLines } from "./columns.js";
import { localRow } from "./row.js";
import { SETTINGS } from "./settings.js";
import { describeWindow, fillWindow } from "./words.js";

const LINE = 26; // pixels of one key where the page does not say how high the widget is
const SKELETON = `
  ${figureOf("aw-figure", "bars of keys")}
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch ah-weight"></i>local weight</span>
    <span class="ah-key"><i class="ah-own"></i>global weight</span>
    <span class="ah-key"><i class="ah-swatch aw-bell"></i>window and bell</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>outside</span>
  </div>`;

class WindowView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette,
      { skeleton: SKELETON, settings: SETTINGS, describe: describeWindow, fill: fillWindow });
    this.begin();
    onDrag(this.canvas, (x, y) => this.move({ centre: Math.round(10 * placeAt(this.layout, y)) / 10 }),
      (x, y) => holdsCentre(this.layout, this.picture.centre, x, y));
  }

  take(moved) {
    const [labels, gold] = this.get("labels", "gold");
    const scores = Array.from(binary(this.model, "_scores", Float64Array));
    return { ...localRow({ scores, ...moved }), labels, gold, ...moved };
  }

  plan({ width, height, ratio }) {
    const { keys, labels } = this.picture;
    const tall = Math.max(4 + 12 * keys, height || 4 + LINE * keys);
    return planLines(this.canvas.getContext("2d"), { width, height: tall, labels, ratio });
  }

  draw() {
    drawLines(this.canvas, this.layout, this.picture, this.palette);
  }

  keys({ centre }) {
    return {
      ArrowUp: { centre: centre - 1 }, ArrowDown: { centre: centre + 1 },
      Home: { centre: 0 }, End: { centre: Infinity },
    };
  }
}

export default onStage(WindowView, "attn-heatmap attn-window");
