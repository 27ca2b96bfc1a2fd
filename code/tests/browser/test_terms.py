"""Terms in the built site: meanings on the spot, a glossary and an index that lead to chapters."""

import re
from urllib.parse import quote

import pytest
from site_checks import parsed

pytest.importorskip("sphinx")

from attn_search import words

CHAPTER = "book/03_attention.html"
TERM = "a.attn-term"


def meaning(page):
    return page.locator("#attn-tip")


def test_a_meaning_appears_on_pointing_and_on_focus_and_goes(visit, base):
    with visit(base) as shown:
        page = shown.page
        page.goto(base + CHAPTER)
        link, tip = page.locator(TERM, has_text=re.compile("^query$")).first, meaning(page)
        assert not tip.is_visible() and not link.get_attribute("title")  # no second one
        link.hover()
        assert "query · 查询" in tip.inner_text() and "what is wanted" in tip.inner_text()
        assert link.get_attribute("aria-describedby") == tip.get_attribute("id")
        tip.hover()  # one may point at the meaning itself
        page.wait_for_timeout(400)
        assert tip.is_visible()
        page.keyboard.press("Escape")
        assert not tip.is_visible() and not link.get_attribute("aria-describedby")
        page.mouse.move(0, 0)
        link.focus()
        assert tip.is_visible()
        page.keyboard.press("Tab")
        page.wait_for_timeout(400)
        assert "查询" not in tip.inner_text() or not tip.is_visible()
        assert not shown.faults


def test_a_touch_shows_and_a_second_follows(visit, server):
    with visit(server, width=360, height=740, has_touch=True, is_mobile=True) as shown:
        page = shown.page
        page.goto(server + CHAPTER)
        for link in page.locator(TERM).all()[:6]:
            page.touchscreen.tap(2, 300)  # elsewhere: what lay over the next term goes
            assert not meaning(page).is_visible()
            link.tap()
            box = meaning(page).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 360
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        link.tap()
        page.wait_for_url("**/glossary.html#term-*")
        assert not shown.faults


def test_without_javascript_the_title_says_it(site):
    links = re.findall(r'<a class="attn-term[^>]*>', (site / CHAPTER).read_text("utf-8"))
    assert len(links) > 15
    for link in links:
        assert re.search(r'href="glossary.html#term-[^"]+" title="[^"]+ · [^"]+: [^"]+\."', link)
    assert len(set(links)) == len(links)  # the first use only


def test_terms_are_marked_in_prose_alone(site):
    for path in sorted((site / "book").glob("[0-9]*.html")):
        page = parsed(path)
        assert len(page.select(TERM)) >= 10, path.name
        inside = "h1, h2, h3, pre, code, table, figcaption, .footnote, .math"
        assert not page.select(f":is({inside}) {TERM}"), path.name


def test_the_glossary_leads_to_the_uses_and_back(site):
    text = (site / "book/glossary.html").read_text("utf-8")
    uses = re.findall(r'href="(\d\d_\w+\.html)#(ch\d+-[\w-]+)"', text)
    assert len(uses) > 80
    for name, anchor in uses:
        assert f'id="{anchor}"' in (site / "book" / name).read_text("utf-8")
    chinese = re.findall(r'<span lang="zh-Hans">([^<]+)</span>', text)
    assert len(chinese) == text.count('class="attn-chinese"')
    assert {"注意力", "查询", "自注意力"} <= set(chinese)


def test_the_index_names_chapters(visit, server):
    with visit(server) as shown:
        page = shown.page
        page.goto(server + "genindex.html")
        entry = page.locator(".attn-index li", has=page.get_by_text("hit rate", exact=True))
        assert entry.inner_text().split()[:3] == ["hit", "rate", "4a"]
        assert entry.locator("strong").first.inner_text() == "4a"  # introduced there
        page.get_by_role("link", name="hit rate, chapter 4a").click()
        page.wait_for_url("**/book/04_bahdanau.html#ch4-hit-rate")
        assert not shown.faults


FINDS = {  # what a reader types, and the page that must be among those found
    "masked_softmax": "book/03_attention.html",
    "MultiHeadAttention": "book/05_multihead.html",
    "√d": "book/03_scoring.html",
    "sqrt(d)": "book/03_scoring.html",
    r"\sqrt{d}": "book/03_scoring.html",
    "d_k": "book/notation.html",
    "α_ij": "book/03_attention.html",
    "W_q": "book/04_bahdanau.html",
    "ω": "book/06_positions.html",
    "head_mask": "book/05_multihead.html",
    "leave-one-out": "book/02_kernel_regression.html",
    "查询": "book/glossary.html",
}


@pytest.fixture(scope="module")
def results(browser, site):
    """`results(query)`: the pages that the site's own search finds, opened as a file."""
    page = browser.new_page()

    def find(query):
        page.goto(f"{site.as_uri()}/search.html?q={quote(query)}")
        done = "document.querySelector('.search-summary')?.textContent.match(/found|not match/)"
        page.wait_for_function(done)
        page.wait_for_timeout(100)
        links = page.locator("#search-results li > a").all()
        return [link.get_attribute("href").split("?")[0].split("#")[0] for link in links]

    find.page = page
    yield find
    page.close()


@pytest.mark.parametrize("query", FINDS)
def test_the_search_finds_symbols_names_and_terms(results, query):
    assert FINDS[query] in results(query)


@pytest.mark.parametrize("name", ["masked_softmax", "MultiHeadAttention", "hit_rate"])
def test_the_search_shows_the_reference_first(results, name):
    assert results(name)[0].startswith("book/api/")


def test_the_search_does_not_find_what_is_not_there(results):
    assert results("no_such_function") == [] and results("√zz") == []


def test_page_and_query_are_cut_alike(results, site):
    """Each symbol of a query, cut by the script, is a word that the index would have."""
    results("x")
    for text in (*FINDS, r"\alpha_{ij}", r"\mathbf{W}_{q}", r"\frac{a}{\sqrt{d_k}}", "p_{i,2j}"):
        cut = results.page.evaluate("(text) => splitQuery(text)", text)
        assert set(cut) <= set(words(text)), text
