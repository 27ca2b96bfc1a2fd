"""What goes with a published site, with an address and without, and where it may be deep."""

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import attn_cards
import pytest
from attnbook_testing.books import small_book
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]


ADDRESS = "https://example.org/course"
PAGES = {"index": "# Start\n\nWords.", "03_a": "# A < B\n\n*Why & how?*\n\nWords."}
TAG = re.compile(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"')


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    done = small_book(folder, PAGES, site=ADDRESS)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html"


def test_the_map_names_every_page_and_nothing_else(published):
    urls = ElementTree.parse(published / "sitemap.xml").getroot()
    found = [url[0].text for url in urls]
    assert found == [f"{ADDRESS}/book/index.html", f"{ADDRESS}/book/03_a.html"]


def test_cards_have_absolute_addresses_of_pictures_that_are_there(published):
    text = (published / "book" / "03_a.html").read_text("utf-8")
    tags = dict(TAG.findall(text))
    assert tags["og:url"] == f"{ADDRESS}/book/03_a.html"
    assert tags["og:title"].endswith("A &lt; B")
    assert tags["og:description"] == tags["description"] == "Why &amp; how?"
    picture = published / tags["og:image"].removeprefix(f"{ADDRESS}/")
    with Image.open(picture) as image:
        size = (int(tags["og:image:width"]), int(tags["og:image:height"]))
        assert image.format == "PNG" and image.size == size
    assert picture.stat().st_size < 60_000


def test_a_wrong_address_leads_home_from_any_depth(published):
    text = (published / "404.html").read_text("utf-8")
    assert '<base href="/course/">' in text
    hrefs = re.findall(r'<a href="([^"]+)"', text)
    assert hrefs == ["book/index.html", "book/03_a.html"]
    assert not re.search(r'(?:src|<link[^>]*href)="(?!data:)', text)  # it brings all it needs


def test_an_address_must_be_one(tmp_path):
    done = small_book(tmp_path, PAGES, site="example.org")
    assert done.returncode != 0
    assert "html.baseurl is 'example.org'" in done.stdout


def test_a_card_is_small_whatever_the_title_and_always_the_same():
    for title in ("A", "1. " + "Incomprehensibilities " * 6, "W" * 18):
        card = attn_cards.draw_card(title, "Attention, Measured: from cues")
        assert len(card) < 60_000
        assert card == attn_cards.draw_card(title, "Attention, Measured: from cues")
        with Image.open(io.BytesIO(card)) as image:
            assert image.size == (1200, 630)


def test_the_map_on_a_card_is_a_causal_softmax():
    rows = attn_cards.weights()
    assert [len(row) for row in rows] == list(range(1, attn_cards.CELLS + 1))
    assert all(sum(row) == pytest.approx(1) for row in rows)
