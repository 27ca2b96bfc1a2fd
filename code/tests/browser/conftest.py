"""A headless browser, pages that record every fault, and the built site."""

from __future__ import annotations

import functools
import os
from contextlib import ExitStack

import pytest
import site_checks

from devkit import browser as harness


def _missing(reason: str):
    """Skip with the reason; on CI a browser is promised, so its absence is a failure."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def start():
    """`start(speed=...)` gives a headless Chromium, closed after the session."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed: `pip install -r requirements.txt`")
    with sync_playwright() as playwright, ExitStack() as opened:
        path = harness.find_browser(playwright)
        if path is None:
            _missing(harness.HOW)

        def started(**options):
            browser = harness.launch(playwright, path, **options)
            opened.callback(browser.close)
            return browser

        yield started


@pytest.fixture(scope="session")
def browser(start):
    """One headless Chromium for the session."""
    return start()


class Visit:
    """One page in a fresh context, and everything that went wrong on it."""

    def __init__(self, browser, base: str, *, width=1280, height=900, theme="light", **options):
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, **options
        )
        self.context.on("request", self._asked)  # a route would turn off the browser's cache
        self.page = self.context.new_page()
        self.base = base
        self.outside, self.errors = [], []
        self.page.on("console", self._console)
        self.page.on(
            "pageerror", lambda error: self.errors.append(f"uncaught: {error} {error.stack}")
        )
        self.page.on("response", self._response)
        self.page.on("websocket", self._socket)

    def _asked(self, request):
        if not request.url.startswith((self.base, "blob:", "data:")):
            self.outside.append(request.url)

    def _socket(self, socket):
        if not socket.url.startswith(self.base.replace("http", "ws", 1)):
            self.outside.append(socket.url)

    def _console(self, message):
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def _response(self, response):
        if response.status >= 400:
            self.errors.append(f"{response.status}: {response.url}")

    @property
    def faults(self) -> list[str]:
        return [f"outside request: {url}" for url in self.outside] + self.errors

    def forget(self):
        """Begin with a clean sheet: the context serves another page."""
        self.outside.clear()
        self.errors.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.fixture(scope="session")
def visit(browser):
    """`visit(base, ...)` opens a context that may ask nothing outside `base`."""
    return functools.partial(Visit, browser)


@pytest.fixture
def visit_slowly(start):
    """The same, by a browser that takes its connection for 2G."""
    return functools.partial(Visit, start(speed="2G"))


@pytest.fixture(scope="session")
def module(browser):
    """`module(name)`: a page that has imported this JavaScript module as `arithmetic`."""
    pages = {}

    def load(name):
        if name not in pages:
            pages[name] = browser.new_page()
            harness.load(pages[name], name)
        return pages[name]

    yield load
    for page in pages.values():
        page.close()


@pytest.fixture(scope="session")
def spare(visit, tmp_path_factory):
    """Visits that one test after the other may use, and the folder of the pages they open."""
    folder = tmp_path_factory.mktemp("widgets")
    visits = []
    yield visits, folder
    for shown in visits:
        shown.context.close()


@pytest.fixture
def show(visit, spare):
    """`show(*widgets, ...)` opens a page with these widgets from a file.

    A context costs more than most tests: only one that needs an option of its own gets a new one.
    """
    visits, folder = spare
    free, own = iter(visits[:]), []

    def open_page(*widgets, style="", states=None, width=1280, height=900, theme="light", **more):
        path = folder / "page.html"
        path.write_text(harness.widget_page(*widgets, style=style, states=states), "utf-8")
        if more:
            shown = visit(folder.as_uri(), width=width, height=height, theme=theme, **more)
            own.append(shown)
        elif (shown := next(free, None)) is None:
            shown = visit(folder.as_uri())
            visits.append(shown)
        shown.page.set_viewport_size({"width": width, "height": height})
        shown.page.emulate_media(color_scheme=theme)
        shown.page.mouse.move(0, 0)
        shown.forget()
        shown.page.goto(path.as_uri())
        shown.page.wait_for_function(
            "[...document.querySelectorAll('.attn-widget')].every((box) => box.dataset.widget)"
        )
        return shown

    yield open_page
    for shown in own:
        shown.context.close()


@pytest.fixture(scope="session")
def pages(site) -> list[str]:
    """Every page of the site, as a path relative to it."""
    return sorted(
        path.relative_to(site).as_posix()
        for path in site.rglob("*.html")
        if "_static" not in path.relative_to(site).parts
    )


@pytest.fixture(scope="session")
def server(site):
    """The site's address on a server of this machine."""

    with harness.serve(site) as address:
        yield address


@pytest.fixture(scope="session")
def walked(visit, server, site, pages):
    """Every page as found on a desktop, by http and light, and on a phone, as a file and dark."""
    phone = {"width": 360, "height": 740, "theme": "dark"}
    return {
        "desktop": site_checks.walk(visit, site, server, pages),
        "phone": site_checks.walk(visit, site, f"{site.as_uri()}/", pages, **phone),
    }


@pytest.fixture(params=["http", "file"])
def base(request, site) -> str:
    """The site's address, once over http and once as files."""
    return request.getfixturevalue("server") if request.param == "http" else f"{site.as_uri()}/"
