// A haystack: many keys, one query, a cheap choice among them; what it keeps and what it misses.
import { limit, pointOn } from "../core/gestures.js";
import { figureOf } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { choose, denseWeights, judge } from "./choose.js";
import { haystackOf } from "./data.js";
import { drawField, fieldKeyAt, planField } from "./field.js";
import { SETTINGS } from "./settings.js";
import { describeChoice, describeKey, fillKeys } from "./words.js";

/** The top of a scale: the least of 1, 0.5, 0.2, 0.1, 0.05, ... that holds the weight. */
function roundUp(weight) {
  const power = 10 ** Math.floor(Math.log10(weight));
  return [1, 2, 5, 10].map((step) => Number((step * power).toPrecision(1))).find((top) => top >= weight * (1 - 1e-9));
}

const SKELETON = `
  ${figureOf("hx-figure", "keys")}
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="hx-dot"></i><i class="hx-dot hx-large"></i>weight in dense attention, up to <span class="hx-top"></span></span>
    <span class="ah-key"><i class="hx-bars"></i>cheap score</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>left out</span>
    <span class="ah-key"><i class="hx-ring"></i>needle</span>
    <span class="ah-key"><i class="hx-ring hx-missing"></i>missed</span>
  </div>
  <p class="hx-said" aria-hidden="true"></p>`;

class HaystackView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette,
      { skeleton: SKELETON, settings: SETTINGS, describe: describeChoice, fill: fillKeys });
    this.line = this.find(".hx-said");
    this.key = null; // the marked one
    this.hay = haystackOf(model);
    this.weights = denseWeights(this.hay);
    this.begin("needles");
    this.listen();
  }

  take(settings) {
    const { hay, weights } = this;
    const needles = this.model.get("needles");
    const choice = choose(hay, settings);
    return { ...hay, ...settings, ...choice, needles, weights, results: judge({ ...hay, needles }, weights, choice.kept) };
  }

  tell() {
    super.tell();
    const { results, query } = this.picture;
    this.readout.firstChild.className = results[query].found ? "hx-found" : "hx-missed";
  }

  plan(room) {
    return planField({ ...room, n: this.hay.n });
  }

  draw() {
    const { query, n, needles, scorer, block } = this.picture;
    const row = (numbers) => numbers.subarray(query * n, (query + 1) * n);
    const [weights, scores, kept] = ["weights", "scores", "kept"].map((name) => row(this.picture[name]));
    const top = roundUp(Math.max(...weights));
    drawField(this.canvas, this.layout, {
      weights, scores, kept, top, needle: needles[query], key: this.key, block: scorer === "mean" ? block : 1,
    }, this.palette);
    this.find(".hx-top").textContent = top;
    this.line.textContent = this.key === null ? "Point at a key, or tap it, to read it." : describeKey(this.picture, this.key);
  }

  mark(key) {
    if (key === this.key) return;
    this.key = key;
    this.draw();
  }

  onKey(name) {
    const { n, q, query } = this.picture;
    const from = this.key ?? 0;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.layout.columns, ArrowDown: this.layout.columns };
    const page = { PageUp: query - 1, PageDown: query + 1 }[name];
    if (page !== undefined) {
      this.store({ query: limit(page, 0, q - 1) });
      return this.voice.say(this.said);
    }
    const to = { Home: 0, End: n - 1 }[name] ?? from + by[name];
    if (Number.isNaN(to)) return false;
    if (to >= 0 && to < n) this.mark(to);
    return this.voice.say(describeKey(this.picture, this.key));
  }

  listen() {
    const { canvas } = this;
    const focused = () => canvas.matches(":focus");
    const point = (event) => {
      const key = fieldKeyAt(this.layout, ...pointOn(canvas, event));
      if (key !== null) this.mark(key);
    };
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
    canvas.addEventListener("pointerleave", () => { if (!focused()) this.mark(null); });
    canvas.addEventListener("blur", () => this.mark(null));
    canvas.addEventListener("focus", () => {
      this.mark(this.key ?? this.picture.needles[this.picture.query]);
      this.voice.say(describeKey(this.picture, this.key));
    });
  }
}

export default onStage(HaystackView, "attn-heatmap attn-haystack");
