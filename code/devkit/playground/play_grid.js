// Every head small, as in the layer × head browser; under each a switch that takes it out.
import { LayerGrid } from "../attnbook/widgets/browse/grid.js";
import { headName } from "../attnbook/widgets/browse/words.js";
import { element } from "../attnbook/widgets/core/inputs.js";

export class PlayGrid extends LayerGrid {
  /** `choose(layer, head)` makes a head the large one, `toggle` takes it out or puts it back. */
  constructor(choose, toggle) {
    super(choose);
    this.toggle = toggle;
    this.node.setAttribute("role", "group"); // radio buttons and switches
  }

  build(numbered) {
    this.switches = [];
    super.build(numbered);
  }

  makeCell(layer, head, numbered) {
    const map = super.makeCell(layer, head, numbered);
    const node = element("button", {
      type: "button", role: "switch", class: "pg-switch", "aria-label": `${headName(layer, head)} at work`,
    });
    node.addEventListener("click", () => this.toggle(layer, head));
    this.switches.push({ node, layer, head });
    return element("div", { class: "pg-cell" }, map, node);
  }

  /** `isOut(layer, head)` says which heads are out. */
  drawSwitches(isOut) {
    for (const { node, layer, head } of this.switches) {
      const out = isOut(layer, head);
      node.setAttribute("aria-checked", !out);
      node.textContent = out ? "out" : "in";
      node.parentNode.classList.toggle("pg-out", out);
    }
  }
}
