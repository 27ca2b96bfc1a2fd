// The pattern designer: a mask of up to four terms, what it keeps, and how far a query reaches.
import { makeControls, tied } from "../core/controls.js";
import { limit, onKeys, pointOn } from "../core/gestures.js";
import { element, slider } from "../core/inputs.js";
import { HEARD } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { combine, countPairs, layersTo } from "./pattern.js";
import { drawPattern, heightFor, planPattern, queryAt, tones } from "./picture.js";
import { makeTerms } from "./terms.js";
import { describePattern, fillPattern, pythonText } from "./words.js";

const MOVED = ["n", "terms", "layers", "query"];
const MOST_LAYERS = 12;
const BESIDE = 600; // from this width on, the terms stand beside the mask
const LEAST_SIDE = 220;
const SKELETON = `
  <p class="ah-title"></p>
  <div class="pd-figure">
    <canvas tabindex="0" role="application" aria-roledescription="mask"></canvas>
  </div>
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch pd-kept"></i>may attend</span>
    <span class="ah-key"><i class="ah-swatch pd-own"></i>the query may attend</span>
    <span class="ah-key"><i class="ah-swatch pd-far"></i>reached by way of others</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>masked, or not reached</span>
  </div>
  <div class="pd-code" role="group" tabindex="0" aria-label="The same mask in Python"></div>
  ${HEARD}`;

const MAKERS = {
  n({ model, store }) {
    return tied(slider("Places", { min: 8, max: 256, step: 8 }, 3, String, (n) => store({ n })), model, "n");
  },
  layers({ model, store }) {
    return tied(slider("Layers", { min: 1, max: MOST_LAYERS, step: 1 }, 2, String,
      (layers) => store({ layers })), model, "layers");
  },
  query({ store }) {
    const { label, input, show } = slider("Query", { min: 0, step: 1 }, 3, String, (query) => store({ query }));
    return { label, refresh: ({ n, query }) => {
      input.max = n - 1;
      show(query);
    } };
  },
};

class PatternsView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, SKELETON);
    [this.figure, this.map, this.code] = [".pd-figure", "canvas", ".pd-code"].map((at) => this.find(at));
    this.terms = model.get("controls").includes("terms") ? makeTerms(model) : null;
    this.controls = makeControls(model, MAKERS, { moved: MOVED, always: this.terms });
    this.title.after(this.controls.node);
    if (this.terms) this.figure.prepend(this.terms.label);
    this.figure.append(this.readout);
    this.read();
    this.place();
    this.speakLater("");
    this.listen();
    this.follow([...MOVED, "title", "alt"], (name) => {
      this.read();
      if (name === "terms") this.place(); // there may be more of them, or fewer
      else this.draw();
      this.speakLater(this.said);
    });
  }

  get said() {
    return this.facts.join(" ");
  }

  /** Takes in the model; table and voice follow when a slider rests. */
  read() {
    const [n, terms, layers] = this.get("n", "terms", "layers");
    const query = Math.min(this.model.get("query"), n - 1);
    const mask = combine(n, terms);
    const steps = layersTo(n, mask, query);
    this.picture = { n, layers, query, mask, steps, ...countPairs(n, mask) };
    this.facts = describePattern(this.picture);
    this.readout.replaceChildren(...this.facts.map((fact) => element("span", {}, fact)));
    this.code.textContent = pythonText(n, terms);
    this.showTitle(this.map);
    this.controls.refresh(this.picture);
    this.terms?.refresh();
  }

  /** Shares out the room. In the static page the box's height is fixed: the mask takes the rest. */
  place() {
    const ratio = this.measure();
    const all = this.figure.clientWidth || 640;
    const beside = all >= BESIDE;
    this.figure.classList.toggle("pd-beside", beside);
    const width = Math.floor(beside ? 0.54 * all : all);
    const rest = Math.floor(this.restFor(beside ? this.figure : this.map)) || Infinity;
    const height = Math.max(heightFor({ side: LEAST_SIDE }), Math.min(rest, heightFor({ width })));
    this.room = { width, height, ratio };
    this.draw();
  }

  draw() {
    this.plan = planPattern(this.room, this.picture);
    drawPattern(this.map, this.plan, this.picture, this.palette);
    for (const [name, colour] of Object.entries(tones(this.palette))) {
      this.find(`.pd-${name}`).style.background = colour;
    }
  }

  speakLater(text) {
    const { table } = this.voice;
    this.voice.later(() => fillPattern(table, this.picture, this.model.get("alt")), text);
  }

  onKey(name) {
    const { n, query, layers } = this.picture;
    const to = {
      ArrowUp: { query: query - 1 }, ArrowDown: { query: query + 1 }, Home: { query: 0 }, End: { query: n - 1 },
      ArrowLeft: { layers: layers - 1 }, ArrowRight: { layers: layers + 1 },
    }[name];
    if (to === undefined) return false;
    this.store("query" in to ? { query: limit(to.query, 0, n - 1) }
      : { layers: limit(to.layers, 1, MOST_LAYERS) });
    return this.voice.say(this.said);
  }

  listen() {
    onKeys(this.map, (name) => this.onKey(name));
    this.map.addEventListener("focus", () => this.voice.say(this.said));
    this.map.addEventListener("click", (event) => { // not a drag that scrolls the page
      const query = queryAt(this.plan, pointOn(this.map, event)[1]);
      if (query !== null) this.store({ query });
    });
  }
}

export default onStage(PatternsView, "attn-heatmap attn-patterns");
