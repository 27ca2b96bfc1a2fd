"""What the widgets' benchmarks share: a page with one widget in headless Chromium, and limits."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "browser"))
import browser_harness as harness


@contextmanager
def shown(browser, widget, *, script: str | None = None) -> Iterator:
    """A page that shows a widget, awake; `script` runs before anything else on it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "widget.html"
        path.write_text(harness.widget_page(widget), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        if script:
            page.add_init_script(script)
        page.goto(path.as_uri())
        page.wait_for_selector("[data-widget=awake]")
        yield page
        page.close()


def main(measure: Callable[..., Mapping[str, float]], limits: Mapping[str, float]) -> int:
    """Print what was measured beside its limits, all in ms; 1 if one is missed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = harness.find_browser(playwright)
        if path is None:
            print(harness.HOW)
            return 1
        browser = harness.launch(playwright, path)
        measured = measure(browser)
        browser.close()
    for name, limit in limits.items():
        print(f"{name}: {measured[name]:.1f} ms (limit {limit:.0f} ms)")
    return int(any(measured[name] > limit for name, limit in limits.items()))
