// From keys, pointer and touch on the map to what its explorer does.
import { cellAt } from "./layout.js";

/** The cell that a key leads to from (i, j), or null. */
function cellAfter(key, { i, j }, queries, keys) {
  const to = {
    ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
    Home: [i, 0], End: [i, keys - 1], PageUp: [0, j], PageDown: [queries - 1, j],
  }[key];
  const clamp = (n, end) => Math.min(Math.max(n, 0), end - 1);
  return to ? { i: clamp(to[0], queries), j: clamp(to[1], keys) } : null;
}

function onKey(explorer, event) {
  if (explorer.empty || event.ctrlKey || event.metaKey || event.altKey) return;
  const { queries, keys, pinned } = explorer.picture;
  const from = explorer.cell ?? { i: pinned ?? 0, j: 0 };
  const to = cellAfter(event.key, from, queries, keys);
  if (to) explorer.moveTo(to, true);
  else if (event.key === "Enter" || event.key === " ") explorer.pin(from.i);
  else if (event.key === "Escape" && pinned !== null) explorer.pin(null);
  else return;
  event.preventDefault();
  event.stopPropagation(); // a notebook would go to the next cell, the book to the next page
}

/** The cell under the pointer, or null. */
function cellUnder(explorer, canvas, event) {
  const frame = canvas.getBoundingClientRect();
  const { queries, keys } = explorer.picture;
  return cellAt(explorer.layout, event.clientX - frame.left, event.clientY - frame.top, queries, keys);
}

/** Lets the reader's gestures on `canvas` move `explorer`. */
export function listenTo(canvas, explorer) {
  const point = (event) => {
    const cell = cellUnder(explorer, canvas, event);
    const { i, j } = explorer.cell ?? {};
    if (cell && (cell.i !== i || cell.j !== j)) explorer.moveTo(cell, false);
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", () => explorer.leave());
  canvas.addEventListener("focus", () => explorer.enter());
  canvas.addEventListener("keydown", (event) => onKey(explorer, event));
  canvas.addEventListener("click", (event) => { // not a drag that scrolls the page
    const cell = cellUnder(explorer, canvas, event);
    if (cell) explorer.pin(cell.i);
  });
}
