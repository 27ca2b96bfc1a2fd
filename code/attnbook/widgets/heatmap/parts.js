// The parts of a heat map: title, controls, heads, map, legend, line, and what is only heard.
import { makeControls } from "./controls.js";
import { Explorer } from "../core/explorer.js";
import { listenTo } from "../core/gestures.js";
import { HeadGrid } from "./heads.js";
import { Legend } from "./legend.js";
import { tensorLiteral } from "./literal.js";
import { Voice } from "../core/voice.js";

const SKELETON = `
  <p class="ah-title"></p>
  <div class="ah-map">
    <canvas tabindex="0" role="application" aria-roledescription="heat map"></canvas>
    <div class="ah-row" hidden></div>
    <div class="ah-ring" hidden></div>
  </div>
  <p class="ah-readout" aria-hidden="true"></p>
  <div class="ah-hidden"><p aria-live="polite"></p><table></table></div>`;

/** Sets up the parts once; returns them by name. `picture()` is what is shown now. */
export function buildParts(model, root, picture) {
  root.innerHTML = SKELETON;
  const map = root.querySelector(".ah-map");
  const voice = new Voice(root);
  const say = (text) => voice.say(text);
  const view = { model, root, map, voice, legend: new Legend(model) };
  const copyText = () => tensorLiteral(picture().weights, picture().queries, picture().keys);
  view.title = root.querySelector(".ah-title");
  view.canvas = map.querySelector("canvas");
  view.explorer = new Explorer(root, model, say);
  listenTo(view.canvas, view.explorer);
  view.controls = makeControls(model, { copyText, say });
  view.grid = model.get("controls").includes("grid") ? new HeadGrid(model) : null;
  view.title.after(view.controls.node, ...(view.grid ? [view.grid.node] : []));
  map.after(view.legend.node);
  return view;
}
