"""What is made of the built site: slides of a chapter, and the book in one PDF."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from devkit import pages as site_pages
from devkit import printed, slides

CHAPTER = "book/03_attention"
BYTES = 12e6 / 300  # a page: the whole book is to stay under 12 MB


@pytest.fixture(scope="module")
def deck(site, tmp_path_factory):
    """The slides of one chapter: their folder and their page."""
    folder = tmp_path_factory.mktemp("slides")
    (path,) = slides.write(site, folder, [CHAPTER])
    return folder, path


def test_the_slides_follow_the_chapter(deck, site):
    shown = BeautifulSoup(deck[1].read_text("utf-8"), "html.parser")
    headings = [h.get_text() for h in shown.select(".slide > :is(h1, h2)")]
    once = [h for h, before in zip(headings, [None, *headings], strict=False) if h != before]
    chapter = site_pages.Page(site, CHAPTER).article
    wanted = [h.get_text() for h in chapter.select("h1, h2, h3")]
    assert once == [h for h in wanted if h not in slides.LEFT_OUT]
    assert len(headings) > 20
    assert len(shown.select("div.math")) == len(chapter.select("div.math")) > 5
    assert len(shown.select(".attn-widget")) == 1
    text = shown.get_text()
    for paragraph in chapter.select("section > p")[:5]:  # on a slide or in its notes
        assert paragraph.get_text() in text


def test_the_slides_show_and_move_and_ask_no_host(deck, visit):
    folder, path = deck
    with visit(folder.as_uri(), height=720) as shown:
        page = shown.page
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        count = page.locator(".slide").count()
        assert page.locator(".slides-bar output").inner_text() == f"1 of {count}"
        assert page.locator(".slide:visible").count() == 1
        page.keyboard.press("ArrowRight")
        page.keyboard.press(" ")
        page.keyboard.press("ArrowLeft")
        assert page.locator(".slides-bar output").inner_text() == f"2 of {count}"
        notes = page.locator(".slide .notes:visible")
        assert notes.count() == 0
        box = page.locator(".attn-widget")
        number = box.evaluate(
            "(box) => [...document.querySelectorAll('.slide')].indexOf(box.closest('.slide'))"
        )
        page.evaluate("(n) => { location.hash = `#${n + 1}`; }", number)
        page.wait_for_function("document.querySelector('.attn-widget').dataset.widget === 'awake'")
        canvas = box.locator("canvas[tabindex]")
        canvas.focus()
        page.keyboard.press("ArrowRight")  # moves in the widget, not to the next slide
        assert page.locator(".slides-bar output").inner_text() == f"{number + 1} of {count}"
        assert page.locator(".katex").count() > 40
        assert not shown.faults


def test_no_slide_cuts_what_it_shows(deck, visit):
    """What does not fit at half its size can be scrolled, by the keyboard too."""
    folder, path = deck
    with visit(folder.as_uri(), height=720) as shown:
        page = shown.page
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelectorAll('.katex').length > 40")
        cut = page.evaluate(
            """async () => {
              const cut = [];
              for (const [n, slide] of [...document.querySelectorAll(".slide")].entries()) {
                location.hash = `#${n + 1}`;
                await new Promise((done) => setTimeout(done, 30));
                const shown = slide.querySelector(".shown");
                const isCut = () =>
                  shown.scrollHeight > shown.clientHeight + 1 && shown.tabIndex !== 0;
                if (isCut()) { // a widget that has just woken: the slide is fitted once more
                  await new Promise((done) => setTimeout(done, 500));
                  if (isCut()) cut.push(n + 1);
                }
              }
              return cut;
            }"""
        )
        assert cut == []


@pytest.fixture(scope="module")
def whole(site):
    """The printed book before the browser sets it."""
    return BeautifulSoup(printed.assemble(site, site_pages.contents()), "html.parser")


def test_the_printed_book_has_every_page_and_number(whole, site):
    names = [n for n in site_pages.contents() if not n.startswith(printed.LEFT_OUT)]
    names = [n for n in names if (site / f"{n}.html").is_file()]
    assert [s["id"] for s in whole.select("section.printed-page")] == [
        n.rsplit("/", 1)[-1] for n in names
    ]
    numbers = [node.get_text() for node in whole.select(".eqno")]
    there = [
        n.get_text() for name in names for n in site_pages.Page(site, name).article.select(".eqno")
    ]
    assert numbers == there and len(numbers) > 40
    assert len(set(numbers)) == len(numbers)


def test_the_printed_book_holds_pictures_and_links_within_itself(whole):
    assert not whole.select(".attn-widget, .attn-playground canvas, script[type]")
    assert len(whole.select("img.attn-picture")) >= 6  # in place of the widgets
    ids = [node["id"] for node in whole.select("[id]")]
    assert len(ids) == len(set(ids))
    for image in whole.select("img"):
        assert Path(re.sub("^file://", "", image["src"])).is_file()
    inner = [a["href"][1:] for a in whole.select("a[href^='#']")]
    assert len(inner) > 300 and set(inner) <= set(ids)
    outer = {a["href"].split(":")[0] for a in whole.select("a[href]:not([href^='#'])")}
    assert outer <= {"https", "http"}


def test_hints_and_answers_end_their_chapter(whole, site):
    """And a line, with the number of the page, stands where each was."""
    article = site_pages.Page(site, CHAPTER).article
    chapter = whole.find(id="03_attention")
    told = chapter.select(".printed-answers > .printed-told")
    assert len(told) == len(article.select(".admonition.dropdown")) > 5
    assert len(chapter.select(".printed-closed .printed-number")) == len(told)
    assert chapter.select("section > h2")[-1].parent["class"] == ["printed-answers"]
    assert not whole.select(".admonition.dropdown, details.hide")


def test_folded_code_is_named(whole, site):
    """It leads to the page, where the book has an address."""
    page = site_pages.Page(site, CHAPTER)
    names = [node.get_text() for node in page.article.select("details.hide .collapsed")]
    lines = [line.get_text() for line in whole.find(id="03_attention").select(".printed-folded")]
    assert lines == names and "Imports" in names
    address = "https://example.org/book/03_attention.html"
    for old in page.soup.select("link[rel=canonical]"):
        old.decompose()
    page.soup.head.append(page.soup.new_tag("link", rel="canonical", href=address))
    printed.name_folded(page)
    assert page.article.select_one(".printed-folded a")["href"] == address


def test_the_browser_prints_it(browser, site, tmp_path, monkeypatch):
    monkeypatch.setattr(printed, "browser_for", lambda playwright: browser)
    monkeypatch.setattr(browser, "close", lambda: None, raising=False)
    html = printed.assemble(
        site, ["book/index", "book/notation", "book/01_cues", "book/benchmarks"]
    )
    monkeypatch.setattr("playwright.sync_api.sync_playwright", NoPlaywright)
    printed.to_pdf(html, tmp_path / "book.pdf")
    data = (tmp_path / "book.pdf").read_bytes()
    assert data.startswith(b"%PDF") and data.rstrip().endswith(b"%%EOF")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) >= 8
    assert b"/Outlines" in data
    reader = PdfReader(tmp_path / "book.pdf")
    # A shadow is a picture of 300 dpi: every picture that is printed is one of the book's.
    assert 5 < len(re.findall(rb"/Subtype\s*/Image", data)) <= html.count("<img")
    assert len(data) / len(reader.pages) < BYTES
    contents = reader.pages[0].extract_text()
    for title in ("Notation", "Attention cues"):
        (number,) = re.findall(rf"{title}.*?(\d+)\s*$", contents, re.MULTILINE)
        assert title in reader.pages[int(number) - 1].extract_text(), "where the contents say"


def test_what_is_wider_than_the_paper_is_named(browser, tmp_path, monkeypatch):
    """For one thing too wide the browser would print the whole book in a smaller type."""
    monkeypatch.setattr(printed, "browser_for", lambda playwright: browser)
    monkeypatch.setattr("playwright.sync_api.sync_playwright", NoPlaywright)
    html = f"<p>fits</p><p style='white-space: nowrap'>{'too wide ' * 40}</p>"
    with pytest.raises(ValueError, match=r"wider than the paper: \['p too wide"):
        printed.to_pdf(html, tmp_path / "book.pdf")


class NoPlaywright:
    """The session's browser runs already; a second one of its kind cannot."""

    def __enter__(self):
        return None

    def __exit__(self, *_):
        pass
