// What the views of all widgets share: their parts, the model they follow, the room they have.
import { settingControls } from "./controls.js";
import { follow } from "./follow.js";
import { onKeys } from "./gestures.js";
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

/**
 * A view of one canvas below the controls that `settings` declare, and the `makers` of its own.
 * A widget gives it `read()`, which takes in the model, `place()`, `draw()`, `onKey(name)`, and
 * `fill(table, caption)`, which writes the hidden table.
 */
export class SettingsView extends View {
  constructor(model, root, palette, skeleton, settings, makers = {}, tools = {}) {
    super(model, root, palette, skeleton);
    this.settings = Object.keys(settings).filter((name) => name !== "controls");
    this.canvas = this.find("canvas[tabindex]");
    this.figure = this.canvas.parentNode;
    this.controls = settingControls(model, settings, makers, tools);
    this.title.after(this.controls.node);
  }

  /** Shows it for the first time, and from now on whenever a setting or one of `others` changes. */
  begin(...others) {
    this.read();
    this.place();
    this.speakLater("");
    onKeys(this.canvas, (name) => this.onKey(name));
    this.follow([...this.settings, ...others, "title", "alt"], (name) => this.change(name));
  }

  change() {
    this.read();
    this.draw();
    this.speakLater(this.said);
  }

  /** What the reader has moved, by name. */
  get moved() {
    return Object.fromEntries(this.settings.map((name) => [name, this.model.get(name)]));
  }

  /** What a screen reader hears of a change. */
  get said() {
    return this.readout.textContent;
  }

  /** Table and voice follow when a slider rests. */
  speakLater(text) {
    this.voice.later(() => this.fill(this.voice.table, this.model.get("alt")), text);
  }
}
