// From the model's traits to the picture of one sequence: what is drawn and what is said.
import { allowedCells, maskedSoftmax } from "./softmax.js";

/** A binary trait arrives as a DataView (or typed array): copied, so that it is aligned. */
function binary(model, name, Type) {
  const raw = model.get(name);
  if (!raw || !raw.byteLength) return null;
  const buffer = raw.buffer ?? raw;
  const start = raw.byteOffset ?? 0;
  return new Type(buffer.slice(start, start + raw.byteLength));
}

/** The arrays of all sequences; read again only when one of them changes. */
export function readArrays(model) {
  return {
    scores: binary(model, "_scores", Float32Array) ?? new Float32Array(0),
    mask: binary(model, "_mask", Uint8Array),
    values: binary(model, "_values", Float32Array),
  };
}

/** The sequence that is shown: its scores, mask, weights, labels and values. */
export function takePicture(model, arrays) {
  const [batches, queries, keys] = model.get("_shape");
  const batch = model.get("batch");
  const part = (array, size) => array && array.subarray(batch * size, (batch + 1) * size);
  const labels = (name) => model.get(name)[batch] ?? model.get(name)[0];
  const length = model.get("lengths")[batch];
  const causal = model.get("causal");
  const root = model.get("scaled") && model.get("scale") ? Math.sqrt(model.get("scale")) : 1;
  const divisor = root * model.get("temperature");
  const scores = part(arrays.scores, queries * keys);
  const mask = part(arrays.mask, queries * keys);
  const valueSize = arrays.values ? arrays.values.length / (batches * keys) : 0;
  const allowed = allowedCells({ queries, keys, mask, length, causal });
  return {
    queries, keys, scores, allowed, length, causal, divisor, valueSize,
    weights: maskedSoftmax(scores, allowed, queries, keys, divisor),
    values: part(arrays.values, keys * valueSize),
    queryLabels: labels("query_labels"), keyLabels: labels("key_labels"), vmax: model.get("vmax"),
  };
}
