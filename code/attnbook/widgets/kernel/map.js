// The room of the weights beside the plot: as the heat map plans it, but not with square cells,
// for rows and columns are places on one axis, and one may have many more than the other.
import { planLayout } from "../core/layout.js";

/** The layout that `drawMap` takes: columns fill `width`, rows fill `height`. */
export function planMap(ctx, { width, height, queryLabels, keyLabels, ratio }) {
  const layout = planLayout(ctx, { width, height: Infinity, queryLabels, keyLabels, ratio });
  const room = (height - layout.top - 2) / queryLabels.length;
  const cellHeight = Math.max(1, Math.floor(Math.min(room, 52) * ratio) / ratio);
  return { ...layout, cellHeight, height: layout.top + cellHeight * queryLabels.length + 2 };
}
