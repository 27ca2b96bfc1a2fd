// The saved keys and queries as numbers, and whatever was drawn for the choices among them.
import { binary } from "../core/binary.js";

const NAMES = ["keys", "queries", "asked", "small", "shares", "rotations"];

/** What does not move: the sizes and the arrays, whole numbers of steps that are powers of two. */
export function haystackOf(model) {
  const [n, q, d, heads, size] = model.get("_shape");
  const steps = model.get("_steps");
  const arrays = NAMES.map((name, at) =>
    Float64Array.from(binary(model, `_${name}`, Int16Array), (x) => x * steps[at]));
  const named = Object.fromEntries(NAMES.map((name, at) => [name, arrays[at]]));
  return { n, q, d, heads, size, ...named, starts: model.get("_starts") };
}
