// The sentence: a field to type in, examples, and what the model does not know of it.
import { button, element, segments, select } from "../attnbook/widgets/core/inputs.js";
import { englishText, nearest, slipOf, tokenize } from "./play_text.js";

const MARKS = { ".": "full stop", "?": "question mark", "!": "exclamation mark" };
const ASKING = new Set(("am are can could did do does had has have how is may shall should was were what when where "
  + "which who whose why will would").split(" ")); // what questions begin with

/**
 * The tokens of a typed sentence as a model reads them: slips mended, and with a last mark if it has
 * never seen a sentence without (`bare`). `unknown`: the words that it does not know, `slips`: what
 * it reads for some of them.
 */
export function readSentence(text, known, { longest, bare }) {
  const typed = tokenize(text);
  const unknown = [...new Set(typed.filter((word) => !known.has(word)))];
  const slips = new Map(unknown.map((word) => [word, slipOf(word, [...known.keys()])]).filter(([, word]) => word));
  const words = typed.map((word) => slips.get(word) ?? word);
  const mark = ASKING.has(words[0]) ? "?" : ".";
  const added = !bare && words.length && !(words.at(-1) in MARKS) && known.has(mark) ? mark : "";
  if (added) words.push(added);
  return { words, added, unknown, slips, long: words.length > longest };
}

export class Sentence {
  /**
   * `models`: [{label, examples, about}, ...]. `change(text)` is called while the reader types,
   * `wake()` when a model is wanted, `choose(n)` when it is another one.
   */
  constructor({ models, change, wake, choose }) {
    this.change = change;
    this.input = element("input", {
      type: "text", class: "pg-input", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      maxlength: "400", lang: "en", enterkeyhint: "go", "aria-describedby": "pg-notes",
    });
    this.go = element("button", { type: "submit", class: "ah-button pg-go" }, "Translate");
    this.pick = element("div", { class: "pg-examples" });
    this.about = element("p", { class: "pg-about" });
    this.notes = element("div", { class: "pg-notes", id: "pg-notes" });
    this.node = element("form", { class: "pg-form" },
      element("label", { class: "pg-field" }, element("span", {}, "English sentence"), this.input), this.go,
      this.pick);
    if (models.length > 1) {
      const { label, show } = segments("Model", models.map((model, n) => [n, model.label]), (n) => {
        this.use(models[n]);
        choose(n);
      });
      show(0);
      this.node.prepend(label);
      label.classList.add("pg-models");
    }
    this.node.addEventListener("submit", (event) => { event.preventDefault(); wake(); });
    this.input.addEventListener("focus", wake, { once: true });
    this.input.addEventListener("input", () => this.changed());
    this.use(models[0]);
  }

  /** Shows the examples of a model, the first in the field. */
  use({ examples, about }) {
    this.examples = examples.map(englishText);
    this.choice = select("Example", this.examples, (n) => this.set(this.examples[n]));
    this.pick.replaceChildren(this.choice.label);
    this.about.textContent = about;
    this.input.value = this.examples[0] ?? "";
  }

  get text() {
    return this.input.value;
  }

  /** Puts tokens into the field, and calls nobody. */
  put(tokens) {
    this.input.value = englishText(tokens);
    this.choice.show(this.examples.indexOf(this.text));
  }

  set(text) {
    this.input.value = text;
    this.changed();
  }

  /** The list shows an example only as long as that is what stands in the field. */
  changed() {
    this.choice.show(this.examples.indexOf(this.text));
    this.change(this.text);
  }

  /** Says what is unknown, with the nearest known words, each a button that takes its place. */
  note({ unknown, slips, added, long }, vocabulary, longest) {
    const lines = unknown.slice(0, 5).map((word) => element("p", {},
      `The model does not know “${word}” and reads ${slips.has(word) ? `“${slips.get(word)}”` : "⟨unknown⟩"}. Nearest known words: `,
      ...nearest(word, vocabulary).map((known) => button(known, () => this.replace(word, known),
        { class: "ah-button pg-near", "aria-label": `Replace ${word} by ${known}` }))));
    if (unknown.length > 5) lines.push(element("p", {}, `And ${unknown.length - 5} more unknown words.`));
    if (added) lines.push(element("p", {}, `A ${MARKS[added]} was added: the sentences that it learnt from end in a mark.`));
    if (long) lines.push(element("p", {}, `It has learnt from sentences of at most ${longest} tokens; this one is longer.`));
    this.notes.replaceChildren(...lines);
  }

  replace(word, known) {
    this.set(englishText(tokenize(this.text).map((token) => (token === word ? known : token))));
    this.input.focus();
  }
}
