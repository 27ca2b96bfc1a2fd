// From keys, pointer and touch to what they ask for.
import { cellAt } from "./layout.js";

export const limit = (n, least, most) => Math.min(Math.max(n, least), most);

/** The cell that a key leads to from (i, j), or null. */
export function cellAfter(name, { i, j }, rows, columns) {
  const to = {
    ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
    Home: [i, 0], End: [i, columns - 1], PageUp: [0, j], PageDown: [rows - 1, j],
  }[name];
  return to ? { i: limit(to[0], 0, rows - 1), j: limit(to[1], 0, columns - 1) } : null;
}

/** Gives `answer` the keys on `node`; what it does not refuse, by false, goes no further. */
export function onKeys(node, answer) {
  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || answer(event.key) === false) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook would go to the next cell, the book to the next page
  });
}

/** Where on `canvas` the pointer is: [x, y]. */
export function pointOn(canvas, event) {
  const frame = canvas.getBoundingClientRect();
  return [event.clientX - frame.left, event.clientY - frame.top];
}

/** Whether the reader points with a finger: to be told what to tap. */
export const COARSE = matchMedia("(pointer: coarse)").matches;

/** How far from a handle a finger still holds it, in pixels. */
export const REACH = 24;

/**
 * Calls `move(x, y)` while the pointer is pressed on `canvas`, also when it leaves it. With `holds(x,
 * y)` a finger moves only what it holds there, or taps at: any other swipe is the page's.
 */
export function onDrag(canvas, move, holds = null) {
  const leaves = (event) => holds && event.pointerType === "touch" && !holds(...pointOn(canvas, event));
  canvas.addEventListener("pointerdown", (event) => {
    if (leaves(event)) {
      canvas.releasePointerCapture(event.pointerId); // a finger has it from the start
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    move(...pointOn(canvas, event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) move(...pointOn(canvas, event));
  });
  if (!holds) return;
  canvas.addEventListener("click", (event) => { // no swipe ends in one
    if (event.pointerType === "touch") move(...pointOn(canvas, event));
  });
  canvas.addEventListener("touchstart", (event) => { // what is held does not scroll the page
    const [finger] = event.touches;
    if (event.touches.length === 1 && holds(...pointOn(canvas, finger))) event.preventDefault();
  }, { passive: false });
}

/** Lets the reader's gestures on `canvas` move `explorer`. */
export function listenTo(canvas, explorer) {
  const under = (event) => {
    const { queries, keys } = explorer.picture;
    return cellAt(explorer.layout, ...pointOn(canvas, event), queries, keys);
  };
  const point = (event) => {
    const cell = under(event);
    const { i, j } = explorer.cell ?? {};
    if (cell && (cell.i !== i || cell.j !== j)) explorer.moveTo(cell, false);
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", () => explorer.leave());
  canvas.addEventListener("focus", () => explorer.enter());
  canvas.addEventListener("click", (event) => { // not a drag that scrolls the page
    const cell = under(event);
    if (cell) explorer.pin(cell.i);
  });
  onKeys(canvas, (name) => {
    if (explorer.empty) return false;
    const { queries, keys, pinned } = explorer.picture;
    const from = explorer.cell ?? { i: pinned ?? 0, j: 0 };
    const to = cellAfter(name, from, queries, keys);
    if (to) return explorer.moveTo(to, true);
    if (name === "Enter" || name === " ") return explorer.pin(from.i);
    return name === "Escape" && pinned !== null && explorer.pin(null);
  });
}
