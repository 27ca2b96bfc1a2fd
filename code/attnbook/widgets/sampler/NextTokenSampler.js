// The sampler: a next-token distribution, what temperature and cuts leave of it, and a text drawn.
import { limit, pointOn } from "../core/gestures.js";
import { button, element } from "../core/inputs.js";
import { figureOf } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { drawBars, lineAt, lineCount, linesOf, planBars } from "./bars.js";
import { chanceOf, cutTail, stateAfter, tokenAt } from "./cut.js";
import { SETTINGS } from "./settings.js";
import { readStates } from "./table.js";
import { describeKept, describeToken, fillTokens, visible } from "./words.js";

const LINE = 24; // pixels of one bar where the page does not say how high the widget is
const SKELETON = `
  <div class="ns-text" tabindex="0" role="region" aria-label="The text so far"><span></span><b></b><mark></mark></div>
  ${figureOf("ns-figure", "bars of tokens")}
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch ah-weight"></i>probability in the draw</span>
    <span class="ah-key"><i class="ah-own"></i>the model’s own</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>cut</span>
  </div>`;

/** The buttons that write: `write(count)` draws tokens, `back()` takes one back. */
function draw({ model, write, back }) {
  const ends = [button("Draw a token", () => write(1)), button("Draw ten", () => write(10))];
  const undo = button("Take one back", back);
  const label = element("div", { class: "ah-control ns-draw", role: "group", "aria-label": "Writing" },
    ...ends, undo);
  return { label, refresh: ({ over }) => { // disabled would lose the focus
    ends.forEach((node) => node.setAttribute("aria-disabled", over));
    undo.setAttribute("aria-disabled", !model.get("path").length);
  } };
}

class SamplerView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette, {
      skeleton: SKELETON, settings: SETTINGS, describe: describeKept, fill: fillTokens, makers: { draw },
      tools: { write: (count) => this.write(count), back: () => this.back() },
    });
    this.page = this.find(".ns-text");
    this.states = readStates(model);
    this.words = model.get("tokens").map(visible);
    this.marked = null;
    this.begin();
    this.listen();
  }

  /** The distribution after a path, cut as the settings say; `over` where there is none. */
  pictureAfter(path) {
    const [temperature, topK, topP, minP, end] = this.get("temperature", "top_k", "top_p", "min_p", "end");
    const { states, words: names } = this;
    const state = stateAfter(states, path);
    const shared = { names, size: names.length, temperature, over: state === null };
    if (state === null) return { ...shared, ended: path[path.length - 1] === end };
    return { ...shared, ...cutTail({ logits: states.logits(state), temperature, topK, topP, minP }) };
  }

  take({ path }) {
    this.showText();
    return this.pictureAfter(path);
  }

  /** The prompt, what was written, and the last token. */
  showText() {
    const [tokens, path, prompt, joiner] = this.get("tokens", "path", "prompt", "joiner");
    const words = path.map((id, n) => (n || prompt ? joiner : "") + tokens[id]);
    const [before, written, last] = this.page.children;
    before.textContent = prompt;
    written.textContent = words.slice(0, -1).join("");
    last.textContent = words.slice(-1).join("");
    this.page.scrollTop = this.page.scrollHeight;
  }

  tell() {
    super.tell();
    const id = this.markedToken();
    if (id !== null) this.said = this.readout.textContent = `${describeToken(this.picture, id)}. ${this.said}`;
  }

  /** The token on the marked line, or null. */
  markedToken() {
    if (this.marked === null || this.picture.over) return null;
    return linesOf(this.picture.order).shown[this.marked] ?? null;
  }

  plan({ width, height, ratio }) {
    const { size, names } = this.picture;
    const natural = 22 + LINE * lineCount(size);
    return planBars(this.canvas.getContext("2d"),
      { width, height: Math.max(22 + 12 * lineCount(size), height || natural), size, names, ratio });
  }

  draw() {
    drawBars(this.canvas, this.layout, this.picture, this.marked, this.palette);
  }

  /** What was written last, and the text. */
  news(name) {
    if (name !== "path") return this.said;
    const last = this.page.lastElementChild.textContent;
    const text = this.page.textContent.slice(-60);
    return last ? `written: “${visible(last)}”. ${text}` : `nothing is written. ${text}`;
  }

  /** Draws `count` tokens, or as many as the table holds. */
  write(count) {
    const [seed, draws] = this.get("seed", "draws");
    const path = [...this.model.get("path")];
    let made = 0;
    for (; made < count; made++) {
      const picture = this.pictureAfter(path);
      if (picture.over) break;
      path.push(tokenAt(picture.drawn, chanceOf(seed, draws + made)));
    }
    if (made) this.store({ path, draws: draws + made });
    else this.voice.say(describeKept(this.picture));
  }

  back() {
    const path = this.model.get("path");
    if (path.length) this.store({ path: path.slice(0, -1) });
  }

  /** Writes the marked token, if it can be drawn. */
  choose() {
    const id = this.markedToken();
    if (id === null || !this.picture.drawn[id]) return this.voice.say(this.said);
    return this.store({ path: [...this.model.get("path"), id] });
  }

  mark(line) {
    if (line === this.marked) return;
    this.marked = line;
    this.tell();
    this.draw();
  }

  onKey(name) {
    if (name === "Enter") return this.choose();
    if (name === "Backspace") return this.back();
    const last = this.picture.over ? 0 : linesOf(this.picture.order).shown.length - 1;
    const from = this.marked ?? 0;
    const to = { ArrowUp: from - 1, ArrowDown: from + 1, Home: 0, End: last }[name];
    if (to === undefined) return false;
    this.mark(limit(to, 0, last));
    return this.voice.say(this.said);
  }

  listen() {
    const { canvas } = this;
    const under = (event) => lineAt(this.layout, pointOn(canvas, event)[1]);
    canvas.addEventListener("focus", () => {
      if (this.marked === null) this.mark(0);
      this.voice.say(this.said);
    });
    canvas.addEventListener("blur", () => this.mark(null));
    canvas.addEventListener("pointermove", (event) => this.mark(under(event)));
    canvas.addEventListener("pointerleave", () => {
      if (document.activeElement !== canvas) this.mark(null);
    });
    canvas.addEventListener("click", (event) => { // not a drag that scrolls the page
      this.mark(under(event));
      this.choose();
    });
  }
}

export default onStage(SamplerView, "attn-heatmap attn-sampler");
