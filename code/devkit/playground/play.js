// The playground: a sentence goes in, a worker translates, the maps show how; all may be changed.
import { element } from "../attnbook/widgets/core/inputs.js";
import { applyTheme } from "../attnbook/widgets/core/theme.js";
import { Controls, makeLegend } from "./play_controls.js";
import { Engine } from "./play_engine.js";
import { Maps } from "./play_maps.js";
import { Output } from "./play_output.js";
import { shown } from "./play_scene.js";
import { Sentence, readSentence } from "./play_sentence.js";
import { NO_CHANGES, Store } from "./play_store.js";

const PAUSE = 120; // milliseconds without a key before a sentence is translated
const UNKNOWN = 3;
const END = "<eos>";
const ASKED = ["out", "forced", "paddingMask", "causal", "pads"]; // what changes the translation

class Playground {
  constructor(host, settings, source) {
    this.settings = settings;
    this.store = new Store();
    this.root = element("div", { class: "attn-heatmap attn-browse attn-play" });
    this.engines = settings.models.map((model) => new Engine({
      ...model, source, hear: (message) => { if (model.name === this.engine.name) this.hear(message); },
    }));
    [this.engine] = this.engines;
    this.sentence = new Sentence({
      models: settings.models, change: () => this.typed(), wake: () => this.wake(), choose: (n) => this.choose(n),
    });
    this.output = new Output();
    this.maps = new Maps(this.root, this.store);
    this.controls = new Controls(this.store, { cellOf: () => this.cell(), nameOf: (forced) => this.nameOf(forced) });
    this.rest = element("div", { class: "pg-rest", hidden: "" },
      this.controls.kinds, this.maps.node, makeLegend(), this.controls.after, this.controls.before);
    this.root.append(this.sentence.node, this.sentence.notes, this.output.node, this.rest, this.sentence.about);
    host.replaceChildren(this.root);
    applyTheme(this.root);
    this.store.watch((names) => { if (!this.choosing && names.some((name) => ASKED.includes(name))) this.wake(); });
    if (settings.opening) this.open(settings.opening);
  }

  /** Shows a stored translation of the first model; what the reader does to it loads the model. */
  open({ example, ids, written, top, layer, head, config, names, maps }) {
    this.sentence.put(example.source);
    this.store.set({ layer, head });
    this.asked = {
      head: { config, examples: [example] }, words: [...example.source, END], request: this.store.request(ids, config),
      plain: true,
    };
    this.output.begin();
    top.forEach((step) => this.output.write(step));
    const bytes = Object.entries(maps).map(([kind, text]) => [kind, Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
    this.finish(written, names, null, Object.fromEntries(bytes));
  }

  /** Another model: what was changed belonged to the heads of the first. */
  choose(n) {
    this.engine = this.engines[n];
    this.choosing = true;
    this.store.set({ ...NO_CHANGES, layer: 0, head: 0, cell: null });
    this.choosing = false;
    this.wake();
  }

  /** The pinned cell of the large map, or null. */
  cell() {
    const picture = this.maps?.picture;
    if (!picture?.cell) return null;
    const { i, j } = picture.cell;
    return { i, j, allowed: Boolean(picture.allowed[i * picture.keys + j]) };
  }

  /** The tokens of something forced. */
  nameOf({ kind, query, key }) {
    const { words, written } = this.maps.answer;
    const source = [...words, ...Array(this.store.get("pads")).fill("<pad>")].map(shown);
    const steps = written.map(shown);
    const read = [shown("<bos>"), ...steps];
    const [queries, keys] = { encoder: [source, source], decoder: [steps, read], cross: [steps, source] }[kind];
    return { query: queries[query] ?? `step ${query + 1}`, key: keys[key] ?? `place ${key + 1}` };
  }

  /** Loads the model, once, and translates. */
  async wake() {
    if (this.engine.head) { this.ask(); return; }
    this.output.wait("Loading the model …");
    try {
      await this.engine.load();
      this.ask();
    } catch (error) {
      this.output.fail(error.message);
    }
  }

  /** The reader types: what was forced belonged to other words. */
  typed() {
    clearTimeout(this.timer);
    this.output.busy(true);
    this.timer = setTimeout(() => {
      this.timer = null;
      const { forced } = this.store.values;
      this.store.set({ cell: null, forced: forced.length ? [] : forced });
      this.wake();
    }, PAUSE);
  }

  ask() {
    const { head } = this.engine;
    if (!head) return;
    const numbers = new Map(head.source.map((word, id) => [word, id]));
    const read = readSentence(this.sentence.text, numbers, head);
    this.sentence.note(read, head.source, head.longest);
    if (!read.words.length) { this.output.clear(); return; }
    const words = [...read.words, END]; // as in training: what ends it is a part of the sentence
    const ids = words.map((word) => numbers.get(word) ?? UNKNOWN);
    this.asked = { head, words, request: this.store.request(ids, head.config), plain: this.store.plain };
    this.output.begin();
    this.engine.ask(this.asked.request, this.asked.plain);
  }

  hear({ top, done, error }) {
    const { target, names } = this.engine.head;
    if (error) this.output.fail(error);
    if (top) this.output.write(top.map(([id, p]) => [target[id], p]));
    if (!done) return;
    const [written, plain] = [done.tokens, done.plain].map((ids) => ids.map((id) => target[id]));
    this.finish(written, names, this.asked.plain ? null : plain, done.maps);
    if (this.timer) this.output.busy(true); // another sentence is waiting
  }

  /** All is written: the sentence and every map. */
  finish(written, names, plain, maps) {
    this.output.finish(written, names, plain);
    this.rest.hidden = false;
    this.maps.show({ ...this.asked, written, maps });
    this.controls.refresh();
  }
}

for (const host of document.querySelectorAll(".attn-playground")) {
  const settings = JSON.parse(host.querySelector("script").textContent);
  new Playground(host, settings, window.attnPlaygroundWorker);
}
