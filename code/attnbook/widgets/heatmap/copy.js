// A button that copies text, with or without the permission to use the clipboard.
import { button, element } from "../core/inputs.js";

/** Copies by the clipboard, else by a selected text area; returns whether it worked. */
async function copy(text, area) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // no clipboard here, or no permission
    area.value = text;
    area.hidden = false;
    area.select();
    return document.execCommand("copy");
  }
}

/** The button "Copy values". Where nothing else works, the text stands there, selected. */
export function makeCopier(copyText, say) {
  const area = element("textarea", {
    class: "ah-copied-text", readonly: "", rows: 4, "aria-label": "Values, to be copied",
  });
  area.hidden = true;
  const close = () => { area.hidden = true; };
  area.addEventListener("blur", close);
  area.addEventListener("copy", () => say("copied"));
  area.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") node.focus(); // and the text area closes
  });
  const words = element("span", {}, "Copy values");
  const node = button(words, async () => {
    const done = await copy(copyText(), area);
    if (done) {
      if (!area.hidden) node.focus();
      say("copied");
      words.textContent = "Copied ✓";
      setTimeout(() => { words.textContent = "Copy values"; }, 1500);
    } else {
      say("The values are selected: copy them with Ctrl+C or ⌘C.");
    }
  }, { class: "ah-button ah-copy" });
  return element("div", { class: "ah-control ah-copier" }, node, area);
}
