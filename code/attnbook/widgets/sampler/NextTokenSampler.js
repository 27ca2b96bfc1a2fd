// The sampler: a next-token distribution, what temperature and cuts leave of it, and a text drawn.
import { limit, onKeys, pointOn } from "../core/gestures.js";
import { HEARD } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { drawBars, lineAt, lineCount, linesOf, planBars } from "./bars.js";
import { makeSamplerControls } from "./controls.js";
import { chanceOf, cutTail, stateAfter, tokenAt } from "./cut.js";
import { readStates } from "./table.js";
import { describeKept, describeToken, fillTokens, visible } from "./words.js";

const LINE = 24; // pixels of one bar where the page does not say how high the widget is
const WATCHED = ["temperature", "top_k", "top_p", "min_p", "path", "title", "alt"];
const SKELETON = `
  <p class="ah-title"></p>
  <div class="ns-text" tabindex="0" role="region" aria-label="The text so far"><span></span><b></b><mark></mark></div>
  <div class="ns-figure">
    <canvas tabindex="0" role="application" aria-roledescription="bars of tokens"></canvas>
  </div>
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch ns-drawn"></i>probability in the draw</span>
    <span class="ah-key"><i class="ns-own"></i>the model’s own</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>cut</span>
  </div>
  ${HEARD}`;

class SamplerView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, SKELETON);
    this.bars = this.find("canvas");
    this.figure = this.find(".ns-figure");
    this.page = this.find(".ns-text");
    this.states = readStates(model);
    this.names = model.get("tokens").map(visible);
    this.marked = null;
    this.controls = makeSamplerControls(model, {
      write: (count) => this.write(count), back: () => this.back(),
    });
    this.title.after(this.controls.node);
    this.compute();
    this.place();
    this.speakLater("");
    this.listen();
    this.follow(WATCHED, (name) => this.read(name));
  }

  /** The distribution after a path, cut as the settings say; `over` where there is none. */
  pictureAfter(path) {
    const [temperature, topK, topP, minP, end] = this.get("temperature", "top_k", "top_p", "min_p", "end");
    const { states, names } = this;
    const state = stateAfter(states, path);
    const shared = { names, size: names.length, temperature, over: state === null };
    if (state === null) return { ...shared, ended: path[path.length - 1] === end };
    return { ...shared, ...cutTail({ logits: states.logits(state), temperature, topK, topP, minP }) };
  }

  compute() {
    this.picture = this.pictureAfter(this.model.get("path"));
    this.showTitle(this.bars);
    this.showText();
    this.controls.refresh(this.picture);
    this.showWords();
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

  showWords() {
    const kept = describeKept(this.picture);
    const id = this.markedToken();
    this.readout.textContent = id === null ? kept : `${describeToken(this.picture, id)}. ${kept}`;
  }

  /** The token on the marked line, or null. */
  markedToken() {
    if (this.marked === null || this.picture.over) return null;
    return linesOf(this.picture.order).shown[this.marked] ?? null;
  }

  /** Shares out the room. In the static page the box's height is fixed: the bars take the rest. */
  place() {
    const ratio = this.measure();
    const width = this.figure.clientWidth || 640;
    const { size } = this.picture;
    const natural = 22 + LINE * lineCount(size);
    const height = Math.max(22 + 12 * lineCount(size), Math.floor(this.restFor(this.figure)) || natural);
    this.plan = planBars(this.bars.getContext("2d"), { width, height, size, names: this.names, ratio });
    this.draw();
  }

  draw() {
    drawBars(this.bars, this.plan, this.picture, this.marked, this.palette);
  }

  read(name) {
    this.compute();
    this.draw();
    if (name !== "path") this.speakLater(this.readout.textContent);
    else this.speakLater(this.heardText());
  }

  /** What was written last, and the text; the table follows. */
  heardText() {
    const last = this.page.lastElementChild.textContent;
    const text = this.page.textContent.slice(-60);
    return last ? `written: “${visible(last)}”. ${text}` : `nothing is written. ${text}`;
  }

  /** Table and voice follow when a slider rests. */
  speakLater(text) {
    const { table } = this.voice;
    this.voice.later(() => fillTokens(table, this.picture, this.model.get("alt")), text);
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
    if (id === null || !this.picture.drawn[id]) return this.voice.say(this.readout.textContent);
    return this.store({ path: [...this.model.get("path"), id] });
  }

  mark(line) {
    if (line === this.marked) return;
    this.marked = line;
    this.showWords();
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
    return this.voice.say(this.readout.textContent);
  }

  listen() {
    const under = (event) => lineAt(this.plan, pointOn(this.bars, event)[1]);
    onKeys(this.bars, (name) => this.onKey(name));
    this.bars.addEventListener("focus", () => {
      if (this.marked === null) this.mark(0);
      this.voice.say(this.readout.textContent);
    });
    this.bars.addEventListener("blur", () => this.mark(null));
    this.bars.addEventListener("pointermove", (event) => this.mark(under(event)));
    this.bars.addEventListener("pointerleave", () => {
      if (document.activeElement !== this.bars) this.mark(null);
    });
    this.bars.addEventListener("click", (event) => { // not a drag that scrolls the page
      this.mark(under(event));
      this.choose();
    });
  }
}

export default onStage(SamplerView, "attn-heatmap attn-sampler");
