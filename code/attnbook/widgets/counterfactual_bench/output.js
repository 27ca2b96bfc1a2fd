// Beside the weights: the rungs, and a table of the likeliest classes, before and now.
import { element } from "../core/inputs.js";
import { shortWeight } from "../core/words.js";

export const RUNGS = ["seen", "correlated", "intervened", "judged by truth"];
const MOST = 5; // classes in the table

export class Rungs {
  constructor() {
    this.steps = RUNGS.map((name) => element("li", {}, name));
    this.node = element("ol", { class: "cb-rungs", "aria-label": "Rungs" }, ...this.steps);
  }

  /** Marks the rungs that are stood on. */
  show(reached) {
    this.steps.forEach((step, n) => {
      if (reached.includes(n)) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
  }
}

export class Output {
  constructor(classes) {
    this.classes = classes;
    const head = (text) => element("th", { scope: "col" }, text);
    this.rows = classes.slice(0, MOST).map(() => {
      const bars = [element("i"), element("i")];
      const cells = [element("td"), element("td")];
      const name = element("th", { scope: "row" });
      const node = element("tr", {}, name, element("td", { class: "cb-bars", "aria-hidden": "true" }, ...bars), ...cells);
      return { node, name, bars, cells };
    });
    const top = element("tr", {}, head("output"), element("td"), head("as trained"), head("now"));
    this.node = element("table", { class: "cb-output" }, top, ...this.rows.map(({ node }) => node));
  }

  /** The classes with the largest share, before or now. */
  show(before, now) {
    const most = (c) => Math.max(before[c], now[c]);
    const order = [...before.keys()].sort((a, b) => most(b) - most(a) || a - b);
    if (before.length <= 2) order.sort((a, b) => a - b);
    this.rows.forEach(({ name, bars, cells }, n) => {
      name.textContent = this.classes[order[n]];
      [before, now].forEach((shares, which) => {
        bars[which].style.width = `${100 * shares[order[n]]}%`;
        cells[which].textContent = shortWeight(shares[order[n]]);
      });
    });
  }
}
