"""Widgets and pages are quick: the limits of `make bench`, with threefold slack."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import speed


@pytest.mark.parametrize("name", [name for name in speed.LIMITS if name != "pages"])
def test_speed_with_threefold_slack(browser, name):
    if name == "playground" and not speed.PACKED.is_file():
        pytest.skip("no model is packed: `python -m playground` in code packs the stored ones")
    measured = speed.MEASURES[name](browser)
    for value, (what, limit) in zip(measured, speed.LIMITS[name].items(), strict=True):
        assert value < 3 * limit, f"{what}: {value:.1f} ms"


def test_pages_stand_soon_and_still(browser, server, pages):
    """Largest paint with threefold slack; layout shift, which no load of the machine changes."""
    most_paint, most_shift = speed.LIMITS["pages"].values()
    one_of_a_kind = "book/api/pictures.html"  # the reference's pages are one template
    for name in pages:
        if name.startswith("book/") and (name == one_of_a_kind or "/api/" not in name):
            paint, shift = speed.measure_page(browser, server + name, slack=3)
            assert 0 < paint < 3 * most_paint, (name, paint)
            assert shift < most_shift, (name, shift)


def test_a_page_that_moves_is_seen(browser, tmp_path):
    """The control: words that a late picture without a size pushes down."""
    page = tmp_path / "moves.html"
    late = 'setTimeout(() => { late.style.height = "400px"; }, 200)'
    page.write_text(f"<div id=late></div><p>{'words ' * 900}</p><script>{late}</script>", "utf-8")
    paint, shift = speed.visit(browser, page.as_uri(), 1280)
    assert paint > 0 and shift > speed.LIMITS["pages"]["layout shift, thousandths"]
