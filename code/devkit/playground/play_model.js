// The forward pass of `attnbook.Transformer`, for one sentence. Pure arithmetic: no page, no state.
import { allowedCells } from "../attnbook/widgets/core/softmax.js";
import { attend } from "./play_attention.js";
import { add, layerNorm, linear, relu, sinusoid } from "./play_layers.js";

function joined(first, second) {
  const both = new Float32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

export class Translator {
  /** `tensors`: float32 arrays under torch's names; `config`: as `TransformerConfig`. */
  constructor({ head, tensors }) {
    this.config = head.config;
    this.tensors = tensors;
  }

  linear(x, name, inputs = this.config.d_model) {
    return linear(x, this.tensors[`${name}.weight`], this.tensors[`${name}.bias`], inputs);
  }

  norm(x, name) {
    return layerNorm(x, this.tensors[`${name}.weight`], this.tensors[`${name}.bias`]);
  }

  /** Token vectors times √d, plus the vectors of their places. */
  embed(ids, name, offset = 0) {
    const { d_model: d, positions, max_len: most } = this.config;
    const table = this.tensors[`${name}.tokens.weight`];
    const learned = this.tensors[`${name}.positions.table`];
    const x = new Float32Array(ids.length * d);
    ids.forEach((id, n) => {
      const place = offset + n;
      if (positions === "learned" && place >= most) throw new Error(`no position after ${most} tokens`);
      const wave = positions === "sinusoidal" ? sinusoid(place, d) : null;
      for (let i = 0; i < d; i++) {
        const shift = wave ? wave[i] : learned ? learned[place * d + i] : 0;
        x[n * d + i] = Math.fround(table[id * d + i] * Math.sqrt(d)) + shift;
      }
    });
    return x;
  }

  /** x + f(norm(x)) where the norm comes first, norm(x + f(x)) where it comes last. */
  around(x, name, f) {
    const pre = this.config.norm === "pre";
    const y = add(x, f(pre ? this.norm(x, `${name}.norm`) : x));
    return pre ? y : this.norm(y, `${name}.norm`);
  }

  project(x, name) {
    return { keys: this.linear(x, `${name}.W_k`), values: this.linear(x, `${name}.W_v`) };
  }

  /** One attention sub-layer; `memory` to look at, or null for its own sequence after `past`. */
  attention(x, name, { memory = null, past = null, allowed, offset = 0, changes }) {
    const { d_model: d, num_heads: heads } = this.config;
    const found = {};
    found.x = this.around(x, name, (read) => {
      const own = memory ?? this.project(read, `${name}.attention`);
      found.memory = past
        ? { keys: joined(past.keys, own.keys), values: joined(past.values, own.values) }
        : own;
      const queries = this.linear(read, `${name}.attention.W_q`);
      const { pooled, weights } = attend(queries, found.memory, allowed, { d, heads, offset, changes });
      found.weights = weights;
      return this.linear(pooled, `${name}.attention.W_o`);
    });
    return found;
  }

  feedForward(x, name) {
    return this.around(x, name, (read) => {
      const inside = relu(this.linear(read, `${name}.layers.0`));
      return this.linear(inside, `${name}.layers.2`, this.config.d_ff ?? 4 * this.config.d_model);
    });
  }

  finish(x, name) {
    return this.config.norm === "pre" ? this.norm(x, `${name}.norm`) : x;
  }

  /**
   * Reads a source, of which the first `length` ids count. `changes.encoder[layer][head]` as in
   * `attend`. Gives {outputs, weights[layer][head]}.
   */
  encode(ids, { length = ids.length, changes = {} } = {}) {
    const n = ids.length;
    const allowed = allowedCells({ queries: n, keys: n, length });
    let x = this.embed(ids, "encoder.embedding");
    const weights = [];
    for (let layer = 0; layer < this.config.num_layers; layer++) {
      const name = `encoder.stack.blocks.${layer}`;
      const read = this.attention(x, `${name}.self_attention`, { allowed, changes: changes.encoder?.[layer] });
      weights.push(read.weights);
      x = this.feedForward(read.x, `${name}.feed_forward`);
    }
    return { outputs: this.finish(x, "encoder.stack"), weights };
  }

  /** What the decoder needs of a source before its first token: keys and values for each layer. */
  begin({ outputs }, { length = outputs.length / this.config.d_model, changes = {} } = {}) {
    const memory = Array.from({ length: this.config.num_layers }, (_, layer) =>
      this.project(outputs, `stack.blocks.${layer}.cross_attention.attention`));
    return { memory, past: null, read: 0, length, changes };
  }

  /**
   * Reads target ids after those that `state` has read, and gives {logits (ids, vocabulary),
   * decoder and cross weights [layer][head], the next state}. A token sees those before it; without
   * `causal`, all that are read here, so that a prefix must be read as a whole.
   */
  step(ids, state, causal = true) {
    const { memory, past, read: offset, length, changes } = state;
    const [q, t] = [ids.length, offset + ids.length];
    const source = memory[0].keys.length / this.config.d_model;
    const all = allowedCells({ queries: t, keys: t, causal }).subarray(offset * t);
    const toSource = allowedCells({ queries: q, keys: source, length });
    let x = this.embed(ids, "embedding", offset);
    const [own, decoder, cross] = [[], [], []];
    for (let layer = 0; layer < this.config.num_layers; layer++) {
      const name = `stack.blocks.${layer}`;
      const self = this.attention(x, `${name}.self_attention`, {
        past: past?.[layer], allowed: all, offset, changes: changes.decoder?.[layer],
      });
      const across = this.attention(self.x, `${name}.cross_attention`, {
        memory: memory[layer], allowed: toSource, offset, changes: changes.cross?.[layer],
      });
      own.push(self.memory);
      decoder.push(self.weights);
      cross.push(across.weights);
      x = this.feedForward(across.x, `${name}.feed_forward`);
    }
    const logits = this.linear(this.finish(x, "stack"), "output");
    return { logits, decoder, cross, state: { ...state, past: own, read: t } };
  }
}
