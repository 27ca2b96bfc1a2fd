"""What has moved from one page to another is found under its old address."""

import pytest

OLD = "book/03_scoring.html"
SAME_NAME = ["fig-explorer", "equation-eq-masked-softmax", "fig-three-questions", "touch-it"]
NEW_NAME = {
    "the-masked-softmax": "book/03_attention.html#the-mask",
    "zero-times-nan": "book/03_attention.html#where-this-breaks-a-clinic",
    "what-a-score-cannot-ask": "book/03_scoring.html#what-a-score-cannot-do",
    "ch3-padding": "book/03_scoring.html#ch3-padding",  # still there
}


@pytest.fixture(scope="module")
def arrived(browser, server):
    """`arrived(name)`: where an old address within a page ends."""
    page = browser.new_page()

    def follow(name, old=OLD):
        page.goto("about:blank")
        page.goto(f"{server}{old}#{name}")
        page.wait_for_function(
            "document.getElementById(decodeURIComponent(location.hash.slice(1)))"
        )
        return page.url.removeprefix(server)

    return follow


@pytest.mark.parametrize("name", SAME_NAME)
def test_an_old_address_leads_to_a_place(arrived, name):
    assert arrived(name).endswith(f"#{name}")


@pytest.mark.parametrize("name", NEW_NAME)
def test_a_new_name_is_known(arrived, name):
    assert arrived(name) == NEW_NAME[name]


@pytest.mark.parametrize(
    ("name", "now"),
    [("what-a-head-is-for", "what-a-second-head-is-for"), ("equation-eq-einsum", "sequence-first")],
)
def test_a_page_written_anew_knows_its_old_names(arrived, name, now):
    assert arrived(name, "book/05_multihead.html") == f"book/05_multihead.html#{now}"


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
