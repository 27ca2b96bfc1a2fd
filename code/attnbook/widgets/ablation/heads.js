// The heads side by side on one scale, each a switch that takes its head out or puts it back.
import { drawMap, drawSmall } from "../core/draw.js";
import { frameRow } from "../core/frames.js";
import { element } from "../core/inputs.js";
import { planLayout, squareCells } from "../core/layout.js";

const GAP = 16;
const LABELLED = 240; // pixels that a map with labels needs
const LARGEST = 26; // of a cell
const STACKED = 20; // of a cell, where the maps stand one above the other

/** How `count` maps share `width` pixels: columns, the width of each, and whether it has labels. */
export function planHeads(width, count) {
  const most = width < 480 ? 2 : 4;
  const lines = Math.ceil(count / most);
  const columns = Math.ceil(count / lines);
  const share = Math.floor((width - GAP * (columns - 1)) / columns);
  // Two maps keep their labels on a phone: one above the other.
  if (count === 2 && share < LABELLED) return { columns: 1, share: width, labelled: true };
  return { columns, share, labelled: share >= LABELLED };
}

export class HeadSwitches {
  /** `toggle(head)` takes a head out or puts it back. */
  constructor(labels, toggle) {
    this.node = element("div", { class: "ab-heads", role: "group", "aria-label": "Heads: in or out" });
    this.cells = labels.map((label, head) => {
      const canvas = element("canvas", { "aria-hidden": "true" });
      const mark = element("div", { class: "ab-mark" });
      const state = element("span", { class: "ab-state", "aria-hidden": "true" });
      const node = element("button", { type: "button", role: "switch", class: "ab-head", "aria-label": label },
        element("span", { class: "ab-name" }, element("b", {}, label), state),
        element("span", { class: "ab-map" }, canvas, mark));
      node.addEventListener("click", () => toggle(head));
      return { node, canvas, mark, state };
    });
    this.node.append(...this.cells.map((cell) => cell.node));
  }

  /** Shares out `width` pixels; a map is at most `height` high. */
  place(width, { queries, keys, queryLabels, keyLabels, ratio }, height = Infinity) {
    const { columns, share, labelled } = planHeads(width, this.cells.length);
    this.lines = Math.ceil(this.cells.length / columns);
    this.labelled = labelled;
    const inner = share - 12; // padding and frame
    const largest = this.lines > 1 && labelled ? STACKED : LARGEST;
    this.layout = labelled
      ? planLayout(this.cells[0].canvas.getContext("2d"), {
        width: inner, height: Math.min(56 + largest * queries, height), queryLabels, keyLabels, ratio,
      })
      : squareCells(Math.min(LARGEST, (inner - 1) / keys, (height - 1) / queries), { queries, keys, ratio });
    this.node.style.gridTemplateColumns = `repeat(${columns}, ${share}px)`;
    this.node.style.gap = `10px ${GAP}px`;
  }

  draw(pictures, out, query, palette) {
    const { left, cellWidth } = this.layout;
    this.cells.forEach(({ node, canvas, mark, state }, head) => {
      (this.labelled ? drawMap : drawSmall)(canvas, this.layout, pictures[head], palette);
      const working = !out.includes(head);
      node.setAttribute("aria-checked", working);
      node.classList.toggle("ab-out", !working);
      state.textContent = working ? "in" : "out";
      mark.hidden = query === null;
      if (query === null) return;
      frameRow(mark, this.layout, query, left, pictures[head].keys * cellWidth);
    });
  }
}
