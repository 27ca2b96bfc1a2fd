// All heads as small maps on the one scale of the large one; the chosen head is the large map.
import { drawSmall } from "../core/draw.js";
import { limit, onKeys } from "../core/gestures.js";
import { element } from "../core/inputs.js";
import { planGrid } from "../core/layout.js";
import { readShape, takePicture } from "./picture.js";

export class HeadGrid {
  constructor(model) {
    this.model = model;
    this.node = element("div", { class: "ah-heads", role: "radiogroup", "aria-label": "Heads" });
    this.cells = model.get("head_labels").map((label, head) => this.makeCell(label, head));
    this.node.append(...this.cells.map((cell) => cell.node));
  }

  makeCell(label, head) {
    const canvas = element("canvas", { "aria-hidden": "true" });
    const node = element("button", { type: "button", role: "radio", class: "ah-head", title: label },
      element("span", { class: "ah-small" }, canvas), element("span", { class: "ah-name" }, label));
    node.addEventListener("click", () => this.choose(head));
    onKeys(node, (name) => this.onKey(name, head));
    return { node, canvas };
  }

  choose(head) {
    this.model.set({ head });
    this.model.save_changes();
  }

  onKey(name, head) {
    const { columns } = this.layout;
    const last = this.cells.length - 1;
    const to = {
      ArrowRight: head + 1, ArrowLeft: head - 1, ArrowDown: head + columns, ArrowUp: head - columns,
      Home: 0, End: last,
    }[name];
    if (to === undefined) return false;
    this.choose(limit(to, 0, last));
    return this.cells[limit(to, 0, last)].node.focus();
  }

  place(width, ratio) {
    const { queries, keys } = readShape(this.model);
    this.layout = planGrid({ width, count: this.cells.length, queries, keys, ratio });
    const { columns, gap, side } = this.layout;
    this.node.style.gridTemplateColumns = `repeat(${columns}, ${side + 6}px)`;
    this.node.style.columnGap = `${gap}px`;
  }

  draw(arrays, palette) {
    const shown = this.model.get("head");
    this.cells.forEach(({ node, canvas }, head) => {
      drawSmall(canvas, this.layout, takePicture(this.model, arrays, head), palette);
      node.setAttribute("aria-checked", head === shown);
      node.tabIndex = head === shown ? 0 : -1;
    });
  }
}
