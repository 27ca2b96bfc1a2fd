"""How fast kernel regression redraws 50 points and 50 queries in headless Chromium, in ms.

A change runs from the slider's event to the drawn plot and weights: medians of 40. It waits for
the pixels of both canvases, so that no drawing is left for later. Exits with 1 when a limit is
missed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "browser"))
import browser_harness as harness

LIMITS = {"width": 16.0, "query": 16.0}
REPEATS = 40

CHANGES = """([which, repeats]) => {
  const inputs = document.querySelectorAll("input[type=range]");
  const input = inputs[which === "width" ? 0 : 1];
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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "widget.html"
        path.write_text(harness.widget_page(widget), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector("[data-widget=awake]")
        measured = {
            name: statistics.median(page.evaluate(CHANGES, [name, REPEATS])) for name in LIMITS
        }
        page.close()
    return measured


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
        print(f"change of {name}, 50 x 50: {measured[name]:.1f} ms (limit {limit:.0f} ms)")
    return int(any(measured[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
