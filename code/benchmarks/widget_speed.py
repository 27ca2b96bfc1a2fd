"""How fast the heat map draws 64 by 64 cells in headless Chromium: medians of 20, in ms.

First paint runs from the parsed page to the drawn map (saved state read, module imported, weights
computed). A change runs from the input's event to the drawn map. Both wait for the canvas's
pixels, so that no drawing is left for later. Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "browser"))
import browser_harness as harness

LIMITS = {"first paint": 100.0, "change": 16.0}
REPEATS = 20

WATCH = """
document.addEventListener("DOMContentLoaded", () => {
  const start = performance.now();
  new MutationObserver((_, watcher) => {
    const canvas = document.querySelector("[data-widget=awake] canvas");
    if (!canvas) return;
    canvas.getContext("2d").getImageData(0, 0, 1, 1);
    window.firstPaint = performance.now() - start;
    watcher.disconnect();
  }).observe(document.body, { subtree: true, attributeFilter: ["data-widget"] });
});
"""
CHANGES = """(repeats) => {
  const [length, temperature] = document.querySelectorAll("input[type=range]");
  const context = document.querySelector("canvas").getContext("2d");
  return Array.from({ length: repeats }, (_, n) => {
    const input = n % 2 ? length : temperature;
    input.value = n % 2 ? 64 - n : -0.5 + n / repeats;
    const start = performance.now();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    context.getImageData(0, 0, 1, 1);
    return performance.now() - start;
  });
}"""


def measure(browser) -> dict[str, float]:
    """Medians by name, in milliseconds."""
    import torch
    from attnbook.widgets import AttentionHeatmap

    scores = 3 * torch.randn(64, 64, generator=torch.Generator().manual_seed(0))
    widget = AttentionHeatmap(
        scores, causal=True, lengths=[60], controls=("lengths", "temperature", "causal")
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "widget.html"
        path.write_text(harness.widget_page(widget), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(WATCH)
        paints = []
        for _ in range(REPEATS):
            page.goto(path.as_uri())
            page.wait_for_function("window.firstPaint")
            paints.append(page.evaluate("window.firstPaint"))
        changes = page.evaluate(CHANGES, REPEATS)
        page.close()
    return {"first paint": statistics.median(paints), "change": statistics.median(changes)}


def main() -> int:
    """Print the medians beside their limits."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = harness.find_browser(playwright)
        if path is None:
            print(harness.HOW)
            return 1
        browser = harness.launch(playwright, path)
        measured = measure(browser)
        browser.close()
    for name, limit in LIMITS.items():
        print(f"{name}, 64 x 64: {measured[name]:.1f} ms (limit {limit:.0f} ms)")
    return int(any(measured[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
