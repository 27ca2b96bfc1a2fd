// What the views of all widgets share: their parts, the model they follow, the room they have.
import { follow } from "./follow.js";
import { Voice } from "./voice.js";

export class View {
  /** `skeleton` holds a title, a read-out, and what is only heard. */
  constructor(model, root, palette, skeleton) {
    Object.assign(this, { model, root, palette });
    root.innerHTML = skeleton;
    this.title = this.find(".ah-title");
    this.readout = this.find(".ah-readout");
    this.voice = new Voice(root);
    this.stops = [() => this.voice.stop()];
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  get(...names) {
    return names.map((name) => this.model.get(name));
  }

  store(changes) {
    this.model.set(changes);
    this.model.save_changes();
  }

  follow(names, f) {
    this.stops.push(follow(this.model, names, f));
  }

  stop() {
    this.stops.forEach((stop) => stop());
  }

  paint(palette) {
    this.palette = palette;
    this.draw();
  }

  showTitle(...canvases) {
    this.title.textContent = this.model.get("title");
    this.title.hidden = !this.model.get("title");
    canvases.forEach((canvas) => canvas.setAttribute("aria-label", this.model.get("alt")));
  }

  /** Notes whether the page is narrow; returns the device pixels in one of CSS. */
  measure() {
    this.root.classList.toggle("ah-narrow", (this.root.clientWidth || 640) < 480);
    return window.devicePixelRatio || 1;
  }

  /** The height that the static page keeps free for the widget; NaN elsewhere. */
  get box() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue("--attn-height"));
  }

  /** What of that height is left for `node`; NaN elsewhere. */
  restFor(node) {
    const tallness = (part) => part.getBoundingClientRect().height;
    return this.box - (tallness(this.root) - tallness(node));
  }
}
