// Light or dark, as the page around the widget says; all colours live in the style sheet.
import { makeRamp } from "./ramp.js";

/** Whether the page is dark: the book's theme, JupyterLab, Colab, VS Code, else the system. */
function pageIsDark() {
  const { documentElement: html, body } = document;
  if (html.dataset.theme) return html.dataset.theme === "dark";
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (html.getAttribute("theme")) return html.getAttribute("theme") === "dark";
  if (/vscode-(dark|light|high)/.test(body.className)) return !/vscode-\S*light/.test(body.className);
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Marks `root` light or dark and returns its colours, as a canvas needs them. */
export function applyTheme(root) {
  root.dataset.theme = pageIsDark() ? "dark" : "light";
  const style = getComputedStyle(root);
  const colour = (name) => style.getPropertyValue(`--ah-${name}`).trim();
  const ramp = (name) => makeRamp(colour(name).split(/\s+/));
  return {
    ramp: ramp("ramp"), more: ramp("more"), less: ramp("less"), ink: colour("ink"), muted: colour("muted"),
    grid: colour("grid"), hatch: colour("hatch"), hatchGround: colour("hatch-ground"),
    onLarge: colour("on-large"), onSmall: colour("on-small"),
    gold: colour("gold"), goldEdge: colour("gold-edge"), mark: colour("ring"), panel: colour("panel"),
  };
}

/** Calls `repaint` whenever the page turns light or dark; returns the function that stops it. */
export function watchTheme(repaint) {
  const watcher = new MutationObserver(repaint);
  watcher.observe(document.documentElement, { attributeFilter: ["data-theme", "theme"] });
  watcher.observe(document.body, { attributeFilter: ["data-jp-theme-light", "class"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", repaint);
  return () => {
    watcher.disconnect();
    system.removeEventListener("change", repaint);
  };
}
