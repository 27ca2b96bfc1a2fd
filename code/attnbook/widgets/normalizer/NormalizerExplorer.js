// Normalisers: a few scores that can be dragged, their weights, and what comes back to them.
import { limit, onDrag } from "../core/gestures.js";
import { figureOf } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { drawRows, handleAt, planRows, scoreAt, weightsAt } from "./rows.js";
import { SETTINGS } from "./settings.js";
import { scoreMoves, scoresFor, shareRow } from "./share.js";
import { describeKey, describeShares, fillShares } from "./words.js";

const most = () => SETTINGS.scores.most; // the largest score
const SKELETON = `
  ${figureOf("an-figure", "scores of keys")}`;

class NormalizerView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette,
      { skeleton: SKELETON, settings: SETTINGS, describe: describeShares, fill: fillShares });
    this.key = 0;
    this.begin("slopes");
    onDrag(this.canvas, (x, y) => this.onPoint(x, y),
      (x, y) => handleAt(this.layout, this.picture, x, y) !== null);
    this.canvas.addEventListener("pointerdown", () => { this.dragged = null; }, true);
    this.canvas.addEventListener("focus", () => {
      this.draw();
      this.voice.say(describeKey(this.picture, this.key));
    });
    this.canvas.addEventListener("blur", () => this.draw());
  }

  take({ scores, normalizer, k }) {
    const [labels, slopes] = this.get("labels", "slopes");
    const weights = shareRow(scores, normalizer, k);
    const points = Object.fromEntries(Object.keys(SETTINGS.normalizer.words)
      .map((name) => [name, shareRow(scores, name, k)]));
    const name = normalizer === "top_k" ? `top-${k}` : SETTINGS.normalizer.words[normalizer];
    return { scores, labels, name, normalizer, weights, points, moves: scoreMoves(weights, slopes, normalizer) };
  }

  plan({ width, height, ratio }) {
    const { labels } = this.picture;
    const natural = 28 + 32 * labels.length + (labels.length === 3 ? 280 : 0);
    return planRows(this.canvas.getContext("2d"),
      { width, height: Math.max(natural - 60, height || natural), labels, most: most(), ratio });
  }

  /** The key that the arrows move is marked as long as they do. */
  draw() {
    const key = this.canvas.matches(":focus") ? this.key : null;
    drawRows(this.canvas, this.layout, { ...this.picture, key }, this.palette);
  }

  setScore(key, score) {
    this.key = key;
    const rounded = Math.round(100 * limit(score, -most(), most())) / 100;
    this.store({ scores: this.picture.scores.map((s, j) => (j === key ? rounded : s)) });
    this.draw();
  }

  /** A drag moves one score, or the point of the simplex: whichever it began on or beside. */
  onPoint(x, y) {
    const { labels, normalizer } = this.picture;
    const at = scoreAt(this.layout, x, y, labels.length);
    this.dragged ??= at?.key ?? handleAt(this.layout, this.picture, x, y)
      ?? (weightsAt(this.layout, x, y) && "simplex");
    if (this.dragged === "simplex") {
      const weights = weightsAt(this.layout, x, y);
      if (weights) this.store({ scores: scoresFor(weights, normalizer, most()) });
    } else if (Number.isInteger(this.dragged)) {
      const { top, line } = this.layout;
      const along = scoreAt(this.layout, Math.min(x, this.layout.score[1]), top + (this.dragged + 0.5) * line, labels.length);
      this.setScore(this.dragged, along.score);
    }
  }

  onKey(name) {
    const { scores } = this.picture;
    const to = { ArrowUp: this.key - 1, ArrowDown: this.key + 1 }[name];
    const score = { ArrowLeft: scores[this.key] - 0.1, ArrowRight: scores[this.key] + 0.1, Home: -most(), End: most() }[name];
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
