// A distribution sharpened and cut, equal to attnbook.decoding.truncate, the table of states that
// a text goes through, and chance. Pure arithmetic: no page, no state.

/** Why a token is not drawn: it is (0), top-k, top-p, min-p. */
export const CUTS = ["", "top-k", "top-p", "min-p"];

/** Shares that sum to one from logits / temperature, with the ids from the likeliest on. */
function sharpen(logits, temperature) {
  const scaled = Array.from(logits, (x) => x / temperature);
  const order = [...scaled.keys()].sort((a, b) => (scaled[b] > scaled[a]) - (scaled[b] < scaled[a]) || a - b);
  const raw = scaled.map((x) => Math.exp(x - scaled[order[0]]));
  const total = raw.reduce((sum, x) => sum + x, 0);
  return { order, shares: raw.map((x) => x / total) };
}

/**
 * Everything about one distribution: the model's `own` probabilities, `sharp` after the
 * temperature, `drawn` after the cuts, all by id; `cut`, a place in CUTS for each; `order`, ids
 * from the likeliest on; `kept`, how many can be drawn; `held`, what share of `sharp` they have.
 */
export function cutTail({ logits, temperature, topK, topP, minP }) {
  const { shares: own } = sharpen(logits, 1);
  const { order, shares: sharp } = sharpen(logits, temperature);
  const k = topK === null ? order.length : Math.min(topK, order.length);
  const room = order.slice(0, k).reduce((sum, id) => sum + sharp[id], 0);
  const cut = new Uint8Array(order.length);
  let before = 0;
  order.forEach((id, rank) => {
    const share = sharp[id] / room; // of what top-k leaves
    if (rank >= k) cut[id] = 1;
    else if (topP < 1 && before >= topP) cut[id] = 2; // sums are rounded, and 1 keeps all
    else if (sharp[id] < minP * sharp[order[0]]) cut[id] = 3;
    before += share;
  });
  const left = (id) => (cut[id] ? 0 : sharp[id]);
  const held = order.reduce((sum, id) => sum + left(id), 0);
  const drawn = sharp.map((_, id) => left(id) / held);
  return { own, sharp, drawn, cut, order, held, kept: drawn.filter((p) => p > 0).length };
}

/** The state after a path of tokens, or null where the table holds nothing. */
export function stateAfter({ start, always, edges, size }, path) {
  let state = start;
  for (const token of path) {
    state = edges.get(state * size + token) ?? always[token];
    if (state < 0) return null;
  }
  return state;
}

/** The number from 0 to 1 that draw `n` gets: the same in Python. */
export function chanceOf(seed, n) {
  let x = (seed + Math.imul(0x9e3779b9, n + 1)) >>> 0;
  for (const [shift, factor] of [[16, 0x85ebca6b], [13, 0xc2b2ae35]]) {
    x = Math.imul(x ^ (x >>> shift), factor) >>> 0;
  }
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

/** The token that chance `u` draws. */
export function tokenAt(drawn, u) {
  let [sum, last] = [0, 0];
  for (let id = 0; id < drawn.length; id++) {
    if (!drawn[id]) continue;
    last = id;
    sum += drawn[id];
    if (u < sum) break;
  }
  return last;
}
