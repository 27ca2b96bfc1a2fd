"""Widgets and pages are quick: the limits of `make bench`, with threefold slack."""

import pytest

from devkit import browser as harness
from devkit.bench import speed


@pytest.mark.parametrize("name", [name for name in speed.LIMITS if name != "pages"])
def test_speed_with_threefold_slack(browser, name):
    if name == "playground" and not speed.PACKED.is_file():
        pytest.skip("no model is packed: `python -m devkit.playground` packs the stored ones")
    measured = speed.MEASURES[name](browser)
    for value, (what, limit) in zip(measured, speed.LIMITS[name].items(), strict=True):
        assert value < 3 * limit, f"{what}: {value:.1f} ms"


def test_pages_stand_still(walked):
    """Layout shift, which no load of the machine changes: every page, desktop and phone."""
    most = speed.LIMITS["pages"]["layout shift, thousandths"]
    for pages in walked.values():
        shifts = {name: 1000 * found.shift for name, found in pages.items()}
        assert {name: shift for name, shift in shifts.items() if shift >= most} == {}


@pytest.mark.parametrize("name", ["03_scoring", "06_positions", "08_language_model"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_of_formulas_stand_still_to_their_end(visit, server, name, width):
    """Formulas are set before the page is sent, widgets have their room, the contents no bold."""
    with visit(server, width=width) as shown:
        page = shown.page
        page.add_init_script(harness.WATCH)
        page.goto(f"{server}book/{name}.html")
        page.wait_for_function("document.fonts.status === 'loaded'")
        high = page.evaluate("document.documentElement.scrollHeight")
        for _ in range(0, high, 600):
            page.evaluate("scrollBy({ top: 600, behavior: 'instant' })")
            page.wait_for_timeout(40)
        assert page.evaluate("scrollY + innerHeight") >= high - 200
        assert page.evaluate("window.shift") < 0.001


@pytest.mark.parametrize("name", ["index", "07_transformer", "gallery", "playground"])
def test_pages_stand_soon(browser, server, name):
    """Largest paint with threefold slack and an empty cache; `make bench` measures all pages."""
    most = 3 * speed.LIMITS["pages"]["largest paint, ms"]
    paint, _ = speed.measure_page(browser, f"{server}book/{name}.html", slack=3)
    assert 0 < paint < most, paint


def test_a_page_that_moves_is_seen(browser, tmp_path):
    """The control: words that a late picture without a size pushes down."""
    page = tmp_path / "moves.html"
    late = 'setTimeout(() => { late.style.height = "400px"; }, 200)'
    page.write_text(f"<div id=late></div><p>{'words ' * 900}</p><script>{late}</script>", "utf-8")
    paint, shift = speed.visit(browser, page.as_uri(), 1280)
    assert paint > 0 and shift > speed.LIMITS["pages"]["layout shift, thousandths"]
