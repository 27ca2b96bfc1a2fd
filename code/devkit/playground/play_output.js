// The translation: its tokens as they are written, their candidates, and what the changes changed.
import { element } from "../attnbook/widgets/core/inputs.js";
import { numeral } from "../attnbook/widgets/core/words.js";
import { shown } from "./play_scene.js";
import { frenchText } from "./play_text.js";

const percent = (p) => (p < 0.005 ? "< 1%" : `${numeral(100 * p, 0)}%`);

export class Output {
  constructor() {
    this.text = element("p", { class: "pg-text", lang: "fr" });
    this.tokens = element("div", { class: "pg-tokens", role: "group", "aria-label": "Tokens written" });
    this.plain = element("p", { class: "pg-plain" });
    this.candidates = element("p", { class: "pg-candidates" });
    this.status = element("p", { class: "ah-hidden", role: "status" });
    this.node = element("div", { class: "pg-output" }, this.text, this.tokens, this.candidates, this.plain, this.status);
    this.clear();
    this.candidates.textContent = "The French sentence will appear here, token by token.";
  }

  /** Whether a translation is on its way. */
  busy(on) {
    this.node.setAttribute("aria-busy", on);
  }

  clear() {
    this.busy(false);
    this.steps = [];
    this.chosen = null;
    this.tokens.replaceChildren();
    for (const node of [this.text, this.plain, this.candidates]) node.textContent = "";
  }

  /** The model is on its way: what stands there stays until it answers. */
  wait(message) {
    this.busy(true);
    if (this.steps.length) this.plain.textContent = message;
    else this.text.textContent = message;
    this.status.textContent = message;
  }

  /** A new sentence is being written: what stands there goes with the first token. */
  begin() {
    this.fresh = true;
    this.busy(true);
  }

  /** One more token, the likeliest of `top`: [[token, p], ...]. */
  write(top) {
    if (this.fresh) {
      this.fresh = false;
      this.clear();
      this.busy(true);
    }
    const n = this.steps.push(top) - 1;
    const [[token, p]] = top;
    const node = element("button", {
      type: "button", class: "pg-token", lang: "fr", "aria-pressed": "false", style: `--pg-p: ${p.toFixed(3)}`,
    }, shown(token));
    const choose = () => this.choose(n);
    node.addEventListener("click", choose);
    node.addEventListener("focus", choose);
    node.addEventListener("pointerenter", choose);
    this.tokens.append(node);
  }

  /** The candidates of step `n`. */
  choose(n) {
    this.chosen = n;
    [...this.tokens.children].forEach((node, at) => node.setAttribute("aria-pressed", at === n));
    const listed = this.steps[n].map(([token, p]) => `${shown(token)} ${percent(p)}`).join(" · ");
    this.candidates.textContent = `Step ${n + 1}: ${listed}`;
  }

  /** All is written; `plain`, if the reader changed something, is what the model writes without. */
  finish(tokens, names, plain) {
    this.busy(false);
    const sentence = (words) => frenchText(words.filter((word) => word !== "<eos>").map(shown), names);
    this.text.textContent = sentence(tokens);
    const changed = plain && tokens.join(" ") !== plain.join(" ");
    [...this.tokens.children].forEach((node, n) => {
      const other = Boolean(changed) && tokens[n] !== plain[n];
      node.classList.toggle("pg-changed", other);
    });
    this.plain.textContent = !plain ? ""
      : changed ? `Without your changes: ${sentence(plain)}` : "Your changes leave the translation as it was.";
    this.candidates.textContent ||= "Point at a token, or focus it, to see what else could have stood there.";
    this.status.textContent = `Translation: ${this.text.textContent} ${this.plain.textContent}`;
  }

  fail(message) {
    this.clear();
    this.text.textContent = message;
    this.status.textContent = message;
  }
}
