"""How soon and how still the site's pages stand: the worst of every page, on a local server.

Largest paint: when the largest picture or text of the first view was drawn, in ms after the page
was asked for; the least of a few visits, so that a busy machine does not count against the page.
Layout shift: the browser's own score of what moved, without the reader, while the page loaded, its
widgets woke and its formulas were set, in thousandths. Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from browser_speed import harness

LIMITS = {"largest paint, ms": 1000.0, "layout shift, thousandths": 50.0}
VISITS = 3
WIDTHS = (1280, 360)
WATCH = """
window.paint = 0; window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.paint = entry.startTime;
}).observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def visit(browser, address: str, width: int) -> tuple[float, float]:
    """Largest paint and layout shift of one visit with nothing in the cache."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address, wait_until="load")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(400)
    found = page.evaluate("[window.paint, 1000 * window.shift]")
    context.close()
    return tuple(found)


def measure(browser, base: str, pages: list[str]) -> dict[str, dict[str, float]]:
    """The two numbers of each page, the worse of the widths."""
    found = {}
    for name in pages:
        worst = [0.0, 0.0]
        for width in WIDTHS:
            paint, shift = visit(browser, base + name, width)
            for _ in range(VISITS - 1):  # again, as long as it was too slow
                if paint > LIMITS["largest paint, ms"] * 0.9:
                    paint = min(paint, visit(browser, base + name, width)[0])
            worst = [max(worst[0], paint), max(worst[1], shift)]
        found[name] = dict(zip(LIMITS, worst, strict=True))
    return found


def main() -> int:
    """Print what was measured; 1 if a page misses a limit, 2 if there is no site."""
    from playwright.sync_api import sync_playwright

    site = Path(harness.ROOT) / "_build" / "html"
    pages = sorted(path.relative_to(site).as_posix() for path in site.glob("book/*.html"))
    if not pages:
        print(f"no page in {site}: run `make book` first", file=sys.stderr)
        return 2
    missed = False
    with sync_playwright() as playwright, harness.serve(site) as base:
        path = harness.find_browser(playwright)
        if path is None:
            print(harness.HOW)
            return 1
        browser = harness.launch(playwright, path)
        for name, found in measure(browser, base, pages).items():
            print(name, ", ".join(f"{what} {value:.0f}" for what, value in found.items()))
            missed |= any(found[what] > limit for what, limit in LIMITS.items())
        browser.close()
    print("limits:", LIMITS)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
