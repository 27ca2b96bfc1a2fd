// Every head small, layers in rows and heads in columns, on the one scale of the large map.
import { drawSmall } from "../core/draw.js";
import { cellAfter, onKeys } from "../core/gestures.js";
import { element } from "../core/inputs.js";
import { numeral } from "../core/words.js";
import { takeMap } from "./data.js";
import { planSmall } from "./layout.js";
import { headName, numberText } from "./words.js";

export class LayerGrid {
  /** `choose(layer, head)` makes a head the large one. */
  constructor(choose) {
    this.choose = choose;
    this.node = element("div", { class: "lb-grid", role: "radiogroup", "aria-label": "Layers and heads" });
  }

  /** Builds the cells of another kind, or moves them into other room. */
  place({ layers, heads, queries, keys, numbers }, plan, ratio) {
    const [was, form] = [this.form, `${layers} ${heads} ${Boolean(numbers)}`];
    this.form = form;
    Object.assign(this, { layers, heads });
    if (form !== was) this.build(Boolean(numbers));
    this.layout = planSmall(plan.side, { queries, keys }, ratio);
    const { node } = this;
    node.style.gridTemplateColumns = `${plan.gutter - plan.gap.x}px repeat(${heads}, ${plan.side + plan.frame}px)`;
    node.style.gap = `${plan.gap.y}px ${plan.gap.x}px`;
    node.style.width = `${plan.gridWidth}px`;
    node.style.setProperty("--lb-side", `${plan.side}px`);
    this.tiny = plan.side < 26;
    node.classList.toggle("lb-tiny", this.tiny);
  }

  build(numbered) {
    const name = (text, more = "") => element("span", { class: `lb-name ${more}`, "aria-hidden": "true" }, text);
    this.cells = [];
    this.node.replaceChildren(name("head", "lb-layer"));
    for (let head = 0; head < this.heads; head++) this.node.append(name(String(head + 1)));
    for (let layer = 0; layer < this.layers; layer++) {
      this.node.append(name(`layer ${layer + 1}`, "lb-layer"));
      for (let head = 0; head < this.heads; head++) this.node.append(this.makeCell(layer, head, numbered));
    }
  }

  makeCell(layer, head, numbered) {
    const canvas = element("canvas", { "aria-hidden": "true" });
    const node = element("button", { type: "button", role: "radio", class: "ah-head lb-head" },
      element("span", { class: "lb-small" }, canvas));
    const number = numbered ? element("span", { class: "lb-number" }) : null;
    if (number) node.append(number);
    node.addEventListener("click", () => this.choose(layer, head));
    onKeys(node, (name) => this.onKey(name, layer, head));
    this.cells.push({ node, canvas, number, layer, head });
    return node;
  }

  onKey(name, layer, head) {
    const to = cellAfter(name, { i: layer, j: head }, this.layers, this.heads);
    if (!to) return false;
    this.choose(to.i, to.j);
    return this.cells[to.i * this.heads + to.j].node.focus();
  }

  /** Draws every map: as the scene, the room or the page's colours changed. */
  draw(scene, label, palette) {
    this.cells.forEach(({ node, canvas, number, layer, head }) => {
      const picture = takeMap(scene, layer, head);
      drawSmall(canvas, this.layout, { ...picture, pinned: null }, palette);
      const more = numberText(picture.number, label);
      node.setAttribute("aria-label", headName(layer, head) + (more && `, ${more}`));
      node.title = node.getAttribute("aria-label");
      if (number) number.textContent = numeral(picture.number, 2).replace(/^0/, this.tiny ? "" : "0");
    });
    this.mark(scene);
  }

  /** Marks the chosen head. */
  mark(scene) {
    this.cells.forEach(({ node, layer, head }) => {
      const chosen = layer === scene.layer && head === scene.head;
      node.setAttribute("aria-checked", chosen);
      node.tabIndex = chosen ? 0 : -1;
    });
  }
}
