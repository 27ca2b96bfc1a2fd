// The table of states as the model holds it.
import { binary } from "../core/binary.js";

const NEVER = -(2 ** 15);

/** Reads it once: `logits(state)`, and what `stateAfter` asks for. */
export function readStates(model) {
  const size = model.get("tokens").length;
  const steps = binary(model, "_logits", Int16Array);
  const triples = binary(model, "_edges", Int16Array) ?? [];
  const edges = new Map();
  for (let n = 0; n < triples.length; n += 3) edges.set(triples[n] * size + triples[n + 1], triples[n + 2]);
  const step = model.get("_step");
  return {
    size, edges, start: model.get("start"), always: model.get("_always"),
    logits: (state) => Array.from(steps.subarray(state * size, (state + 1) * size),
      (n) => (n === NEVER ? -Infinity : n * step)),
  };
}
