// Every head of one kind small, the chosen one large, on one scale: the browser, on live weights.
import { takeMap } from "../attnbook/widgets/browse/data.js";
import { planFigure } from "../attnbook/widgets/browse/layout.js";
import { FIGURE } from "../attnbook/widgets/browse/skeleton.js";
import { headName, sidesOf } from "../attnbook/widgets/browse/words.js";
import { drawMap } from "../attnbook/widgets/core/draw.js";
import { watchWidth } from "../attnbook/widgets/core/follow.js";
import { listenTo } from "../attnbook/widgets/core/gestures.js";
import { planLayout } from "../attnbook/widgets/core/layout.js";
import { applyTheme, watchTheme } from "../attnbook/widgets/core/theme.js";
import { Voice } from "../attnbook/widgets/core/voice.js";
import { PlayExplorer } from "./play_explorer.js";
import { PlayGrid } from "./play_grid.js";
import { sceneOf } from "./play_scene.js";

const TALLEST = 460; // of the large map
const ALT = "Attention weights of the sentence above.";

export class Maps {
  constructor(root, store) {
    this.node = document.createElement("div");
    this.node.className = "pg-maps";
    this.node.innerHTML = FIGURE;
    Object.assign(this, { root, store, answer: null });
    const find = (selector) => this.node.querySelector(selector);
    [this.figure, this.heading, this.canvas] = [".lb-figure", ".lb-heading", "canvas"].map(find);
    this.canvas.setAttribute("aria-label", ALT);
    this.voice = new Voice(this.node);
    this.explorer = new PlayExplorer(this.node, store, (text) => this.voice.say(text));
    this.grid = new PlayGrid((layer, head) => store.set({ layer, head }),
      (layer, head) => store.toggle(store.get("kind"), layer, head));
    this.figure.prepend(this.grid.node);
    listenTo(this.canvas, this.explorer);
    watchTheme(() => { this.palette = applyTheme(this.root); this.draw(); });
    watchWidth(this.node, () => this.place());
    store.watch((names) => this.follow(names));
  }

  /** Draws an answer of the worker. */
  show(answer) {
    const old = this.scene;
    this.answer = answer;
    this.take();
    const sameSize = old && old.kind === this.scene.kind && old.keys === this.scene.keys && old.queries === this.scene.queries;
    if (!sameSize) this.explorer.forget();
    this.place();
  }

  follow(names) {
    if (!this.answer || !names.some((name) => ["kind", "layer", "head", "cell", "out"].includes(name))) return;
    if (names.includes("kind")) this.explorer.forget();
    this.take();
    if (names.includes("kind")) this.place();
    else this.draw();
    if (names.includes("cell")) this.explorer.cellChanged(this.picture, this.layout);
    else this.speak(true);
  }

  take() {
    this.scene = sceneOf(this.answer, this.store);
    this.picture = takeMap(this.scene, this.scene.layer, this.scene.head, true);
  }

  /** The table of the large map, and, where the reader changed something, which head it is. */
  speak(changed) {
    const { kind, layer, head } = this.picture;
    const name = `${kind}, ${headName(layer, head)}`;
    this.voice.tell(this.picture, `${ALT} ${name}.`, changed ? `${name}.` : "");
  }

  place() {
    if (!this.scene) return;
    this.palette ??= applyTheme(this.root);
    const { scene, figure } = this;
    const ratio = window.devicePixelRatio || 1;
    this.root.classList.toggle("ah-narrow", this.root.clientWidth < 480);
    const plan = planFigure({
      width: figure.clientWidth || 640, layers: scene.layers, heads: scene.heads, numbers: false,
    });
    figure.classList.toggle("lb-beside", plan.beside);
    figure.style.gap = `${plan.space}px`;
    this.grid.place(scene, plan, ratio);
    this.layout = planLayout(this.canvas.getContext("2d"), {
      width: plan.largeWidth, height: TALLEST, queryLabels: scene.queryLabels, keyLabels: scene.keyLabels,
      ratio, least: 6,
    });
    this.draw();
    this.speak(false);
  }

  draw() {
    if (!this.layout) return;
    const { picture, scene, store, heading } = this;
    this.grid.draw(scene, "", this.palette);
    this.grid.drawSwitches((layer, head) => store.isOut(scene.kind, layer, head));
    drawMap(this.canvas, this.layout, picture, this.palette);
    heading.firstChild.textContent = headName(picture.layer, picture.head);
    const out = store.isOut(scene.kind, picture.layer, picture.head);
    heading.lastChild.textContent = sidesOf(scene.kind) + (out ? " · out: its result is not used" : "");
    this.explorer.show(picture, this.layout);
  }
}
