// What the reader has chosen and changed, and who wants to know of it.
const key = (kind, layer, head) => `${kind} ${layer} ${head}`;

/** Nothing taken out, nothing forced, both masks on, no padding. */
export const NO_CHANGES = { out: [], forced: [], paddingMask: true, causal: true, pads: 0 };

export class Store {
  constructor(values) {
    this.values = { ...NO_CHANGES, kind: "cross", layer: 0, head: 0, cell: null, ...values };
    this.listeners = [];
  }

  get(name) {
    return this.values[name];
  }

  set(changes) {
    const names = Object.keys(changes).filter((name) => changes[name] !== this.values[name]);
    Object.assign(this.values, changes);
    if (names.length) this.listeners.forEach((listener) => listener(names));
  }

  save_changes() {} // as a widget's model has it

  /** Calls `listener` with the names that changed. */
  watch(listener) {
    this.listeners.push(listener);
  }

  isOut(kind, layer, head) {
    return this.values.out.includes(key(kind, layer, head));
  }

  toggle(kind, layer, head) {
    const name = key(kind, layer, head);
    const { out } = this.values;
    this.set({ out: out.includes(name) ? out.filter((other) => other !== name) : [...out, name] });
  }

  /** The key on which a query of the chosen head is forced to put all weight, or null. */
  forcedKey(query) {
    const { kind, layer, head, forced } = this.values;
    const found = forced.find((f) => key(f.kind, f.layer, f.head) === key(kind, layer, head) && f.query === query);
    return found ? found.key : null;
  }

  /** Forces a query of the chosen head to one key; null lets it go. */
  force(query, toKey) {
    const { kind, layer, head, forced } = this.values;
    const others = forced.filter((f) => key(f.kind, f.layer, f.head) !== key(kind, layer, head) || f.query !== query);
    this.set({ forced: toKey === null ? others : [...others, { kind, layer, head, query, key: toKey }] });
  }

  /** Whether the model runs as it was trained: padding that is masked changes nothing. */
  get plain() {
    const { out, forced, causal, paddingMask, pads } = this.values;
    return !out.length && !forced.length && causal && (paddingMask || !pads);
  }

  /** The request of a sentence's ids, as `translate` wants it. */
  request(ids, { num_layers: layers, num_heads: heads }) {
    const { out, forced, causal, paddingMask, pads } = this.values;
    const changes = {};
    for (const kind of ["encoder", "decoder", "cross"]) {
      changes[kind] = Array.from({ length: layers }, (_, layer) => Array.from({ length: heads }, (__, head) => ({
        out: out.includes(key(kind, layer, head)),
        forced: forced.filter((f) => key(f.kind, f.layer, f.head) === key(kind, layer, head))
          .map((f) => [f.query, f.key]),
      })));
    }
    const padded = [...ids, ...Array(pads).fill(0)];
    return { ids: padded, words: ids.length, length: paddingMask ? ids.length : padded.length, causal, changes };
  }
}
