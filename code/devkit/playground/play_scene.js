// From an answer of the worker to what the maps show: tokens, masks, links, bytes.
import { allowedCells } from "../attnbook/widgets/core/softmax.js";

const NAMES = { "<bos>": "⟨begin⟩", "<eos>": "⟨end⟩", "<pad>": "⟨pad⟩", "<unk>": "⟨unknown⟩" };

/** A token as it is shown. */
export const shown = (token) => NAMES[token] ?? token;

const equalWords = (a, b) => a.length === b.length && a.every((x, n) => x === b[n]);

/** The links of an example, if this is one and the model has written its translation. */
function linksOf(examples, words, written) {
  return examples.find(({ source, target }) =>
    equalWords([...source, "<eos>"], words) && equalWords([...target, "<eos>"], written)) ?? { sure: [], possible: [] };
}

function marks(links, queries, keys) {
  if (!links.length) return null;
  const cells = new Uint8Array(queries * keys);
  for (const [i, j] of links) cells[i * keys + j] = 1;
  return cells;
}

/**
 * Everything that the maps of one kind show. A row of the decoder is the step that writes a token,
 * so its keys are the tokens read so far, the first of which is the beginning.
 */
export function sceneOf({ head, words, request, written, maps }, store) {
  const { num_layers: layers, num_heads: heads } = head.config;
  const kind = store.get("kind");
  const source = [...words, ...Array(request.ids.length - words.length).fill("<pad>")].map(shown);
  const steps = written.map(shown);
  const read = [shown("<bos>"), ...steps.slice(0, -1)];
  const [queryLabels, keyLabels] = { encoder: [source, source], decoder: [steps, read], cross: [steps, source] }[kind];
  const [queries, keys] = [queryLabels.length, keyLabels.length];
  const causal = kind === "decoder" && request.causal;
  const length = kind === "decoder" ? keys : request.length;
  const links = kind === "cross" ? linksOf(head.examples, words, written) : { sure: [], possible: [] };
  const sure = marks(links.sure, queries, keys);
  const possible = marks(links.possible.filter(([q, k]) => !sure?.[q * keys + k]), queries, keys); // and no more
  const [i, j] = store.get("cell") ?? [];
  const cell = i < queries && j < keys ? { i, j } : null;
  return {
    kind, layers, heads, queries, keys, queryLabels, keyLabels, bytes: maps[kind], start: 0,
    layer: Math.min(store.get("layer"), layers - 1), head: Math.min(store.get("head"), heads - 1),
    numbers: null, vmax: 1, signed: false, inSteps: true, dimLater: false, causal, length,
    allowed: allowedCells({ queries, keys, length, causal }),
    sure, possible, cell, pinned: cell ? i : null,
  };
}
