// A document as models read it: words, weights of sentences, and the truth beside them.
import { figureOf } from "../core/skeleton.js";
import { maskedSoftmax } from "../core/softmax.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { drawPage, planPage } from "./page.js";
import { SETTINGS } from "./settings.js";
import { describeReading, fillReading } from "./words.js";

const PAGE = `
  ${figureOf("attn-document-figure", "document with bars")}
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="ah-swatch ah-weight"></i>weight of the sentence</span>
    <span class="ah-key"><i class="ah-swatch ad-truth"></i><span class="ad-name"></span></span>
  </div>`;

class DocumentView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette,
      { skeleton: PAGE, settings: SETTINGS, describe: describeReading, fill: fillReading });
    this.find(".ad-name").textContent = model.get("truth_name");
    this.begin();
  }

  /** What is to be drawn: the same numbers as `weights` and `logit` in Python. */
  take({ reader, erased }) {
    const [sentences, readings, truth, truthName, names, sides] = this.get("sentences", "_readings",
      "truth", "truth_name", "names", "sides");
    const { words, scores, votes } = readings[reader];
    const left = Uint8Array.from(scores, (_, i) => (i === erased - 1 ? 0 : 1));
    const weights = maskedSoftmax(scores, left, 1, scores.length);
    const logit = votes.reduce((sum, vote, i) => sum + weights[i] * vote, 0);
    return { reader, erased, sentences, words, weights, left, logit, truth, truthName,
      name: names[reader], side: sides[logit > 0 ? 1 : 0] };
  }

  plan({ width, ratio }) {
    return planPage(this.canvas.getContext("2d"), { width, ratio, sentences: this.picture.sentences });
  }

  draw() {
    drawPage(this.canvas, this.layout, this.picture, this.palette);
  }

  /** The changes that keys make. */
  keys({ erased, reader }) {
    return { ArrowDown: { erased: erased + 1 }, ArrowUp: { erased: erased - 1 },
      ArrowRight: { reader: reader + 1 }, ArrowLeft: { reader: reader - 1 }, Home: { erased: 0 } };
  }
}

export default onStage(DocumentView, "attn-heatmap attn-document");
