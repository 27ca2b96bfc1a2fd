// One model: its name, its heat map or lines, and the card of the step.
import { fadeLater } from "../core/cells.js";
import { drawMap, sizeCanvas } from "../core/draw.js";
import { Frames } from "../core/frames.js";
import { limit, onKeys, pointOn } from "../core/gestures.js";
import { element } from "../core/inputs.js";
import { cellAt } from "../core/layout.js";
import { cardHeight, fillCard } from "./card.js";
import { takeStep } from "./data.js";
import { stepAfter, WordLines } from "./lines.js";

const PARTS = `
  <p class="al-model"></p>
  <div class="al-body">
    <div class="al-figure">
      <div class="ah-map">
        <canvas tabindex="0" role="application" aria-roledescription="heat map"></canvas>
        <canvas class="al-gutter" aria-hidden="true"></canvas>
        <div class="ah-row" hidden></div>
        <div class="ah-ring" hidden></div>
      </div>
    </div>
    <div class="al-card"></div>
  </div>`;

/** `goTo(step)` moves decoding; `point(cell)` tells what is pointed at; `enter()`: focus came. */
export class AlignmentPanel {
  constructor(label, actions) {
    this.label = label;
    this.actions = actions;
    this.node = element("section", { class: "al-panel", "aria-label": label });
    this.node.innerHTML = PARTS;
    const find = (selector) => this.node.querySelector(selector);
    [this.name, this.figure, this.map, this.canvas, this.gutter, this.card] = [
      ".al-model", ".al-figure", ".ah-map", "canvas", ".al-gutter", ".al-card",
    ].map(find);
    this.name.textContent = label;
    this.frames = new Frames(this.node);
    this.whole = { canvas: element("canvas") };
    this.table = element("table");
    this.lines = new WordLines(label, {
      goTo: actions.goTo,
      point: (i) => actions.point(i === null ? null : { i, j: null }),
    });
    this.figure.append(this.lines.node);
    this.listen();
  }

  listen() {
    const { canvas, actions } = this;
    const under = (event) => {
      const { queries, keys } = this.picture;
      return cellAt(this.layout, ...pointOn(canvas, event), queries, keys);
    };
    canvas.addEventListener("pointermove", (event) => actions.point(under(event)));
    canvas.addEventListener("pointerdown", (event) => actions.point(under(event)));
    canvas.addEventListener("pointerleave", () => actions.point(null));
    canvas.addEventListener("click", (event) => {
      const cell = under(event);
      if (cell) actions.goTo(cell.i);
    });
    canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) actions.enter(); });
    onKeys(canvas, (name) => this.onKey(name));
  }

  /** Up and down step through decoding; left and right read the step's row. */
  onKey(name) {
    const { pinned, queries, keys } = this.picture;
    const from = this.cell?.i === pinned ? this.cell.j ?? -1 : -1;
    const column = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: keys - 1 }[name];
    if (column !== undefined) {
      return this.actions.point({ i: pinned, j: limit(column, 0, keys - 1) }, true);
    }
    const step = stepAfter(name, pinned, queries);
    return step === null ? false : this.actions.goTo(step);
  }

  /** Takes in a picture of another example. */
  setExample(picture) {
    this.picture = picture;
    this.lines.setWords(picture);
  }

  /** Shows the heat map, by its layout, or without one the lines; `beside`: the card stands beside. */
  place(layout, beside) {
    this.layout = layout;
    this.map.hidden = !layout;
    this.lines.node.hidden = Boolean(layout);
    this.node.classList.toggle("al-beside", beside);
    this.cardHeight = cardHeight(this.card, this.picture);
  }

  draw(picture, palette, cell) {
    this.picture = picture;
    if (this.layout) this.drawMap(palette);
    else this.lines.draw(picture, palette);
    fillCard(this.card, picture, picture.pinned);
    this.frame(cell);
  }

  /** The whole map is painted once, then copied for each step and its later rows faded. */
  drawMap(palette) {
    const { canvas, whole, layout, picture } = this;
    const of = [layout, palette, picture.weights, picture.vmax];
    if (of.some((part, n) => part !== whole.of?.[n])) {
      drawMap(whole.canvas, layout, { ...picture, dimLater: false }, palette);
      whole.of = of;
    }
    const ctx = sizeCanvas(canvas, layout);
    ctx.drawImage(whole.canvas, 0, 0, canvas.width / layout.ratio, canvas.height / layout.ratio);
    fadeLater(ctx, layout, picture);
    this.drawGutter();
  }

  /** Where the map scrolls, its row labels stay: a copy of them stands over it. */
  drawGutter() {
    this.gutter.hidden = this.map.scrollWidth <= this.map.clientWidth;
    if (this.gutter.hidden) return;
    this.gutter.width = Math.round(this.layout.left * this.layout.ratio);
    this.gutter.height = this.canvas.height;
    this.gutter.style.width = `${this.gutter.width / this.layout.ratio}px`;
    this.gutter.style.height = this.canvas.style.height;
    this.gutter.getContext("2d").drawImage(this.canvas, 0, 0);
  }

  frame(cell) {
    this.cell = cell;
    if (!this.layout) {
      this.lines.setPointed(cell ? cell.i : null);
      return;
    }
    const reached = cell && cell.j !== null && cell.i <= this.picture.pinned;
    this.frames.show(this.picture, this.layout, reached ? cell : null);
  }

  /** Brings what the step looked at into the frame, where the sentence is too long for it. */
  reveal() {
    const { pinned } = this.picture;
    if (!this.layout) {
      this.lines.reveal(pinned);
    } else if (this.map.scrollWidth > this.map.clientWidth) {
      const { best } = takeStep(this.picture, pinned);
      const { left, cellWidth } = this.layout;
      const middle = (this.map.clientWidth + left) / 2; // of what the row labels leave free
      this.map.scrollLeft = left + (best + 0.5) * cellWidth - middle;
    }
  }
}
