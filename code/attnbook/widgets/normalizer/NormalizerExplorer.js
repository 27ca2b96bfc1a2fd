// Normalisers: a few scores that can be dragged, their weights, and what comes back to them.
import { makeControls, tied } from "../core/controls.js";
import { limit, onDrag, onKeys } from "../core/gestures.js";
import { select, slider } from "../core/inputs.js";
import { HEARD } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { drawRows, planRows, scoreAt, weightsAt } from "./rows.js";
import { scoreMoves, scoresFor, shareRow } from "./share.js";
import { describeKey, describeShares, fillShares, NAMES } from "./words.js";

const MOST = 3; // the largest score
const SKELETON = `
  <p class="ah-title"></p>
  <div class="an-figure">
    <canvas tabindex="0" role="application" aria-roledescription="scores of keys"></canvas>
  </div>
  ${HEARD}`;

const MAKERS = {
  normalizer({ model, store }) {
    const names = Object.keys(NAMES);
    return tied(select("Normaliser", Object.values(NAMES), (n) => store({ normalizer: names[n] }), names),
      model, "normalizer");
  },
  k({ model, store }) {
    const most = model.get("labels").length;
    return tied(slider("k", { min: 1, max: most, step: 1 }, 2, String, (k) => store({ k })), model, "k");
  },
};

class NormalizerView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, SKELETON);
    this.canvas = this.find("canvas");
    this.figure = this.find(".an-figure");
    this.key = 0;
    this.controls = makeControls(model, MAKERS, { moved: ["scores", ...Object.keys(MAKERS)] });
    this.title.after(this.controls.node);
    this.read();
    this.place();
    this.speakLater("");
    onKeys(this.canvas, (name) => this.onKey(name));
    onDrag(this.canvas, (x, y) => this.onPoint(x, y));
    this.canvas.addEventListener("pointerdown", () => { this.dragged = null; }, true);
    this.canvas.addEventListener("focus", () => {
      this.draw();
      this.voice.say(describeKey(this.picture, this.key));
    });
    this.canvas.addEventListener("blur", () => this.draw());
    this.follow(["scores", "slopes", "normalizer", "k", "title", "alt"], () => {
      this.read();
      this.draw();
      this.speakLater(this.readout.textContent);
    });
  }

  /** Takes in the model: weights and steps at once; table and voice follow when things rest. */
  read() {
    const [scores, labels, slopes] = this.get("scores", "labels", "slopes");
    const [normalizer, k] = this.get("normalizer", "k");
    const weights = shareRow(scores, normalizer, k);
    const points = Object.fromEntries(Object.keys(NAMES).map((name) => [name, shareRow(scores, name, k)]));
    const moves = scoreMoves(weights, slopes, normalizer);
    this.picture = { scores, labels, normalizer, k, weights, points, moves };
    this.showTitle(this.canvas);
    this.controls.refresh();
    this.readout.textContent = describeShares(this.picture);
  }

  /** Shares out the room. In the static page the box's height is fixed: the picture takes the rest. */
  place() {
    const ratio = this.measure();
    const width = this.figure.clientWidth || 640;
    const { labels } = this.picture;
    const natural = 28 + 32 * labels.length + (labels.length === 3 ? 190 : 0);
    const height = Math.max(natural - 60, Math.floor(this.restFor(this.figure)) || natural);
    this.plan = planRows(this.canvas.getContext("2d"), { width, height, labels, most: MOST, ratio });
    this.draw();
  }

  /** The key that the arrows move is marked as long as they do. */
  draw() {
    const key = this.canvas.matches(":focus") ? this.key : null;
    drawRows(this.canvas, this.plan, { ...this.picture, key }, this.palette);
  }

  speakLater(text) {
    const { table } = this.voice;
    this.voice.later(() => fillShares(table, this.picture, this.model.get("alt")), text);
  }

  setScore(key, score) {
    this.key = key;
    const rounded = Math.round(100 * limit(score, -MOST, MOST)) / 100;
    this.store({ scores: this.picture.scores.map((s, j) => (j === key ? rounded : s)) });
    this.draw();
  }

  /** A drag moves one score, or the point of the simplex: whichever it began on. */
  onPoint(x, y) {
    const { labels, normalizer } = this.picture;
    const at = scoreAt(this.plan, x, y, labels.length);
    this.dragged ??= at ? at.key : weightsAt(this.plan, x, y) && "simplex";
    if (this.dragged === "simplex") {
      const weights = weightsAt(this.plan, x, y);
      if (weights) this.store({ scores: scoresFor(weights, normalizer, MOST) });
    } else if (Number.isInteger(this.dragged)) {
      const { top, line } = this.plan;
      const along = scoreAt(this.plan, Math.min(x, this.plan.score[1]), top + (this.dragged + 0.5) * line, labels.length);
      this.setScore(this.dragged, along.score);
    }
  }

  onKey(name) {
    const { scores } = this.picture;
    const to = { ArrowUp: this.key - 1, ArrowDown: this.key + 1 }[name];
    const score = { ArrowLeft: scores[this.key] - 0.1, ArrowRight: scores[this.key] + 0.1, Home: -MOST, End: MOST }[name];
    if (to === undefined && score === undefined) return false;
    if (to === undefined) this.setScore(this.key, score);
    else {
      this.key = limit(to, 0, scores.length - 1);
      this.draw();
    }
    return this.voice.say(describeKey(this.picture, this.key));
  }
}

export default onStage(NormalizerView, "attn-heatmap attn-normalizer");
