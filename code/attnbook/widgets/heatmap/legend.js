// The legend: what hatching, blank and colours mean, in the view that is shown.
import { element } from "../core/inputs.js";
import { entry, legendOf, smallKey, swatch, vmaxText } from "../core/legend.js";
import { describeHits } from "../core/words.js";

export class Legend {
  constructor(model) {
    this.vmax = element("span", { class: "ah-vmax" });
    const weights = [entry("", swatch("ah-zero"), "zero"), smallKey(this.vmax)];
    this.node = legendOf(entry("", swatch("ah-masked"), "masked"));
    const gold = model.get("_gold")?.byteLength;
    if (gold) this.node.append(entry("", swatch("ah-gold"), "gold"));
    if (model.get("_compare")?.byteLength) this.addDifference(model, weights);
    else this.node.append(...weights);
    this.hits = element("p", { class: "ah-hits" });
    if (gold) this.node.append(this.hits);
  }

  /** Both scales take one place, so that nothing moves when the view changes. */
  addDifference(model, weights) {
    const [first, second] = model.get("compare_labels");
    const end = (sign) => element("span", { class: "ah-end", "data-sign": sign });
    this.ends = [end("−"), end("+")];
    const bar = element("i", { class: "ah-bar ah-both" });
    this.scales = [
      element("span", { class: "ah-scale" }, ...weights),
      element("span", { class: "ah-scale" }, entry("", swatch("ah-zero"), "no change"),
        entry("", this.ends[0], bar, this.ends[1]), entry("", `${second} minus ${first}`)),
    ];
    this.node.append(element("span", { class: "ah-scales" }, ...this.scales));
  }

  show(picture, vmax) {
    this.vmax.textContent = vmaxText(vmax);
    this.hits.textContent = describeHits(picture);
    if (!this.scales) return;
    this.scales[0].classList.toggle("ah-off", picture.signed);
    this.scales[1].classList.toggle("ah-off", !picture.signed);
    const top = picture.signed ? picture.vmax : 1;
    for (const node of this.ends) node.textContent = node.dataset.sign + top;
  }
}
