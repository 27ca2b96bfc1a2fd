// Local attention: the keys of one query, a window over them that can be moved and widened.
import { binary } from "../core/binary.js";
import { makeControls, tied } from "../core/controls.js";
import { limit, onDrag, onKeys } from "../core/gestures.js";
import { select, slider } from "../core/inputs.js";
import { HEARD } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { numeral } from "../core/words.js";
import { drawLines, placeAt, planLines } from "./columns.js";
import { localRow } from "./row.js";
import { describeWindow, fillWindow } from "./words.js";

const LINE = 26; // pixels of one key where the page does not say how high the widget is
const BELLS = { none: "none", weights: "after the softmax", scores: "in the scores" };
const SKELETON = `
  <p class="ah-title"></p>
  <div class="aw-figure">
    <canvas tabindex="0" role="application" aria-roledescription="bars of keys"></canvas>
  </div>
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch aw-weight"></i>local weight</span>
    <span class="ah-key"><i class="aw-whole"></i>global weight</span>
    <span class="ah-key"><i class="ah-swatch aw-bell"></i>window and bell</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>outside</span>
  </div>
  ${HEARD}`;

const MAKERS = {
  centre({ model, store }) {
    const most = model.get("labels").length - 1;
    return tied(slider("Centre", { min: 0, max: most, step: 0.1 }, 4, (x) => numeral(x, 1),
      (centre) => store({ centre })), model, "centre");
  },
  radius({ model, store }) {
    const most = model.get("labels").length;
    return tied(slider("Radius", { min: 1, max: most, step: 1 }, 3, String,
      (radius) => store({ radius })), model, "radius");
  },
  bell({ model, store }) {
    const names = Object.keys(BELLS);
    return tied(select("Bell", Object.values(BELLS), (n) => store({ bell: names[n] }), names), model, "bell");
  },
};

class WindowView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, SKELETON);
    this.lines = this.find("canvas");
    this.figure = this.find(".aw-figure");
    this.controls = makeControls(model, MAKERS, { moved: Object.keys(MAKERS) });
    this.title.after(this.controls.node);
    this.read();
    this.place();
    this.speakLater("");
    onKeys(this.lines, (name) => this.onKey(name));
    onDrag(this.lines, (x, y) => this.moveTo(Math.round(10 * placeAt(this.plan, y)) / 10));
    this.lines.addEventListener("focus", () => this.voice.say(this.readout.textContent));
    this.follow(["centre", "radius", "bell", "title", "alt"], () => {
      this.read();
      this.draw();
      this.speakLater(this.readout.textContent);
    });
  }

  /** Takes in the model: the row at once; table and voice follow when a slider rests. */
  read() {
    const [labels, gold] = this.get("labels", "gold");
    const scores = Array.from(binary(this.model, "_scores", Float64Array));
    const [centre, radius, bell] = this.get("centre", "radius", "bell");
    this.picture = { ...localRow({ scores, centre, radius, bell }), labels, gold, centre, radius, bell };
    this.showTitle(this.lines);
    this.controls.refresh();
    this.readout.textContent = describeWindow(this.picture);
  }

  /** Shares out the room. In the static page the box's height is fixed: the lines take the rest. */
  place() {
    const ratio = this.measure();
    const width = this.figure.clientWidth || 640;
    const { keys, labels } = this.picture;
    const height = Math.max(4 + 12 * keys, Math.floor(this.restFor(this.figure)) || 4 + LINE * keys);
    this.plan = planLines(this.lines.getContext("2d"), { width, height, labels, ratio });
    this.draw();
  }

  draw() {
    drawLines(this.lines, this.plan, this.picture, this.palette);
  }

  speakLater(text) {
    const { table } = this.voice;
    this.voice.later(() => fillWindow(table, this.picture, this.model.get("alt")), text);
  }

  moveTo(centre) {
    this.store({ centre: limit(centre, 0, this.picture.keys - 1) });
  }

  onKey(name) {
    const { centre, keys } = this.picture;
    const to = { ArrowUp: centre - 1, ArrowDown: centre + 1, Home: 0, End: keys - 1 }[name];
    if (to === undefined) return false;
    this.moveTo(to);
    return this.voice.say(this.readout.textContent);
  }
}

export default onStage(WindowView, "attn-heatmap attn-window");
