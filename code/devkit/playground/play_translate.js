// Greedy translation, one token at a time, with whatever the reader has changed.
const [BOS, EOS] = [1, 2];
const MOST = 60; // tokens of a translation
const STEPS = 255; // a weight is held as a whole number of these parts of 1

/** The `count` likeliest ids with their probabilities, the likeliest first: [[id, p], ...]. */
export function likeliest(logits, count) {
  const top = logits.reduce((most, x) => Math.max(most, x), -Infinity);
  let total = 0;
  for (const x of logits) total += Math.exp(x - top);
  const ids = [];
  for (let n = 0; n < Math.min(count, logits.length); n++) {
    let best = -1;
    logits.forEach((x, id) => {
      if (!ids.includes(id) && (best < 0 || x > logits[best])) best = id;
    });
    ids.push(best);
  }
  return ids.map((id) => [id, Math.exp(logits[id] - top) / total]);
}

/** Weights [layer][head] in one array of bytes; what is not zero stays so. */
function inBytes(weights) {
  const parts = weights.flat();
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) for (const w of part) bytes[at++] = w ? Math.max(1, Math.round(STEPS * w)) : 0;
  return bytes;
}

/**
 * Yields {top} for each token, its likeliest candidates, and last {done: {tokens, maps}}: the ids
 * written, the end token too, and the bytes of all weights by kind, of one pass over the whole.
 *
 * `ids`: the source, of which the first `length` count. `changes`: by kind, [layer][head], as in
 * `attend`. Without `causal` every step reads the whole beginning anew, each token seeing all.
 */
export function* translate(translator, { ids, length = ids.length, causal = true, changes = {} }) {
  const encoding = translator.encode(ids, { length, changes });
  const begin = translator.begin(encoding, { length, changes });
  const tokens = [];
  let state = begin;
  while (tokens.length < MOST && tokens.at(-1) !== EOS) {
    const inputs = [BOS, ...tokens];
    const output = causal ? translator.step(inputs.slice(-1), state) : translator.step(inputs, begin, false);
    state = output.state;
    const rows = causal ? 1 : inputs.length;
    const top = likeliest(output.logits.subarray((output.logits.length / rows) * (rows - 1)), 5);
    tokens.push(top[0][0]);
    yield { top };
  }
  const { decoder, cross } = translator.step([BOS, ...tokens.slice(0, -1)], begin, causal);
  const maps = { encoder: inBytes(encoding.weights), decoder: inBytes(decoder), cross: inBytes(cross) };
  yield { done: { tokens, maps } };
}
