"""How the pages look: code that fits, a landing page that shows itself, a way on from each page."""

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[3]
SIDES = (("left", "prev"), ("right", "next"))
READS = re.compile(r"It reads in about (\w+) minutes")


def book_pages(pages):
    found = [name for name in pages if name.startswith("book/")]
    assert len(found) > 5
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_assertions_are_tinted(visit, server, theme):
    """Every line that asserts has a ground of its own, and no other line."""
    with visit(server, theme=theme) as shown:
        shown.page.goto(server + "book/03_attention.html")
        lines = shown.page.locator(".cell_input .hll")
        texts = lines.all_inner_texts()
        assert sum(text.lstrip().startswith("assert") for text in texts) > 20
        tint, plain = (
            node.evaluate("(node) => getComputedStyle(node).backgroundColor")
            for node in (lines.first, shown.page.locator(".cell_input .highlight").first)
        )
        assert tint != plain


def test_the_landing_page_shows_what_it_is_at_once(visit, server):
    """On a desktop the live map is whole in the first view, and the diagram begins in it."""
    with visit(server, height=900) as shown:
        page = shown.page
        page.goto(server + "book/index.html")
        page.wait_for_function("document.querySelector('.attn-widget').dataset.widget")
        assert page.locator(".attn-drawing.across").bounding_box()["y"] < 800
        for what in (".attn-hero canvas:visible", ".attn-go a"):
            place = page.locator(f".bd-article {what}").first.bounding_box()
            assert place["y"] >= 0 and place["y"] + place["height"] <= 900, what
        assert page.locator(".attn-claim .hll").count() >= 1
        assert "sure of nothing" in page.locator(".attn-claim .attn-printed").inner_text()


def test_the_landing_map_moves_within_the_first_view_of_a_phone(visit, server):
    with visit(server, width=360, height=740) as shown:
        page = shown.page
        page.goto(server + "book/index.html")
        page.wait_for_function("document.querySelector('.attn-widget').dataset.widget")
        assert page.locator(".attn-hero canvas").first.bounding_box()["y"] < 640


def test_every_page_leads_on(site, pages):
    """Previous and next: the pages of the book are one chain, from its start to its end."""
    followed, name = [], "book/index.html"
    while name:
        assert name not in followed
        page = BeautifulSoup((site / name).read_text("utf-8"), "html.parser")
        back, on = (
            page.select_one(f".prev-next-area .{side}") for side in ("left-prev", "right-next")
        )
        if followed:
            assert urljoin(name, back["href"]) == followed[-1]
        followed.append(name)
        name = urljoin(name, on["href"]) if on else None
    assert sorted(followed) == book_pages(pages)


def test_what_a_chapter_says_of_reading_is_what_its_page_says(site):
    """A chapter's own sentence, and the line that the build reckons, to five minutes."""
    chapters = sorted((ROOT / "book").glob("[0-9][0-9]_*.ipynb"))
    assert chapters
    for path in chapters:
        page = (site / "book" / f"{path.stem}.html").read_text("utf-8")
        (shown,) = re.findall(r'attn-facts">(\d+) minutes to read', page)
        for said in READS.findall(path.read_text("utf-8")):
            assert abs(int(said) - int(shown)) <= 5, f"{path.name}: {said}, its page {shown}"


def test_the_landing_page_has_a_card_for_every_chapter(visit, server, pages):
    chapters = [name for name in pages if re.match(r"book/\d\d_", name)]
    with visit(server) as shown:
        shown.page.goto(server + "book/index.html")
        links = shown.page.locator(".attn-cards > li > p:first-child > a").all()
        found = [link.evaluate("(link) => link.href").removeprefix(server) for link in links]
        assert found == chapters
        links[1].click(force=True)
        assert shown.page.url == server + chapters[1]


@pytest.mark.parametrize("place", ["missing.html", "book/missing.html", "book/a/b/missing.html"])
def test_a_wrong_address_finds_the_way_back(visit, server, site, place):
    """As a server gives it: the page for wrong addresses, under an address that is wrong."""
    body = (site / "404.html").read_text("utf-8")
    for theme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 23, 30)")):
        with visit(server, theme=theme) as shown:
            page = shown.page
            page.route(f"{server}{place}", lambda r: r.fulfill(body=body, content_type="text/html"))
            page.goto(server + place)
            colour = "() => getComputedStyle(document.body).backgroundColor"
            assert page.evaluate(colour) == ground
            page.get_by_role("link", name="Notation").click()
            assert page.url == server + "book/notation.html"
            assert not shown.faults


def test_without_an_address_no_page_names_one(site):
    """No made-up address: neither a map nor a card, until `html.baseurl` is set."""
    assert not (site / "sitemap.xml").exists() and not (site / "_static" / "cards").exists()
    for path in site.glob("book/*.html"):
        text = path.read_text("utf-8")
        assert 'property="og:title"' in text and 'name="description"' in text
        assert "og:image" not in text and "og:url" not in text
