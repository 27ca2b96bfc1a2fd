// The output: for each query what the model says and what is right, and how often it is right.
import { onKeys } from "../core/gestures.js";
import { element } from "../core/inputs.js";

const row = (name, ...cells) => element("tr", {}, element("th", { scope: "row" }, name), ...cells);

export class OutputTable {
  /** `choose(query)` marks a query; `step(by)` goes on from the marked one. */
  constructor({ inputs, relations, queries, choose, step }) {
    const line = (make) => Array.from({ length: queries }, (_, i) => {
      const cell = make(i);
      cell.addEventListener("pointerenter", () => choose(i));
      cell.addEventListener("click", () => choose(i));
      return cell;
    });
    this.inputs = inputs.map(() => line(() => element("td", { class: "ab-input" })));
    this.said = relations.map(() => line(() =>
      element("td", { class: "ab-said" }, element("span"), element("small"))));
    this.table = element("table", { class: "ab-output", tabindex: "0", "aria-label": "Output, a column for each query" },
      ...this.inputs.map((cells, n) => row(inputs[n], ...cells)),
      ...this.said.map((cells, r) => row(relations[r], ...cells)));
    onKeys(this.table, (name) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, Home: -queries, End: queries }[name];
      return by === undefined ? false : step(by);
    });
    this.node = element("div", { class: "ab-scroll" }, this.table);
  }

  show({ inputs, said, right, classes, query }) {
    inputs.forEach((labels, n) => this.inputs[n].forEach((cell, i) => {
      cell.textContent = labels[i];
      cell.classList.toggle("ab-here", i === query);
    }));
    const relations = this.said.length;
    this.said.forEach((cells, r) => cells.forEach((cell, i) => {
      const [found, answer] = [said[i * relations + r], right[i * relations + r]];
      const wrong = found !== answer;
      cell.classList.toggle("ab-wrong", wrong);
      cell.classList.toggle("ab-here", i === query);
      cell.firstChild.textContent = classes[found];
      cell.lastChild.textContent = wrong ? `not ${classes[answer]}` : "✓";
      cell.lastChild.setAttribute("aria-label", wrong ? `wrong, ${classes[answer]} is right` : "right");
    }));
  }
}

export class Bars {
  constructor(names) {
    this.parts = names.map((name) => {
      const fill = element("i");
      const number = element("output", { "aria-live": "off" });
      const node = element("div", { class: "ab-score" }, element("span", {}, name),
        element("span", { class: "ab-bar", "aria-hidden": "true" }, fill), number);
      return { node, fill, number };
    });
    this.node = element("div", { class: "ab-scores" }, ...this.parts.map((part) => part.node));
  }

  show(counts, total) {
    this.parts.forEach(({ fill, number }, r) => {
      fill.style.width = `${(100 * counts[r]) / total}%`;
      number.textContent = `${counts[r]} of ${total}`;
    });
  }
}
