// A view's life in the page: it is built once its element stands there with a width, whichever
// front end put it there, and when. JupyterLab calls `render` before that, hides what is folded,
// and takes out what is far from the screen: until then nothing is measured or coloured.
import { watchWidth } from "./follow.js";
import { applyTheme, watchTheme } from "./theme.js";

/**
 * Keeps the keys of the widget's own controls: a notebook would go to another cell, the book to
 * another page. Jupyter may look at a key before it comes here; it passes over what is so marked.
 */
function keepKeys(root) {
  const own = (event) => !(event.ctrlKey || event.metaKey || event.altKey) // save, copy, ...
    && !(event.shiftKey && event.key === "Enter") // run this cell
    && event.key !== "Escape"; // what is not ours to close
  const mark = (event) => {
    if (root.contains(event.target)) {
      event.target.toggleAttribute("data-lm-suppress-shortcuts", own(event));
    }
  };
  root.addEventListener("keydown", (event) => { if (own(event)) event.stopPropagation(); });
  window.addEventListener("keydown", mark, true);
  return () => window.removeEventListener("keydown", mark, true);
}

/**
 * A widget in anywidget's form, from a class of views: `new View(model, root, palette)`, with
 * `place()` for a new width, `paint(palette)` for a new theme, and `stop()`.
 */
export function onStage(View, className) {
  function render({ model, el }) {
    const root = document.createElement("div");
    root.className = className;
    el.append(root);
    let view = null;
    const look = (width, before) => {
      if (!width) return;
      if (!view) {
        view = new View(model, root, applyTheme(root));
      } else {
        if (!before) view.paint(applyTheme(root)); // it is back, and the theme may be another
        view.place();
      }
    };
    const repaint = () => { if (view && root.clientWidth) view.paint(applyTheme(root)); };
    // In the next frame: while JupyterLab changes its style sheets, nothing has a width.
    const stopTheme = watchTheme(() => requestAnimationFrame(repaint));
    const stops = [watchWidth(root, look), stopTheme, keepKeys(root), () => view?.stop()];
    look(root.clientWidth, 0);
    return () => stops.forEach((stop) => stop());
  }
  return { render };
}
