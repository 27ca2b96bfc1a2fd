// The reader's way over the large map: a cell is pointed at, and may be pinned.
import { Explorer } from "../core/explorer.js";
import { BROWSE_HINT, describeBrowsed, describePinned } from "./words.js";

const same = (a, b) => a && b && a.i === b.i && a.j === b.j;

/** As the heat map's explorer; what is pinned is a cell, the model's `cell`. */
export class CellExplorer extends Explorer {
  /** The line: the cell that is pointed at, else the pinned one, else what one can do. */
  describe() {
    const { picture } = this;
    const cell = this.cell ?? picture.cell;
    if (!cell) return BROWSE_HINT;
    return (same(cell, picture.cell) ? describePinned : describeBrowsed)(picture, cell);
  }

  show(picture, layout) {
    Object.assign(this, { picture, layout });
    this.frames.show(picture, layout, this.cell ?? picture.cell);
    this.readout.textContent = this.describe();
  }

  /** Pins the cell that is pointed at, in row `i`, or, with the same again or null, lets it go. */
  pin(i) {
    const cell = i === null ? null : this.cell ?? { i, j: 0 };
    const next = same(cell, this.picture.cell) ? null : cell;
    this.model.set({ cell: next && [next.i, next.j] });
    this.model.save_changes();
    if (!next) this.say("unpinned");
  }

  /** The model's cell changed: by a click, a key, or another view. */
  cellChanged(picture, layout) {
    this.cell = picture.cell ?? this.cell;
    this.show(picture, layout);
    if (picture.cell) this.say(this.describe());
  }

  /** The pointer has left: the line goes back to the pinned cell. */
  leave() {
    if (!this.picture.cell) return;
    this.cell = this.picture.cell;
    this.show(this.picture, this.layout);
  }

  enter() {
    this.moveTo(this.cell ?? this.picture.cell ?? { i: 0, j: 0 }, true);
  }
}
