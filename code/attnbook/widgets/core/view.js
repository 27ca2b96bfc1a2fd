// What the views of all widgets share: their parts, the model they follow, the room they have.
import { endsOf, makeControls } from "./controls.js";
import { follow } from "./follow.js";
import { limit, onKeys } from "./gestures.js";
import { element } from "./inputs.js";
import { HEARD } from "./skeleton.js";
import { Voice } from "./voice.js";

export class View {
  /** `skeleton` stands between the title and, last, the read-out and what is only heard. */
  constructor(model, root, palette, skeleton, last = HEARD) {
    Object.assign(this, { model, root, palette });
    root.innerHTML = `<p class="ah-title"></p>${skeleton}${last}`;
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
 * `describe(picture)` is the line below it, or several; `fill(table, picture, caption)` writes the
 * hidden table; a change of one of `moving` moves what stands on the page. What a widget adds:
 * `take(moved)`, what is to be drawn; `plan(room)`; `draw()`; `keys(picture)`, the changes that
 * keys make.
 */
export class SettingsView extends View {
  constructor(model, root, palette, { skeleton, last, settings, makers, tools, describe, fill, moving = [] }) {
    super(model, root, palette, skeleton, last);
    Object.assign(this, { settings, describe, fill, moving });
    this.names = Object.keys(settings).filter((name) => name !== "controls");
    this.canvas = this.find("canvas[tabindex]");
    this.figure = this.canvas.parentNode;
    this.controls = makeControls(model, settings, makers, tools);
    this.title.after(this.controls.node);
  }

  /** Shows it for the first time, and from now on whenever a setting or one of `others` changes. */
  begin(...others) {
    this.read();
    this.place();
    this.speakLater("");
    onKeys(this.canvas, (name) => this.onKey(name));
    this.canvas.addEventListener("focus", () => this.voice.say(this.said));
    this.follow([...this.names, ...others, "title", "alt"], (name) => this.change(name));
  }

  /** Takes in the model at once; table and voice follow when a slider rests. */
  change(name) {
    this.read();
    if (this.moving.includes(name)) this.place();
    else this.draw();
    this.speakLater(this.news(name));
  }

  /** What a screen reader hears of a change. */
  news() {
    return this.said;
  }

  read() {
    this.picture = this.take(Object.fromEntries(this.names.map((name) => [name, this.model.get(name)])));
    this.showTitle(this.canvas);
    this.controls.refresh(this.picture);
    this.tell();
  }

  /** Writes the line: a text, or several lines. */
  tell() {
    const facts = [this.describe(this.picture)].flat();
    this.said = facts.join(" ");
    if (facts.length === 1) this.readout.textContent = this.said;
    else this.readout.replaceChildren(...facts.map((fact) => element("span", {}, fact)));
  }

  /** Shares out the room. In the static page the box's height is fixed: the figure takes the rest. */
  place() {
    const ratio = this.measure();
    const width = this.figure.clientWidth || 640;
    this.layout = this.plan({ width, height: Math.floor(this.restFor(this.figure)), ratio });
    this.draw();
  }

  speakLater(text) {
    this.voice.later(() => this.fill(this.voice.table, this.picture, this.model.get("alt")), text);
  }

  /** Stores changes of settings, none past its bounds. */
  move(changes) {
    this.store(Object.fromEntries(Object.entries(changes).map(([name, value]) =>
      [name, limit(value, ...endsOf(this.model, this.settings[name]))])));
  }

  onKey(name) {
    const to = this.keys(this.picture)[name];
    if (!to) return false;
    this.move(to);
    return this.voice.say(this.said);
  }
}
