// The reader's way over the map: a cell is pointed at, a query is pinned.
import { Frames } from "./frames.js";
import { cellAt } from "./layout.js";
import { describeCell, describeRow } from "./words.js";

const HINT = "Point at a cell, or focus the map and move with the arrow keys. "
  + "Click or press Enter to pin a query.";

/** The cell that a key leads to from (i, j), or null. */
function cellAfter(key, { i, j }, queries, keys) {
  const to = {
    ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
    Home: [i, 0], End: [i, keys - 1], PageUp: [0, j], PageDown: [queries - 1, j],
  }[key];
  const clamp = (n, end) => Math.min(Math.max(n, 0), end - 1);
  return to ? { i: clamp(to[0], queries), j: clamp(to[1], keys) } : null;
}

/** Keeps the cell and the line under the map; the pinned query is the model's `query`. */
export class Explorer {
  constructor(root, model, say) {
    Object.assign(this, { root, model, say, cell: null, onRow: false });
    this.canvas = root.querySelector(".ah-map canvas");
    this.frames = new Frames(root);
    this.readout = root.querySelector(".ah-readout");
    this.listen();
  }

  /** Nothing is pointed at and nothing is pinned. */
  get resting() {
    return this.cell === null && this.picture.pinned === null;
  }

  get empty() {
    return !this.picture.queries || !this.picture.keys;
  }

  /** The line: the row that was just pinned, else the cell, else what one can do. */
  describe(count) {
    const { picture, cell } = this;
    if (picture.pinned !== null && (this.onRow || !cell)) {
      return describeRow(picture, picture.pinned, count);
    }
    return cell ? describeCell(picture, cell.i, cell.j) : HINT;
  }

  /** Brings frames and line in line with what is drawn. */
  show(picture, layout) {
    Object.assign(this, { picture, layout });
    this.frames.show(picture, layout, this.cell);
    this.readout.textContent = this.describe(this.root.classList.contains("ah-narrow") ? 4 : 6);
  }

  moveTo(cell, spoken) {
    this.cell = cell;
    this.onRow = false;
    this.show(this.picture, this.layout);
    if (spoken) this.say(this.describe());
  }

  /** Pins query `i`, or, with the same again or null, lets it go. */
  pin(i) {
    const query = i === this.picture.pinned ? null : i;
    this.model.set({ query });
    this.model.save_changes();
    if (query === null) this.say("unpinned");
  }

  /** The model's query changed: by a click, a key, a step, or another view. */
  queryChanged() {
    this.onRow = this.picture.pinned !== null;
    if (this.onRow && this.cell) this.cell = { ...this.cell, i: this.picture.pinned };
    this.show(this.picture, this.layout);
    if (this.onRow) this.say(this.describe(16));
  }

  forget() {
    this.cell = null;
  }

  onKey(event) {
    if (this.empty || event.ctrlKey || event.metaKey || event.altKey) return;
    const { queries, keys, pinned } = this.picture;
    const from = this.cell ?? { i: 0, j: 0 };
    const to = cellAfter(event.key, from, queries, keys);
    if (to) this.moveTo(to, true);
    else if (event.key === "Enter" || event.key === " ") this.pin(from.i);
    else if (event.key === "Escape" && pinned !== null) this.pin(null);
    else return;
    event.preventDefault();
    event.stopPropagation(); // a notebook would go to the next cell, the book to the next page
  }

  under(event) {
    const frame = this.canvas.getBoundingClientRect();
    return cellAt(this.layout, event.clientX - frame.left, event.clientY - frame.top,
      this.picture.queries, this.picture.keys);
  }

  onPointer(event) {
    const cell = this.under(event);
    if (!cell || (cell.i === this.cell?.i && cell.j === this.cell?.j)) return;
    this.moveTo(cell, false);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    canvas.addEventListener("pointerdown", (event) => this.onPointer(event));
    canvas.addEventListener("click", (event) => {
      const cell = this.under(event);
      if (cell) this.pin(cell.i);
    });
    canvas.addEventListener("pointerleave", () => { // back to the pinned query
      this.onRow = this.picture.pinned !== null;
      if (this.onRow) this.show(this.picture, this.layout);
    });
    canvas.addEventListener("focus", () => {
      if (!this.empty) this.moveTo(this.cell ?? { i: 0, j: 0 }, true);
    });
  }
}
