"""How fast the playground translates in headless Chromium, in ms.

"first" runs from the click on Translate, with nothing loaded, to the whole French sentence: median
of fresh pages. "changed" runs from a switch to the new sentence. "blocked" is the longest time for
which the page answers nobody while a reader types, longer sentences too: the worker computes, so
that only drawing is left. Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from browser_speed import harness, main

PACKED = harness.ROOT / "book" / "_site" / "playground" / "grammar.js"
LIMITS = {"first": 1000.0, "changed": 300.0, "blocked": 100.0}

SENTENCES = [
    "the old cat sees a small bird .",
    "when will her neighbour sell her clean car to our sick mother ?",
    "we are going to invite these handsome lawyers and his doctor tonight , and my teacher is not "
    "going to invite her even though i always watch her .",
]
#: Resolves with the time from `act` to the moment when the page says a translation.
UNTIL = """(act) => new Promise((done) => {
  const status = document.querySelector(".pg-output [role=status]");
  const start = performance.now();
  new MutationObserver((_, watcher) => {
    if (!status.textContent.startsWith("Translation")) return;
    watcher.disconnect();
    done(performance.now() - start);
  }).observe(status, { childList: true, characterData: true, subtree: true });
  document.querySelector(act).click();
})"""
#: Types the sentences letter by letter, 30 ms apart; the longest gap in a clock of 5 ms.
TYPE = """async (sentences) => {
  const input = document.querySelector(".pg-input");
  const wait = (ms) => new Promise((go) => setTimeout(go, ms));
  let [last, longest] = [performance.now(), 0];
  const clock = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  for (const sentence of sentences) {
    for (let n = 1; n <= sentence.length; n++) {
      input.value = sentence.slice(0, n);
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await wait(n % 12 ? 30 : 200);
    }
    await wait(600);
  }
  clearInterval(clock);
  return longest;
}"""


def measure(browser, repeats: int = 5) -> dict[str, float]:
    """The three numbers of the packed model, by name."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PACKED, folder)
        model = {"name": "grammar", "label": "Grammar", "file": PACKED.name, "about": ""}
        settings = {"models": [{**model, "examples": [SENTENCES[0].split()]}]}
        path = harness.playground_page(Path(folder), settings)
        first = []
        for _ in range(repeats):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.as_uri())
            first.append(page.evaluate(UNTIL, ".pg-go"))
            if len(first) < repeats:
                page.close()
        changed = [page.evaluate(UNTIL, ".pg-switch") for _ in range(2 * repeats)]
        blocked = page.evaluate(TYPE, SENTENCES[1:])
        page.close()
    return {
        "first": statistics.median(first),
        "changed": statistics.median(changed),
        "blocked": blocked,
    }


if __name__ == "__main__":
    if PACKED.is_file():
        sys.exit(main(measure, LIMITS))
    print("no model is packed: `python -m playground` in `code` packs the stored ones")
