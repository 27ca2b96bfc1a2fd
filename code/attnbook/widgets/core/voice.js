// What a screen reader hears: a live line for what just happened, and a table of what is drawn.
import { fillTable } from "./table.js";

export class Voice {
  constructor(root) {
    this.live = root.querySelector("[aria-live=polite]");
    this.table = root.querySelector(".ah-hidden table");
    this.waiting = "";
  }

  /** Says it at once, instead of what was still to be said. */
  say(text) {
    this.waiting = "";
    this.live.textContent = text;
  }

  /** A table is too slow for every step of a slider: `fill` and `text` come when things rest. */
  later(fill, text = "") {
    this.fill = fill ?? this.fill;
    this.waiting = text || this.waiting;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.fill?.();
      this.fill = null;
      if (this.waiting) this.say(this.waiting);
    }, 150);
  }

  /** The same, with the table of a heat map. */
  tell(picture, caption, text) {
    this.later(() => fillTable(this.table, picture, caption), text);
  }

  stop() {
    clearTimeout(this.timer);
  }
}
