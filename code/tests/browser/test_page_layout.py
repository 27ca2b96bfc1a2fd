"""How the pages look: code that fits, a landing page that shows itself, a way on from each page."""

import base64
import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin, urlsplit

import numpy as np
import pytest
import torch
from PIL import Image
from site_checks import arrive, open_answers, parsed, wake

from attnbook.metrics import hit_rate
from devkit.chapters import chapter_of, chapters

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
        code = "".join(shown.page.locator(".cell_input pre").all_text_contents())
        asserts = [line for line in code.splitlines() if line.lstrip().startswith("assert")]
        tinted = [text.lstrip().startswith("assert") for text in lines.all_text_contents()]
        assert sum(tinted) == len(asserts) > 10
        tint, plain = (
            node.evaluate("(node) => getComputedStyle(node).backgroundColor")
            for node in (lines.first, shown.page.locator(".cell_input .highlight").first)
        )
        assert tint != plain


def test_the_landing_page_shows_what_it_is_at_once(visit, server):
    """On a desktop the measured translation is whole in the first view; the doors begin."""
    with visit(server, height=900) as shown:
        page = shown.page
        page.goto(server + "book/index.html")
        assert page.locator(".attn-doors").bounding_box()["y"] < 800
        for what in (".attn-translation svg", ".attn-verdict", ".attn-go a"):
            place = page.locator(f".bd-article {what}").first.bounding_box()
            assert place["y"] >= 0 and place["y"] + place["height"] <= 900, what
        assert page.locator(".attn-claim .hll").count() >= 1
        assert (
            "no weight of the mean reaches" in page.locator(".attn-claim .attn-said").inner_text()
        )
        assert page.locator(".attn-claim img:visible").count() == 1


def test_the_landing_page_counts_what_the_metric_counts(site):
    """The words on a sure link: the page's count beside `metrics.hit_rate` on the same weights."""
    state = json.loads((ROOT / "book/_site/playground/opening.json").read_text("utf-8"))
    pair = SimpleNamespace(**state["example"])
    pair.sure = pair.possible = {tuple(link) for link in pair.sure}
    q, k = len(state["written"]), len(state["ids"])  # with the end of the source
    place = state["layer"] * state["config"]["num_heads"] + state["head"]
    stored = base64.b64decode(state["maps"]["cross"])[place * q * k : (place + 1) * q * k]
    weights = torch.tensor(list(stored)).reshape(q, k) / 255
    text = (site / "book" / "index.html").read_text("utf-8")
    hits, of = map(int, re.search(r"<b>(\d+) of (\d+)</b> words on a sure link", text).groups())
    assert of == len({row for row, _ in pair.sure}) > 3
    assert hits / of == hit_rate([weights], [pair])
    assert hit_rate([weights.flip(1)], [pair]) < 1, "a head that looks elsewhere would not score"


def test_the_landing_translation_plays_within_the_first_view_of_a_phone(visit, server):
    with visit(server, width=360, height=740) as shown:
        page = shown.page
        page.goto(server + "book/index.html")
        assert page.locator(".attn-translation svg").bounding_box()["y"] < 640
        whole = page.locator(".attn-count").inner_text()
        page.get_by_role("button", name="Play").click()
        assert page.locator(".attn-count").inner_text() == "0 of 0 so far"
        assert page.locator(".step.later").count() == page.locator(".step").count()
        page.get_by_role("button", name="Stop").click()
        assert page.locator(".attn-count").inner_text() == whole
        assert page.locator(".step.later").count() == 0


def test_text_code_figures_widgets_and_captions_share_their_left_edge(walked):
    """To a pixel, on a desktop and on a phone."""
    kinds = set()
    for device, pages in walked.items():
        for name, found in pages.items():
            edges = [edge.split() for edge in found.what["left edges"]]
            if chapter_of(ROOT, name.removesuffix(".html")):
                (edge,) = (int(left) for kind, left in edges if kind == "text")
                other = [(kind, left) for kind, left in edges if abs(int(left) - edge) > 1]
                assert other == [], (device, name, edge)
                kinds |= {kind for kind, _ in edges}
    assert len(kinds) == 6


def test_on_a_phone_a_figure_has_its_narrow_form(visit, server, site):
    """Within the column, and no figure twice; on a desktop only the wide form is seen."""
    with visit(server, width=390) as shown:
        arrive(shown.page, site, server, "book/01_cues.html")
        open_answers(shown.page)
        column = shown.page.locator(".bd-article").bounding_box()["width"]
        stacks = shown.page.locator(".attn-stack")
        assert stacks.count() >= 3
        for stack in stacks.all():
            stack.scroll_into_view_if_needed()
            assert stack.get_attribute("aria-label")
            assert stack.locator("xpath=preceding-sibling::*[1]").is_hidden()
            part = stack.locator(".attn-part:visible")
            assert part.bounding_box()["width"] <= column
            part.evaluate("(img) => img.decode()")
            drawn = part.evaluate("(i) => [i.width / i.height, i.naturalWidth / i.naturalHeight]")
            assert drawn[0] == pytest.approx(drawn[1], rel=0.01)
    with visit(server) as shown:
        arrive(shown.page, site, server, "book/01_cues.html")
        open_answers(shown.page)
        assert shown.page.locator(".attn-stack:visible").count() == 0
        assert shown.page.locator(".attn-picture:visible").count() >= 5


def test_figures_have_three_widths_and_boxes_end_with_the_text(visit, server, site):
    """On a desktop: every right edge is that of the column, of the text, or of a smaller figure."""
    widths, counts = set(), Counter()
    with visit(server) as shown:
        for name in ("03_attention", "06_reach", "07_transformer_measured"):
            arrive(shown.page, site, server, f"book/{name}.html")
            open_answers(shown.page)
            left, texts, column, boxes, figures = shown.page.evaluate(EDGES)
            for what, ends, width in (
                ("text", texts, 656),
                ("code", column, 736),
                ("box", boxes, 656),
            ):
                assert {round(end - left) for end in ends} <= {width}, (name, what)
                counts[what] += len(ends)
            widths |= set(figures)
    assert widths == {736, 490, 358} and min(counts.values()) > 10


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_folds_are_flat(visit, server, site, theme):
    """A triangle, a label and a hairline; neither a shadow nor a ground. No box has a shadow."""
    with visit(server, theme=theme) as shown:
        arrive(shown.page, site, server, "book/03_attention.html")
        open_answers(shown.page)
        looks = shown.page.evaluate(
            """() => [...document.querySelectorAll(
              ".bd-article :is(details:not(.attn-closed), .admonition.dropdown, .attn-predict)")]
              .map((fold) => [fold.matches(".attn-predict"), getComputedStyle(fold)])
              .map(([box, { boxShadow, backgroundColor }]) =>
                `${boxShadow} ${box ? "" : backgroundColor}`)"""
        )
        assert len(looks) > 8 and set(looks) == {"none rgba(0, 0, 0, 0)", "none "}


EDGES = """() => {
  const seen = (what) => [...document.querySelectorAll(`.bd-article ${what}`)]
    .filter((node) => node.checkVisibility());
  const right = (node) => node.getBoundingClientRect().right;
  const texts = seen("section > p").filter((p) => p.getClientRects().length);
  return [texts[0].getBoundingClientRect().left, texts.map(right),
    seen("section > .cell > .cell_input").map(right),
    seen("section > .admonition").map(right),
    seen("section .attn-scroll > .attn-picture").map((img) => Math.round(img.offsetWidth))];
}"""


WIDE = ".bd-article :is(pre, .pst-scrollable-table-container)"
FADES = f"""() => [...document.querySelectorAll("{WIDE}")]
  .filter((box) => box.checkVisibility())
  .map((box) => [box.scrollWidth > box.clientWidth + 1,
    parseFloat(getComputedStyle(box).getPropertyValue("--attn-fade"))])"""


def test_on_a_phone_code_and_tables_that_go_on_fade_at_their_right(visit, server, site):
    """What fits does not fade, and what is read to its end no longer does."""
    with visit(server, width=390) as shown:
        arrive(shown.page, site, server, "book/02_kernel_regression.html")
        found = shown.page.evaluate(FADES)
        assert {scrolls: {fade for s, fade in found if s == scrolls} for scrolls in (0, 1)} == {
            False: {0},
            True: {32},
        }
        shown.page.evaluate(
            f"document.querySelectorAll('{WIDE}').forEach((box) => box.scrollBy(9999, 0))"
        )
        shown.page.wait_for_function(f"({FADES})().every(([, fade]) => fade === 0)")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_a_table_keeps_its_first_column_in_sight(visit, server, site, theme):
    """Of what scrolls sideways, and upon a ground: nothing shines through."""
    with visit(server, width=390, theme=theme) as shown:
        page = shown.page
        arrive(page, site, server, "book/selection.html")
        open_answers(page)
        page.evaluate(
            "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
        )
        boxes = page.locator(".bd-article .pst-scrollable-table-container:visible")
        scrolling = 0
        for box in boxes.all():
            moved, before, after, grounds, wide = box.evaluate(STICKY)
            assert after == pytest.approx(before, abs=17) and wide < 0.6, box.inner_text()[:80]
            assert grounds == [page.evaluate("getComputedStyle(document.body).backgroundColor")]
            scrolling += moved > 20
        assert scrolling >= 3


STICKY = """(box) => {
  const first = [...box.querySelectorAll("tr > :first-child")];
  const place = () => first.at(-1).getBoundingClientRect().left - box.getBoundingClientRect().left;
  const before = place();
  box.scrollTo(9999, 0);
  const found = [box.scrollLeft, before, place(),
    [...new Set(first.map((cell) => getComputedStyle(cell).backgroundColor))],
    box.scrollLeft ? first.at(-1).offsetWidth / box.clientWidth : 0];
  box.scrollTo(0, 0);
  return found;
}"""


@pytest.mark.parametrize("name", ["06_positions", "03_scoring", "selection"])
def test_no_width_of_a_phone_makes_the_page_wider(visit, server, site, name):
    """A line that is just full changes from phone to phone."""
    with visit(server, width=390) as shown:
        arrive(shown.page, site, server, f"book/{name}.html")
        open_answers(shown.page)
        wide = {}
        for width in range(340, 436, 5):
            shown.page.set_viewport_size({"width": width, "height": 800})
            if (taken := shown.page.evaluate("document.documentElement.scrollWidth")) > width:
                wide[width] = taken
        assert wide == {}


HIGH = """() => {
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--attn-ground");
  const widget = getComputedStyle(document.querySelector(".attn-heatmap"));
  return [ground, widget.getPropertyValue("--ah-ramp"),
    [...document.querySelectorAll("figure img")].filter((img) => img.getClientRects().length)
      .map((img) => img.src)];
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_high_is_far_from_the_ground_in_figures_and_widgets(visit, server, site, theme):
    """The last colour of the widgets' scale is in the page's figures, and the ground behind it."""
    with visit(server, theme=theme) as shown:
        arrive(shown.page, site, server, "book/05_multihead.html")
        wake(shown.page)
        ground, ramp, sources = shown.page.evaluate(HIGH)
    light = lambda colour: sum(bytes.fromhex(colour.strip().lstrip("#")))  # noqa: E731
    first, *_, last = (abs(light(colour) - light(ground)) for colour in ramp.split())
    assert last > 3 * first
    heat = [urlsplit(source).path for source in sources if "_images" in source]
    assert heat
    for path in heat[:2]:
        image = Image.open(site / path[1:]).convert("RGB")
        seen = np.array([colour for _, colour in image.getcolors(10**6)])
        high = list(bytes.fromhex(ramp.split()[-1].lstrip("#")))
        assert np.abs(seen - high).max(axis=1).min() <= 8, path
        assert bytes(image.getpixel((0, 0))).hex() == ground.strip().lstrip("#"), path


def test_every_page_leads_on(site, pages):
    """Previous and next: the pages of the book are one chain, from its start to its end."""
    followed, name = [], "book/index.html"
    while name:
        assert name not in followed
        page = parsed(site / name)
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
    for name in chapters():
        page = (site / "book" / f"{name}.html").read_text("utf-8")
        (shown,) = re.findall(r'attn-facts">(\d+) minutes to read', page)
        for said in READS.findall((ROOT / "book" / f"{name}.ipynb").read_text("utf-8")):
            assert abs(int(said) - int(shown)) <= 5, f"{name}: {said}, its page {shown}"


def test_the_landing_page_has_a_card_for_every_chapter(visit, server):
    addresses = [f"{server}book/{name}.html" for name in chapters()]
    with visit(server) as shown:
        shown.page.goto(server + "book/index.html")
        links = shown.page.locator(".attn-cards > li > p > a").all()
        assert [link.evaluate("(link) => link.href") for link in links] == addresses
        assert shown.page.locator(".attn-cards .attn-matrix").count() == len(addresses)
        folds = shown.page.locator("details:has(.attn-cards) > summary")
        assert folds.count() == 3 and not links[1].is_visible()
        folds.first.press("Enter")
        links[1].click(force=True)
        assert shown.page.url == addresses[1]


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
