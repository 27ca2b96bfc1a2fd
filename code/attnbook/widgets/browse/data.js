// From the browser's traits to the picture of one head: what is drawn and what is said.
import { binary } from "../core/binary.js";
import { marksOf } from "../core/measure.js";
import { allowedCells } from "../core/softmax.js";

/** The tokens that are queries and keys of each kind of attention. */
export const SIDES = { encoder: ["source", "source"], decoder: ["target", "target"], cross: ["target", "source"] };
const STEPS = 255; // a weight is a whole number of these parts of 1

/** Where the maps of each example and kind begin: [{kind: {start, queries, keys}}, ...].
 *
 * Maps lie in the order of SIDES. The keys of `sizes` have none: a saved notebook sorts them. */
export function planMaps(examples, sizes) {
  let start = 0;
  return examples.map((example) => Object.fromEntries(
    Object.keys(SIDES).filter((kind) => kind in sizes).map((kind) => {
      const [layers, heads] = sizes[kind];
      const [queries, keys] = SIDES[kind].map((side) => example[side].length);
      const place = { start, queries, keys };
      start += layers * heads * queries * keys;
      return [kind, place];
    })));
}

/** The bytes of all maps, and where each begins; read again only when the chapter changes them. */
export function readMaps(model) {
  return {
    bytes: binary(model, "_weights", Uint8Array) ?? new Uint8Array(0),
    masks: binary(model, "_allowed", Uint8Array),
    places: planMaps(model.get("_examples"), model.get("_sizes")),
  };
}

/** What is there to choose from, and what is chosen: kind, example, its tokens, layer, head. */
export function takeScene(model, maps) {
  const [kind, example] = ["kind", "example"].map((name) => model.get(name));
  const shown = model.get("_examples")[example];
  const { start, queries, keys } = maps.places[example][kind];
  const [queryLabels, keyLabels] = SIDES[kind].map((side) => shown[side]);
  const [layers, heads] = model.get("_sizes")[kind];
  const marked = (name) => (kind === "cross" && shown[name].length
    ? marksOf(shown[name], queries, keys) : null);
  const [i, j] = model.get("cell") ?? [];
  const cell = i < queries && j < keys ? { i, j } : null; // a kernel tells one change at a time
  return {
    kind, layers, heads, queries, keys, queryLabels, keyLabels, start, bytes: maps.bytes, masks: maps.masks,
    layer: Math.min(model.get("layer"), layers - 1), head: Math.min(model.get("head"), heads - 1),
    numbers: model.get("_scores")[kind] ?? null,
    vmax: model.get("vmax"), signed: false, inSteps: true, dimLater: false,
    causal: kind === "decoder", length: keys,
    allowed: allowedCells({ queries, keys, causal: kind === "decoder" }),
    sure: marked("sure"), possible: marked("possible"),
    cell, pinned: cell ? i : null,
  };
}

/** The picture of one head of a scene; links are marked on the `large` one only. */
export function takeMap(scene, layer, head, large = false) {
  const { bytes, masks, start, heads, queries, keys } = scene;
  const from = start + (layer * heads + head) * queries * keys;
  return {
    ...scene, layer, head,
    weights: Float64Array.from(bytes.subarray(from, from + queries * keys), (n) => n / STEPS),
    allowed: masks ? masks.subarray(from, from + queries * keys) : scene.allowed,
    number: scene.numbers ? scene.numbers[layer][head] : null,
    gold: large ? scene.sure : null, possible: large ? scene.possible : null,
  };
}
