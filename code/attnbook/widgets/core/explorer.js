// The reader's way over the map: a cell is pointed at, a query is pinned.
import { COARSE } from "./gestures.js";
import { Frames } from "./frames.js";
import { describeCell, describeRow } from "./words.js";

const HINT = COARSE ? "Tap a cell to read it and to pin its query."
  : "Point at a cell, or focus the map and move with the arrow keys. Click or press Enter to pin a query.";

/** Keeps the cell and the line under the map; the pinned query is the model's `query`. */
export class Explorer {
  constructor(root, model, say) {
    Object.assign(this, { root, model, say, cell: null, onRow: false });
    this.frames = new Frames(root);
    this.readout = root.querySelector(".ah-readout");
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

  /** The pointer has left: the line goes back to the pinned query. */
  leave() {
    this.onRow = this.picture.pinned !== null;
    if (this.onRow) this.show(this.picture, this.layout);
  }

  /** The keyboard has come: it starts at the cell that was last pointed at. */
  enter() {
    if (!this.empty) this.moveTo(this.cell ?? { i: this.picture.pinned ?? 0, j: 0 }, true);
  }

  forget() {
    this.cell = null;
  }
}
