// Online softmax, step by step: the keys of one query in blocks, and what is kept of those read.
import { limit } from "../core/gestures.js";
import { figureOf } from "../core/skeleton.js";
import { onStage } from "../core/stage.js";
import { SettingsView } from "../core/view.js";
import { drawColumns, planColumns } from "./columns.js";
import { readBlocks } from "./read.js";
import { SETTINGS } from "./settings.js";
import { describeBlocks, fillBlocks } from "./words.js";

const COLUMNS = `
  ${figureOf("attn-stepper-figure", "bars of keys")}
  <div class="ah-legend" aria-hidden="true">
    <span class="ah-key"><i class="as-frame"></i>block just read</span>
    <span class="ah-key"><i class="ah-swatch ah-weight"></i>so far</span>
    <span class="ah-key"><i class="as-line"></i>dense weight</span>
    <span class="ah-key"><i class="ah-swatch ah-masked"></i>not read yet</span>
  </div>`;

class StepperView extends SettingsView {
  constructor(model, root, palette) {
    super(model, root, palette,
      { skeleton: COLUMNS, settings: SETTINGS, describe: describeBlocks, fill: fillBlocks });
    this.begin();
  }

  take({ block, step, rescale }) {
    const [scores, values, labels] = this.get("scores", "values", "labels");
    const found = readBlocks({ scores, values, block, step, rescale });
    return { ...found, scores, labels, block, rescale, step: found.read };
  }

  plan({ width, height, ratio }) {
    return planColumns({ width, height, ratio, keys: this.picture.scores.length });
  }

  draw() {
    drawColumns(this.canvas, this.layout, this.picture, this.palette);
  }

  /** The changes that keys make. */
  keys({ step, block, blocks }) {
    const to = (next) => ({ step: limit(next, 0, blocks) });
    return { ArrowRight: to(step + 1), ArrowLeft: to(step - 1), Home: to(0), End: to(blocks),
      ArrowUp: { block: block + 1 }, ArrowDown: { block: block - 1 } };
  }
}

export default onStage(StepperView, "attn-heatmap attn-stepper");
