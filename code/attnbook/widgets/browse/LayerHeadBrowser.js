// The layer × head browser: every head small on one scale, the chosen one large, its cells read out.
import { makeControls } from "../core/controls.js";
import { drawMap } from "../core/draw.js";
import { listenTo } from "../core/gestures.js";
import { planLayout } from "../core/layout.js";
import { onStage } from "../core/stage.js";
import { View } from "../core/view.js";
import { readMaps, SIDES, takeMap, takeScene } from "./data.js";
import { CellExplorer } from "./explorer.js";
import { LayerGrid } from "./grid.js";
import { HEADING, planFigure } from "./layout.js";
import { BrowseLegend } from "./parts.js";
import { SETTINGS } from "./settings.js";
import { FIGURE } from "./skeleton.js";
import { describeHead, headName, numberText, sidesOf } from "./words.js";

const FIXED = ["_examples", "_weights", "_allowed", "_sizes", "_scores", "kinds", "score_label", "title", "alt", "vmax"];
const TALLEST = 440; // of the large map, where the page sets no height

class BrowseView extends View {
  constructor(model, root, palette) {
    super(model, root, palette, FIGURE, "");
    [this.figure, this.heading] = [".lb-figure", ".lb-heading"].map((name) => this.find(name));
    this.canvas = this.find(".ah-map canvas");
    this.explorer = new CellExplorer(root, model, (text) => this.voice.say(text));
    listenTo(this.canvas, this.explorer);
    this.readContent();
    this.follow(["kind", "example"], () => this.readChoice());
    this.follow(["layer", "head"], () => this.readPlace());
    this.follow(["cell"], () => this.readCell());
    this.follow(FIXED, () => this.readContent());
  }

  /** Takes in what a chapter fixes, and builds the parts that hang on it. */
  readContent() {
    const { model } = this;
    this.maps = readMaps(model);
    this.showTitle(this.canvas);
    [this.controls, this.grid, this.legend].forEach((part) => part?.node.remove());
    this.controls = makeControls(model, SETTINGS, {}, {
      always: true, adapt: (changes) => this.adapt(changes),
      onReset: () => {
        this.explorer.forget();
        this.draw();
      },
    });
    this.grid = new LayerGrid((layer, head) => this.store({ layer, head }));
    this.legend = new BrowseLegend(model);
    this.title.after(this.controls.node);
    this.figure.prepend(this.grid.node);
    this.figure.after(this.legend.node);
    this.explorer.forget();
    this.take();
    this.place();
    this.speak(false);
  }

  /** Another kind may have fewer layers or heads; a pinned cell is let go. */
  adapt(changes) {
    const { kind, layer, head } = { ...this.scene, ...changes };
    const [layers, heads] = this.model.get("_sizes")[kind];
    return { cell: null, ...changes, layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) };
  }

  /** Another kind or example: other tokens, other maps. */
  readChoice() {
    this.explorer.forget();
    this.take();
    this.place();
    this.speak(true);
  }

  /** Another head: the large map alone. */
  readPlace() {
    this.take();
    this.grid.mark(this.scene);
    this.drawLarge();
    this.speak(true);
  }

  readCell() {
    this.take();
    this.explorer.cellChanged(this.picture, this.layout);
  }

  take() {
    this.scene = takeScene(this.model, this.maps);
    this.picture = takeMap(this.scene, this.scene.layer, this.scene.head, true);
    this.controls.refresh();
    this.legend.show(this.scene);
  }

  /** The table of the large map, and, where something changed, what that is. */
  speak(changed) {
    const head = describeHead(this.picture, this.model.get("score_label"));
    const line = this.explorer.resting ? `${head}.` : this.explorer.describe();
    this.voice.tell(this.picture, `${this.model.get("alt")} ${head}.`, changed ? line : "");
  }

  /** Shares out the room. In the static page the box's height is fixed: the figure takes the rest. */
  place() {
    const { figure, scene, model, legend } = this;
    const ratio = this.measure();
    const [sizes, scores, examples] = this.get("_sizes", "_scores", "_examples");
    const heads = Math.max(...Object.values(sizes).map(([, count]) => count));
    const plans = Object.fromEntries(model.get("kinds").map((kind) => [kind, planFigure({
      width: figure.clientWidth || 640, layers: sizes[kind][0], numbers: kind in scores, heads,
    })]));
    const plan = plans[scene.kind];
    const layout = (queryLabels, keyLabels, height) => planLayout(this.canvas.getContext("2d"), {
      width: plan.largeWidth, height: height - HEADING, queryLabels, keyLabels, ratio,
    });
    figure.classList.toggle("lb-beside", plan.beside);
    figure.style.gap = `${plan.space}px`;
    legend.place(scene);
    this.grid.place(scene, plan, ratio);
    const grid = Math.max(...Object.values(plans).map(({ gridHeight }) => gridHeight));
    const large = Math.max(...examples.flatMap((example) => Object.keys(plans).map((kind) => {
      const [queryLabels, keyLabels] = SIDES[kind].map((side) => example[side]);
      return HEADING + layout(queryLabels, keyLabels, TALLEST).height;
    })));
    const rest = Math.floor(this.restFor(figure))
      || Math.ceil(plan.beside ? Math.max(grid, large) : grid + plan.space + large);
    figure.style.height = `${rest}px`; // as the highest choice needs: no other moves the page
    const left = plan.beside ? rest : rest - grid - plan.space;
    this.layout = layout(scene.queryLabels, scene.keyLabels, left);
    this.draw();
  }

  draw() {
    this.grid.draw(this.scene, this.model.get("score_label"), this.palette);
    this.drawLarge();
  }

  drawLarge() {
    const { picture, heading } = this;
    drawMap(this.canvas, this.layout, picture, this.palette);
    heading.firstChild.textContent = headName(picture.layer, picture.head);
    heading.lastChild.textContent = [
      sidesOf(picture.kind), numberText(picture.number, this.model.get("score_label")),
    ].filter(Boolean).join(" · ");
    this.explorer.show(picture, this.layout);
  }
}

export default onStage(BrowseView, "attn-heatmap attn-browse");
