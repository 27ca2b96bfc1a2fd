"""A headless browser, and a page to open in it: for the tests, the pictures and `bench.speed`."""

from __future__ import annotations

import functools
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from devkit import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SHELL = "chromium-headless-shell"  # the same without a window: half the processor time
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
HOW = (
    "no browser: install Chromium or Chrome (Debian: `apt-get install chromium-headless-shell`), "
    "or run `python -m playwright install chromium`"
)

# In a page before its own scripts: when the largest thing was painted, and how far things moved.
WATCH = """
window.paint = 0; window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.paint = entry.startTime;
}).observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def find_browser(playwright) -> str | None:
    """Chromium or Chrome on the path, else Playwright's own, else None."""
    for name in (SHELL, *NAMES):
        if path := shutil.which(name):
            return path
    own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def launch(playwright, path: str, speed: str = "4G"):
    """A headless browser that makes no request of its own and takes its connection for `speed`.

    Left to itself it takes a busy machine for 2G, and fetches late pictures earlier there.
    """
    args = [*FLAGS, f"--force-effective-connection-type={speed}"]
    return playwright.chromium.launch(executable_path=path, args=args)


class Quiet(SimpleHTTPRequestHandler):
    """A server's answers, without a log."""

    def log_message(self, *_):
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server that does not mind a page that leaves before it has all its files."""

    def handle_error(self, request, client_address):
        """Report anything but a connection that the browser closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve(site: Path) -> Iterator[str]:
    """The address of a folder on a server of this machine."""
    handler = functools.partial(Quiet, directory=str(site))
    with Server(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}/"
        running.shutdown()


def load(page, name: str) -> None:
    """Import one module and what it imports; its exports are `arithmetic` in the page."""
    from attnbook.widgets import bundle

    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
          window.arithmetic = await import(url);
        }""",
        bundle.join(name),
    )


def script(kind: str, value) -> str:
    """A JSON script element."""
    body = json.dumps(value).replace("<", "\\u003c")
    return f'<script type="{kind}">{body}</script>'


def widget_page(*shown, style: str = "", states: dict | None = None) -> str:
    """A page with these widgets, or saved models, mounted by the book's own script."""
    from attnbook.widgets import AttentionHeatmap, stub_state

    widgets = [one for one in shown if not isinstance(one, dict)]
    state = stub_state(AttentionHeatmap.get_manager_state(widgets=widgets))["state"]
    models = {f"{n:032}": one for n, one in enumerate(shown) if isinstance(one, dict)}
    ids = [f"{n:032}" if isinstance(one, dict) else one.model_id for n, one in enumerate(shown)]
    return page_of(state | models | (states or {}), ids, f"body {{ margin: 16px; }} {style}")


# The traits of each model of a page, as its script holds them: it copies them when one awakes.
TRAITS = """<script>window.traits = []; {
  const copy = structuredClone;
  window.structuredClone = (state) => { traits.push(copy(state)); return traits.at(-1); };
}</script>"""


def page_of(states: dict, ids: list[str], style: str) -> str:
    """A page with a box for each of these ids, of saved widget states."""
    from attnbook.widgets import bundle

    views = [
        '<div class="attn-widget"><img alt="the picture" src="data:,">'
        + script(
            "application/vnd.jupyter.widget-view+json",
            {"version_major": 2, "version_minor": 0, "model_id": model_id},
        )
        + "</div>"
        for model_id in ids
    ]
    saved = script("application/vnd.jupyter.widget-state+json", {"state": states})
    names = {state["state"].get("_anywidget_id") for state in states.values()}
    code = bundle.registry_script(*sorted(names & set(bundle.WIDGETS))).replace("</", "<\\/")
    site = ROOT / "book" / "_site" / "widgets"
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>widgets</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><style>{style}</style>
<style>{(site / "mount.css").read_text()}</style></head>
<body>{"".join(views)}{saved}{TRAITS}
<script>{code}</script>
<script>{(site / "mount.js").read_text()}</script></body></html>"""


def playground_page(folder: Path, settings: dict) -> Path:
    """A page with the playground alone, as the built book has it; the models' files beside it."""
    from attnbook.widgets import bundle
    from devkit.playground.page import page_script, page_style

    (folder / "play.js").write_text(page_script(bundle), encoding="utf-8")
    page = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>playground</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>body {{ margin: 16px; }} {page_style(bundle)}</style></head><body>
<div class="attn-playground">{script("application/json", settings)}</div>
<script src="play.js"></script></body></html>"""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    return path
