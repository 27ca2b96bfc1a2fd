// The second view: source above, target below, a line for each weight, gold links under the lines.
import { rgb } from "../core/cells.js";
import { onKeys } from "../core/gestures.js";
import { element } from "../core/inputs.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 132; // of the lines
const WIDEST = 8; // the line of the largest weight
export const NO_LINE = 0.02; // the weight below which there is none

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** The step that a key leads to, or null. */
export function stepAfter(key, step, count) {
  const to = {
    ArrowUp: step - 1, ArrowDown: step + 1, ArrowLeft: step - 1, ArrowRight: step + 1,
    PageUp: 0, PageDown: count - 1, Home: 0, End: count - 1,
  }[key];
  return to === undefined ? null : Math.min(Math.max(to, 0), count - 1);
}

export class WordLines {
  /** `goTo(step)` moves decoding; `point(i)` tells which target word is pointed at, or null. */
  constructor(label, { goTo, point }) {
    this.goTo = goTo;
    this.point = point;
    this.pointed = null;
    this.source = element("div", { class: "al-row", "aria-hidden": "true" });
    this.svg = shape("svg", { class: "al-links", "aria-hidden": "true", height: HEIGHT });
    this.target = element("div", {
      class: "al-row", role: "radiogroup", "aria-label": `Target tokens, ${label}`,
    });
    const inner = element("div", { class: "al-inner" }, this.source, this.svg, this.target);
    this.node = element("div", { class: "al-lines" }, inner);
  }

  /** Takes in the words of an example. */
  setWords(picture) {
    const word = (text) => element("span", { class: "al-chip" }, element("span", {}, text));
    this.source.replaceChildren(...picture.keyLabels.map(word));
    this.target.replaceChildren(...picture.queryLabels.map((text, i) => this.makeTarget(text, i)));
    this.pointed = null;
  }

  makeTarget(text, i) {
    const node = element("button", { type: "button", role: "radio", class: "al-chip" }, text);
    node.addEventListener("click", () => this.goTo(i));
    node.addEventListener("pointerenter", () => this.point(i));
    node.addEventListener("pointerleave", () => this.point(null));
    node.addEventListener("focus", () => { if (node.matches(":focus-visible")) this.point(i); });
    node.addEventListener("blur", () => this.point(null));
    onKeys(node, (name) => {
      const to = stepAfter(name, i, this.target.children.length);
      if (to === null) return false;
      this.goTo(to);
      return this.target.children[to].focus();
    });
    return node;
  }

  /** Shows the lines of target word `i` alone; of all when null. */
  setPointed(i) {
    this.pointed = i;
    this.mark();
  }

  /** Draws all lines up to the step, and marks the words. */
  draw(picture, palette) {
    this.picture = picture;
    this.markWords(); // first: the step's word is bold, and so wider
    const middle = (row) => [...row.children].map((node) => node.offsetLeft + node.offsetWidth / 2);
    const [above, below] = [middle(this.source), middle(this.target)];
    const path = (i, j) => `M${above[j]} 0C${above[j]} ${HEIGHT / 2} ${below[i]} ${HEIGHT / 2} ${below[i]} ${HEIGHT}`;
    const layers = [shape("g", {}), shape("g", {})];
    this.groups = picture.queryLabels.map((_, i) => {
      const groups = [this.goldLines(i, path), this.weightLines(i, path, palette)];
      groups.forEach((group, n) => layers[n].append(group));
      return groups;
    });
    this.svg.setAttribute("width", this.svg.parentNode.scrollWidth);
    this.svg.replaceChildren(...layers);
    this.palette = palette;
    this.mark();
  }

  goldLines(i, path) {
    const { keys, gold, possible } = this.picture;
    const group = shape("g", { "data-target": i });
    for (let j = 0; j < keys; j++) {
      const at = i * keys + j;
      if (!gold[at] && !possible[at]) continue;
      const kind = gold[at] ? "al-sure" : "al-possible";
      for (const part of ["al-edge", "al-bright"]) {
        group.append(shape("path", { d: path(i, j), class: `${kind} ${part}`, "data-source": j }));
      }
    }
    return group;
  }

  weightLines(i, path, palette) {
    const { keys, weights, vmax } = this.picture;
    const group = shape("g", { "data-target": i });
    const row = [...weights.subarray(i * keys, (i + 1) * keys).entries()];
    for (const [j, w] of row.filter(([, w]) => w >= NO_LINE).sort((a, b) => a[1] - b[1])) {
      const share = Math.min(1, w / vmax);
      group.append(shape("path", {
        d: path(i, j), class: "al-weight", "data-source": j, stroke: rgb(palette.ramp, share),
        "stroke-width": (0.75 + (WIDEST - 0.75) * share).toFixed(2),
      }));
    }
    return group;
  }

  /** The source words take the colours of the step's weights. */
  paintSource() {
    const { palette } = this;
    const { keys, weights, pinned, vmax, allowed } = this.picture;
    const i = this.pointed !== null && this.pointed <= pinned ? this.pointed : pinned;
    [...this.source.children].forEach((node, j) => {
      const share = Math.min(1, weights[i * keys + j] / vmax);
      node.classList.toggle("ah-masked", !allowed[i * keys + j]);
      node.style.background = share > 0 ? rgb(palette.ramp, share) : "";
      node.style.color = share > 0.45 ? palette.onLarge : share > 0 ? palette.onSmall : "";
    });
  }

  /** Which lines stand out, and the source words: those of the word pointed at, else of the step. */
  mark() {
    if (!this.groups) return;
    const { pinned } = this.picture;
    this.node.classList.toggle("al-pointed", this.pointed !== null);
    const own = this.pointed ?? pinned;
    this.groups.forEach((groups, i) => groups.forEach((group) => {
      group.classList.toggle("al-later", i > pinned);
      group.classList.toggle("al-own", i === own);
    }));
    this.paintSource();
  }

  markWords() {
    const { pinned } = this.picture;
    [...this.target.children].forEach((node, i) => {
      node.classList.toggle("al-later", i > pinned);
      node.setAttribute("aria-checked", i === pinned);
      node.tabIndex = i === pinned ? 0 : -1;
    });
  }

  /** Brings the step's word into the frame, if the sentence is too long for it. */
  reveal(step) {
    const word = this.target.children[step];
    const { node } = this;
    if (node.scrollWidth > node.clientWidth) {
      node.scrollLeft = word.offsetLeft + word.offsetWidth / 2 - node.clientWidth / 2;
    }
  }
}
