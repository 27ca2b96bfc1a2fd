// All heads as small maps on the one scale of the large one; the chosen head is the large map.
import { drawSmall } from "../core/draw.js";
import { element } from "../core/inputs.js";
import { planGrid } from "../core/layout.js";
import { readShape, takePicture } from "./picture.js";

/** The head that a key leads to from `head`, or null. */
function headAfter(key, head, columns, count) {
  const to = {
    ArrowRight: head + 1, ArrowLeft: head - 1, ArrowDown: head + columns, ArrowUp: head - columns,
    Home: 0, End: count - 1,
  }[key];
  return to === undefined ? null : Math.min(Math.max(to, 0), count - 1);
}

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
    node.addEventListener("keydown", (event) => this.onKey(event, head));
    return { node, canvas };
  }

  choose(head) {
    this.model.set({ head });
    this.model.save_changes();
  }

  onKey(event, head) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = headAfter(event.key, head, this.layout.columns, this.cells.length);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation(); // the book would turn the page
    this.choose(to);
    this.cells[to].node.focus();
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
