// From the model's traits to the picture of one sequence and head: what is drawn and what is said.
import { binary } from "../core/binary.js";
import { goldHits, subtract } from "../core/measure.js";
import { allowedCells, maskedSoftmax } from "../core/softmax.js";

/** The arrays of all sequences and heads; read again only when one of them changes. */
export function readArrays(model) {
  return {
    scores: binary(model, "_scores", Float32Array) ?? new Float32Array(0),
    compare: binary(model, "_compare", Float32Array),
    mask: binary(model, "_mask", Uint8Array),
    values: binary(model, "_values", Float32Array),
    gold: binary(model, "_gold", Uint8Array),
  };
}

/** The sizes that the scores' shape names: (b, q, k) has one head, (b, h, q, k) has h. */
export function readShape(model) {
  const shape = model.get("_shape");
  const [queries, keys] = shape.slice(-2);
  return { batches: shape[0], heads: shape.length > 3 ? shape[1] : 1, queries, keys };
}

/** What the reader's settings ask for: lengths, causal, the divisor of the scores, the view. */
function readSettings(model, batch) {
  const root = model.get("scaled") && model.get("scale") ? Math.sqrt(model.get("scale")) : 1;
  return {
    length: model.get("lengths")[batch], causal: model.get("causal"),
    divisor: root * model.get("temperature"), view: model.get("view") ?? "first",
    vmax: model.get("vmax"),
  };
}

/**
 * The sequence and head that are shown. `weights` is what is drawn: the weights of the first
 * or second scores, or, `signed`, the second's minus the first's, up to `vmax` in size.
 */
export function takePicture(model, arrays, head = model.get("head") ?? 0) {
  const { batches, heads, queries, keys } = readShape(model);
  const batch = model.get("batch");
  const plane = batch * heads + head;
  const part = (array, size, at = plane) => array && array.subarray(at * size, (at + 1) * size);
  const labels = (name) => model.get(name)[batch] ?? model.get(name)[0];
  const settings = readSettings(model, batch);
  const { length, causal, divisor, view } = settings;
  const mask = part(arrays.mask, queries * keys);
  const valueSize = arrays.values ? arrays.values.length / (batches * heads * keys) : 0;
  const picture = {
    ...settings, queries, keys, head, valueSize, signed: view === "difference",
    allowed: allowedCells({ queries, keys, mask, length, causal }),
    values: part(arrays.values, keys * valueSize),
    gold: part(arrays.gold, queries * keys, batch),
    queryLabels: labels("query_labels"), keyLabels: labels("key_labels"),
    pinned: model.get("query") ?? null, dimLater: model.get("dim_later") ?? false,
  };
  picture.reached = picture.dimLater && picture.pinned !== null ? picture.pinned + 1 : queries;
  const weigh = (name) => {
    const scores = part(arrays[name], queries * keys);
    const weights = maskedSoftmax(scores, picture.allowed, queries, keys, divisor);
    const hits = picture.gold && goldHits(weights, picture.gold, picture.reached, keys);
    return { scores, weights, hits };
  };
  const shown = weigh(view === "second" ? "compare" : "scores");
  Object.assign(picture, shown);
  if (picture.signed) {
    picture.first = { ...shown, name: model.get("compare_labels")[0] };
    picture.second = { ...weigh("compare"), name: model.get("compare_labels")[1] };
    picture.weights = subtract(picture.second.weights, picture.first.weights);
    picture.vmax = model.get("difference_max");
  }
  return picture;
}
