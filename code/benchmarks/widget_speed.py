"""How fast the heat map draws in headless Chromium: medians of 20, in ms.

One map has 64 by 64 cells, a grid of eight heads 32 by 32 each, above the large map of one.

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

LIMITS = {
    "first paint, 64 x 64": 100.0,
    "change, 64 x 64": 16.0,
    "change, 8 heads of 32 x 32": 50.0,
}
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
  const pens = [...document.querySelectorAll("canvas")].map((canvas) => canvas.getContext("2d"));
  return Array.from({ length: repeats }, (_, n) => {
    const input = n % 2 ? length : temperature;
    input.value = n % 2 ? input.max - n : -0.5 + n / repeats;
    const start = performance.now();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    pens.forEach((pen) => pen.getImageData(0, 0, 1, 1));
    return performance.now() - start;
  });
}"""


def measure(browser) -> dict[str, float]:
    """Medians by name, in milliseconds."""
    import torch

    from attnbook.widgets import AttentionHeatmap

    def scores(*shape):
        return 3 * torch.randn(*shape, generator=torch.Generator().manual_seed(0))

    controls = ("lengths", "temperature", "causal")
    single = AttentionHeatmap(scores(64, 64), causal=True, lengths=[60], controls=controls)
    heads = AttentionHeatmap(
        scores(8, 32, 32), heads=True, lengths=[30], controls=(*controls, "grid")
    )
    paint, change = time_widget(browser, single)
    return {
        "first paint, 64 x 64": paint,
        "change, 64 x 64": change,
        "change, 8 heads of 32 x 32": time_widget(browser, heads)[1],
    }


def time_widget(browser, widget) -> tuple[float, float]:
    """The medians of first paint and of a change."""
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
    return statistics.median(paints), statistics.median(changes)


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
        print(f"{name}: {measured[name]:.1f} ms (limit {limit:.0f} ms)")
    return int(any(measured[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
