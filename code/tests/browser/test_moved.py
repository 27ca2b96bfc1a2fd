"""What has moved from one page to another is found under its old address."""

import pytest

SAME_NAME = [
    "03_scoring.html#fig-explorer",
    "03_scoring.html#equation-eq-masked-softmax",
    "03_scoring.html#fig-three-questions",
    "03_scoring.html#touch-it",
    "06_positions.html#fig-pos-lengths",
    "06_positions.html#equation-eq-pos-path",
]
NEW_NAME = {
    "05_multihead.html#what-a-head-is-for": "05_multihead.html#what-a-second-head-is-for",
    "05_multihead.html#equation-eq-einsum": "05_multihead.html#sequence-first",
    "03_scoring.html#the-masked-softmax": "03_attention.html#the-mask",
    "03_scoring.html#zero-times-nan": "03_attention.html#where-this-breaks-a-clinic",
    "03_scoring.html#what-a-score-cannot-ask": "03_scoring.html#what-a-score-cannot-do",
    "03_scoring.html#ch3-padding": "03_scoring.html#ch3-padding",  # still there
    "06_positions.html#what-order-costs": "06_reach.html#what-a-layer-costs",
    "06_positions.html#half-precision": "06_positions.html#where-this-breaks-a-clinic",
}


@pytest.fixture(scope="module")
def arrived(browser, server):
    """`arrived(old)`: where an old address within a page ends."""
    page = browser.new_page()

    def follow(old):
        page.goto("about:blank")
        page.goto(f"{server}book/{old}")
        page.wait_for_function(
            "document.getElementById(decodeURIComponent(location.hash.slice(1)))"
        )
        return page.url.removeprefix(f"{server}book/")

    return follow


@pytest.mark.parametrize("old", SAME_NAME)
def test_an_old_address_leads_to_a_place(arrived, old):
    assert arrived(old).endswith(old.partition("#")[2])


@pytest.mark.parametrize("old", NEW_NAME)
def test_a_new_name_is_known(arrived, old):
    assert arrived(old) == NEW_NAME[old]


def test_every_place_that_is_named_exists(site):
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "book" / "_ext"))
    from attn_site import MOVED

    for other, places in MOVED.values():
        for place in (f"{other}#", *places.values()):
            page, _, name = place.partition("#")
            text = (site / f"{page}.html").read_text("utf-8")
            assert not name or f'id="{name}"' in text, place
