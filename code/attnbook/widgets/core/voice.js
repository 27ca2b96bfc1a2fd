// What a screen reader hears: a live line for what just happened, and a table of the whole map.
import { fillTable } from "./table.js";

export class Voice {
  constructor(root) {
    this.live = root.querySelector("[aria-live]");
    this.table = root.querySelector(".ah-hidden table");
    this.waiting = "";
  }

  say(text) {
    this.live.textContent = text;
  }

  /** A table of 64 × 64 cells is too slow for every step of a slider: it and `text` come later. */
  later(picture, caption, text = "") {
    this.waiting = text || this.waiting;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      fillTable(this.table, picture, caption);
      if (this.waiting) this.say(this.waiting);
      this.waiting = "";
    }, 150);
  }

  stop() {
    clearTimeout(this.timer);
  }
}
