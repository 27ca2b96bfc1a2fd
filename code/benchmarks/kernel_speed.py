"""How fast kernel regression redraws 50 points and 50 queries in headless Chromium, in ms.

A change runs from the slider's event to the drawn plot and weights: medians of 40. It waits for
the pixels of both canvases, so that no drawing is left for later. Exits with 1 when a limit is
missed.
"""

from __future__ import annotations

import statistics
import sys

from browser_speed import main, shown

LIMITS = {"change of width, 50 x 50": 16.0, "change of query, 50 x 50": 16.0}
REPEATS = 40

CHANGES = """([which, repeats]) => {
  const inputs = document.querySelectorAll("input[type=range]");
  const input = inputs[which.includes("width") ? 0 : 1];
  const contexts = [...document.querySelectorAll("canvas")].map((node) => node.getContext("2d"));
  return Array.from({ length: repeats }, (_, n) => {
    input.value = Math.round((input.max * (n + 1)) / (repeats + 2));
    const start = performance.now();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    contexts.forEach((context) => context.getImageData(0, 0, 1, 1));
    return performance.now() - start;
  });
}"""


def measure(browser) -> dict[str, float]:
    """Medians by name, in milliseconds."""
    import torch

    from attnbook.widgets import KernelRegression

    generator = torch.Generator().manual_seed(0)
    x, noise = 5 * torch.rand(50, generator=generator), torch.randn(50, generator=generator)
    queries = torch.arange(0, 5, 0.1)
    curve = lambda x: 2 * x.sin() + x**0.8  # noqa: E731
    widget = KernelRegression(x, curve(x) + noise / 2, queries=queries, truth=curve(queries))
    with shown(browser, widget) as page:
        measured = {
            name: statistics.median(page.evaluate(CHANGES, [name, REPEATS])) for name in LIMITS
        }
    return measured


if __name__ == "__main__":
    sys.exit(main(measure, LIMITS))
