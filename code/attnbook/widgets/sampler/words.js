// What the sampler says: tokens that can be seen, its lines, and its table.
import { fillRows } from "../core/table.js";
import { weightText } from "../core/words.js";
import { CUTS } from "./cut.js";

const SEEN = { " ": "␣", "\n": "⏎", "\t": "⇥" };

/** A token as it can be read by itself: white space has a sign. */
export const visible = (token) => token.replace(/[ \n\t]/g, (space) => SEEN[space]) || "∅";

/** What the bar of a token stands for, in short: what it is drawn with, or what cut it. */
export function fateOf({ drawn, cut, own }, id) {
  if (!own[id]) return "0";
  return cut[id] ? `cut: ${CUTS[cut[id]]}` : weightText(drawn[id]);
}

/** How many tokens are left. */
export function describeKept({ over, ended, kept, held, size }) {
  if (ended) return "The text has ended. Take a token back to go another way.";
  if (over) return "Nothing is held after this token. Take it back to go another way.";
  if (kept === size) return `All ${size} tokens can be drawn`;
  const part = held > 0.9995 && held < 1 ? "> 0.999" : weightText(held);
  return `${kept} of ${size} tokens can be drawn; they have ${part} of the probability`;
}

/** One token in one line: the model's probability, after the temperature, after the cuts. */
export function describeToken(picture, id) {
  const { own, sharp, drawn, cut, temperature, names } = picture;
  const head = `“${names[id]}”: model ${weightText(own[id])}`;
  const warm = temperature === 1 ? "" : `, at temperature ${temperature.toFixed(2)} ${weightText(sharp[id])}`;
  if (!own[id]) return `${head}, never drawn`;
  return cut[id] ? `${head}${warm}, cut by ${CUTS[cut[id]]}` : `${head}${warm}, drawn with ${weightText(drawn[id])}`;
}

/** Fills the hidden table: each token, the likeliest first. */
export function fillTokens(table, picture, caption) {
  const { own, sharp, order, names } = picture;
  fillRows(table, caption, ["token", "model", "at this temperature", "drawn with"],
    (order ?? []).map((id) => [names[id], weightText(own[id]), weightText(sharp[id]), fateOf(picture, id)]));
}
