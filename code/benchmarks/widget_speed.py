"""How fast the heat map draws in headless Chromium: medians of 20, in ms.

One map has 64 by 64 cells, a grid of eight heads 32 by 32 each, above the large map of one.

First paint runs from the parsed page to the drawn map (saved state read, module imported, weights
computed). A change runs from the input's event to the drawn map. Both wait for the canvas's
pixels, so that no drawing is left for later. Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import statistics
import sys

from browser_speed import main, shown

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
    with shown(browser, widget, script=WATCH) as page:
        paints = []
        for _ in range(REPEATS):
            page.reload()
            page.wait_for_function("window.firstPaint")
            paints.append(page.evaluate("window.firstPaint"))
        changes = page.evaluate(CHANGES, REPEATS)
    return statistics.median(paints), statistics.median(changes)


if __name__ == "__main__":
    sys.exit(main(measure, LIMITS))
