// How the maps of the models and their cards share the room. Lengths are CSS pixels.
import { planLayout } from "../core/layout.js";

const GAP = 20; // between panels, and between a map and its card
const CARD = 232;
const SMALLEST = 15; // a smaller cell could not have its label
const SPLIT = 560; // from this width on, things stand side by side

/**
 * Places `count` maps of one size in `width`, each at most `height` high unless its cells are
 * the smallest already: `columns` of them in a line, else one below the
 * other; and, below none of them, whether the card stands `beside` its map.
 */
export function planPanels(ctx, { width, count, height, queryLabels, keyLabels, ratio }) {
  const plan = (room) => planLayout(ctx, {
    width: room, height, queryLabels, keyLabels, ratio, least: SMALLEST,
  });
  const fits = (layout, room) => layout.width <= room;
  if (count > 1 && width >= SPLIT) {
    const room = Math.floor((width - GAP * (count - 1)) / count);
    const layout = plan(room);
    if (fits(layout, room)) return { layout, columns: count, beside: false };
  }
  if (width >= SPLIT) {
    const layout = plan(width - GAP - CARD);
    if (fits(layout, width - GAP - CARD)) return { layout, columns: 1, beside: true };
  }
  return { layout: plan(width), columns: 1, beside: false };
}
