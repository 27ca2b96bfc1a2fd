// From the model's traits to examples, and from an example to what one step of decoding did.
import { binary } from "../core/binary.js";
import { argmaxKey, goldHits, marksOf } from "../core/measure.js";
import { allowedCells } from "../core/softmax.js";

const [UNITS, MASKED] = [10000, 65535]; // as in examples.py

/** The examples with their weights, one array for each model, and their links as marks. */
export function readExamples(model) {
  const units = binary(model, "_weights", Uint16Array);
  const models = model.get("model_labels").length;
  let start = 0;
  return model.get("_examples").map((example) => {
    const queries = example.target.length;
    const keys = example.source.length;
    const size = queries * keys;
    const planes = Array.from({ length: models }, (_, m) =>
      units.subarray(start + m * size, start + (m + 1) * size));
    const valid = allowedCells({ queries, keys, length: example.length });
    start += models * size;
    const sure = marksOf(example.sure, queries, keys);
    const possible = marksOf(example.possible, queries, keys);
    return {
      ...example, queries, keys, sure, possible,
      weights: planes.map((plane) => Float64Array.from(plane, (n) => (n === MASKED ? 0 : n / UNITS))),
      either: sure.map((mark, at) => mark | possible[at]),
      allowed: planes.map((plane) => valid.map((open, at) => (plane[at] === MASKED ? 0 : open))),
    };
  });
}

/** What the map of model `m` shows when decoding has reached `step`. */
export function alignmentPicture(example, m, step, vmax) {
  const { queries, keys, length, sure, possible, either } = example;
  return {
    queries, keys, length, allowed: example.allowed[m], gold: sure, possible, either, vmax, signed: false,
    weights: example.weights[m], queryLabels: example.target, keyLabels: example.source,
    axes: ["target", "source"], pinned: step, dimLater: true,
    candidates: example.candidates[m] ?? [], classes: example.classes,
  };
}

/**
 * Where the weight of target token `i` went: the source token of the largest weight (-1: nowhere),
 * the gold links, and the verdict: "sure", "possible", "miss", "none" (no gold link), "nothing".
 */
export function takeStep({ weights, gold, possible, keys }, i) {
  const best = argmaxKey(weights, i, keys);
  const links = [];
  for (let j = 0; j < keys; j++) {
    const at = i * keys + j;
    if (gold[at] || possible[at]) links.push({ j, sure: Boolean(gold[at]) });
  }
  const hit = links.find(({ j }) => j === best);
  let verdict = links.length ? "miss" : "none";
  if (best < 0) verdict = "nothing";
  else if (hit) verdict = hit.sure ? "sure" : "possible";
  return { best, links, verdict, weight: best < 0 ? 0 : weights[i * keys + best] };
}

/** Of the tokens up to `step` that have a sure (or any) link, how many have their argmax on one. */
export function takeScore({ weights, gold, either, keys }, step) {
  const count = (links) => goldHits(weights, links, step + 1, keys);
  return { sure: count(gold), possible: count(either) };
}

/** The step in an example of `after` tokens: one at the end stays there, others stay if they can. */
export function keepStep(step, before, after) {
  return step === before - 1 ? after - 1 : Math.min(step, after - 1);
}
