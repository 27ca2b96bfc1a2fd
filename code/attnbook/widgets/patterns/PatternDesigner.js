// The pattern designer: a mask of up to four terms, what it keeps, and how far a query reaches.
import { pointOn } from "../core/gestures.js";
import { figureOf } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { combine, countPairs, layersTo } from "./pattern.js";
import { drawPattern, heightFor, planPattern, queryAt, tones } from "./picture.js";
import { SETTINGS } from "./settings.js";
import { makeTerms } from "./terms.js";
import { describePattern, fillPattern, pythonText } from "./words.js";

const BESIDE = 600; // from this width on, the terms stand beside the mask
const LEAST_SIDE = 220;
const SKELETON = `
  ${figureOf("pd-figure", "mask")}
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch pd-kept"></i>may attend</span>
    <span class="ah-key"><i class="ah-swatch pd-own"></i>the query may attend</span>
    <span class="ah-key"><i class="ah-swatch pd-far"></i>reached by way of others</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>masked, or not reached</span>
  </div>
  <div class="pd-code" role="group" tabindex="0" aria-label="The same mask in Python"></div>`;

class PatternsView extends SettingsView {
  constructor(model, root, palette) {
    const terms = model.get("controls").includes("terms") ? makeTerms(model) : null;
    super(model, root, palette, {
      skeleton: SKELETON, settings: SETTINGS, tools: { always: terms }, describe: describePattern, fill: fillPattern,
      moving: ["terms"], // there may be more of them, or fewer
    });
    this.terms = terms;
    this.code = this.find(".pd-code");
    if (terms) this.figure.prepend(terms.label);
    this.figure.append(this.readout);
    this.begin();
    this.canvas.addEventListener("click", (event) => { // not a drag that scrolls the page
      const query = queryAt(this.layout, pointOn(this.canvas, event)[1]);
      if (query !== null) this.store({ query });
    });
  }

  take({ n, terms, layers, query: marked }) {
    const query = Math.min(marked, n - 1);
    const mask = combine(n, terms);
    this.code.textContent = pythonText(n, terms);
    this.terms?.refresh();
    return { n, layers, query, mask, steps: layersTo(n, mask, query), ...countPairs(n, mask) };
  }

  /** Shares out the room. In the static page the box's height is fixed: the mask takes the rest. */
  place() {
    const ratio = this.measure();
    const all = this.figure.clientWidth || 640;
    const beside = all >= BESIDE;
    this.figure.classList.toggle("pd-beside", beside);
    const width = Math.floor(beside ? 0.54 * all : all);
    const rest = Math.floor(this.restFor(beside ? this.figure : this.canvas)) || Infinity;
    const height = Math.max(heightFor({ side: LEAST_SIDE }), Math.min(rest, heightFor({ width })));
    this.room = { width, height, ratio };
    this.draw();
  }

  draw() {
    this.layout = planPattern(this.room, this.picture);
    drawPattern(this.canvas, this.layout, this.picture, this.palette);
    for (const [name, colour] of Object.entries(tones(this.palette))) {
      this.find(`.pd-${name}`).style.background = colour;
    }
  }

  keys({ query, layers, n }) {
    return {
      ArrowUp: { query: query - 1 }, ArrowDown: { query: query + 1 }, Home: { query: 0 }, End: { query: n - 1 },
      ArrowLeft: { layers: layers - 1 }, ArrowRight: { layers: layers + 1 },
    };
  }
}

export default onStage(PatternsView, "attn-heatmap attn-patterns");
