// The switches: which attention is shown, padding and masks, all weight on a cell, and back.
import { headName } from "../attnbook/widgets/browse/words.js";
import { button, checkbox, element, segments, slider } from "../attnbook/widgets/core/inputs.js";
import { entry, legendOf, smallKey, swatch } from "../attnbook/widgets/core/legend.js";
import { NO_CHANGES } from "./play_store.js";

const MOST_PADS = 8;
const KINDS = [["encoder", "Encoder"], ["decoder", "Decoder"], ["cross", "Cross"]];

/** What the colours mean, on all maps. */
export function makeLegend() {
  return legendOf(entry("", swatch("ah-zero"), "zero"), smallKey("1"),
    entry("", swatch("ah-masked"), "masked"), entry("", swatch("ah-gold"), "sure link"),
    entry("", swatch("ah-dashed"), "possible link"));
}

export class Controls {
  /** `cellOf()` gives the pinned cell, {i, j, allowed}, or null; `labels()` those of the large map. */
  constructor(store, { cellOf, nameOf }) {
    Object.assign(this, { store, cellOf, nameOf });
    const kind = segments("Attention", KINDS, (value) => store.set({ kind: value, cell: null }));
    const pads = slider("Padding", { min: 0, max: MOST_PADS, step: 1 }, 9,
      (n) => `${n} ${n === 1 ? "token" : "tokens"}`, (value) => store.set({ pads: value, cell: null }));
    const padding = checkbox("Padding mask", (paddingMask) => store.set({ paddingMask }));
    const causal = checkbox("Causal mask", (value) => store.set({ causal: value }));
    this.forcing = button("Put all weight here", () => this.force(), { class: "ah-button pg-force" });
    this.reset = button("Reset changes", () => store.set({ ...NO_CHANGES }));
    this.list = element("ul", { class: "pg-forced", "aria-label": "Forced weights" });
    const group = (name, ...children) =>
      element("div", { class: "ah-controls", role: "group", "aria-label": name }, ...children);
    this.before = group("Masks", pads.label, padding.label, causal.label, this.reset);
    this.kinds = group("Attention shown", kind.label);
    this.after = element("div", { class: "pg-forcing" }, this.forcing, this.list);
    this.refreshers = [
      () => kind.show(store.get("kind")),
      () => pads.show(store.get("pads"), store.get("pads")),
      () => padding.show(store.get("paddingMask")),
      () => causal.show(store.get("causal")),
      () => this.refreshForced(),
    ];
    store.watch(() => this.refresh());
    this.refresh();
  }

  refresh() {
    this.refreshers.forEach((refresh) => refresh());
  }

  force() {
    const cell = this.cellOf();
    if (!cell?.allowed) return;
    this.store.force(cell.i, this.store.forcedKey(cell.i) === cell.j ? null : cell.j);
  }

  /** The button fits the pinned cell; the list has what is forced, each with a way back. */
  refreshForced() {
    const { store } = this;
    const cell = this.cellOf();
    const held = cell && store.forcedKey(cell.i) === cell.j;
    this.forcing.setAttribute("aria-disabled", !cell?.allowed); // disabled would lose the focus
    this.forcing.textContent = held ? "Let this weight go" : "Put all weight here";
    this.list.replaceChildren(...store.get("forced").map((f) => {
      const { query, key } = this.nameOf(f);
      const text = `${f.kind}, ${headName(f.layer, f.head)}: “${query}” → “${key}”`;
      const away = button("×", () => store.set({ forced: store.get("forced").filter((other) => other !== f) }),
        { "aria-label": `Let go: ${text}` });
      return element("li", {}, text, away);
    }));
  }
}
