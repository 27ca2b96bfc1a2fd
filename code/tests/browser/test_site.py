"""Every page of the built site in a real browser, over http and as files, with no outside host."""

import re
from collections import Counter
from urllib.parse import urljoin

import pytest
from page_parts import soon
from site_checks import VIEW, WIDTHS, arrive, bytes_of, parsed, wake

from attnbook.widgets import bundle
from coursegrade import release
from coursegrade.exercise import Exercise
from devkit import ROOT
from devkit.chapters import chapters

FIRST_VIEW = 400_000  # bytes, gzip
LOOK = """(box) => [[...box.querySelectorAll("canvas, svg")]
  .filter((node) => node.getClientRects().length)
  .map((node) => node.toDataURL?.() ?? node.outerHTML),
  [...box.querySelectorAll("table, .al-where, .al-verdict, .ab-state")]
    .filter((node) => !node.closest("[hidden]")).map((node) => node.textContent)]"""


def having(site, pages, what) -> list[str]:
    """The pages with this, or one of these, in their source."""
    wanted = (what,) if isinstance(what, str) else what
    texts = {name: (site / name).read_text("utf-8") for name in pages}
    found = [name for name, text in texts.items() if any(what in text for what in wanted)]
    assert found, f"no page of the site has {what}"
    return found


def on_pages(walk, what) -> dict:
    """By page, what was found there."""
    return {name: found.what[what] for name, found in walk.items() if found.what[what]}


@pytest.mark.parametrize("device", WIDTHS)
def test_no_page_asks_outside_or_errs(walked, device):
    assert not {name: found.faults for name, found in walked[device].items() if found.faults}


def test_an_outside_request_would_be_seen(visit, server):
    with visit(server) as shown:
        shown.page.goto(server + "book/notation.html")
        shown.page.evaluate("fetch('https://example.org/').catch(() => {})")
        assert shown.outside == ["https://example.org/"]


def test_no_page_scrolls_sideways_on_a_phone(walked):
    widths = {name: found.width for name, found in walked["phone"].items() if found.width > 360}
    assert not widths


@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("what", ["wide formulas", "cut formulas"])
def test_formulas_fit(walked, device, what):
    """They stay clear of their numbers; on a phone they break, and the number stands below."""
    assert not on_pages(walked[device], what)
    assert sum(map(len, on_pages(walked[device], "set formulas").values())) >= 10


@pytest.mark.parametrize("device", WIDTHS)
def test_nothing_is_cut_without_a_sign(walked, device):
    """A phone fades what can be scrolled; on a desktop what cells print wraps."""
    assert not on_pages(walked[device], "cut at the right")


def test_code_and_tables_fit_a_desktop(walked):
    assert not on_pages(walked["desktop"], "wide code")
    assert not on_pages(walked["desktop"], "cut tables")


def weighed(visit, server, site, name) -> int:
    """The bytes of a first view: nothing in the cache, in a context of its own."""
    asked = set()
    with visit(server) as shown:
        shown.page.on("request", lambda request: asked.add(request.url))
        arrive(shown.page, site, server, name)
        return bytes_of(site, server, asked)


AGAIN = 4  # on a busy machine a page is laid out late, and asks for what stands further down


def test_the_first_view_is_light(visit, server, site, walked):
    """The least of a few visits."""
    for name, found in walked["desktop"].items():
        weight = found.weight
        for _ in range(AGAIN if weight > FIRST_VIEW else 0):
            weight = min(weight, weighed(visit, server, site, name))
        assert 1000 < weight <= FIRST_VIEW, name


def test_the_first_view_is_light_on_a_slow_connection(visit_slowly, server, site, pages, walked):
    """Browsers fetch late pictures from further down there: on the pages that could weigh most."""

    def most(name):  # with every late picture
        late = {urljoin(name, img["src"]) for img in parsed(site / name).select("img[loading]")}
        return walked["desktop"][name].weight + sum((site / x).stat().st_size for x in late)

    names = sorted(having(site, pages, "<img"), key=most)[-6:]
    assert most(names[-1]) > FIRST_VIEW
    heavy = {}
    for name in names:
        weight = weighed(visit_slowly, server, site, name)
        for _ in range(AGAIN if weight > FIRST_VIEW else 0):
            weight = min(weight, weighed(visit_slowly, server, site, name))
        if weight > FIRST_VIEW:
            heavy[name] = weight
    assert not heavy


def test_every_widget_view_is_in_a_box(site, pages):
    for name in having(site, pages, VIEW):
        text = (site / name).read_text("utf-8")
        assert text.count(VIEW) == len(re.findall(r'class="attn-widget"', text)), name


def move(control):
    """Move one control to another value, as a reader would; returns what takes it back."""
    kind = control.evaluate("(node) => node.type")
    if kind == "select-one":
        was = control.evaluate("(node) => node.selectedIndex")
        control.select_option(index=(was + 1) % control.evaluate("(node) => node.options.length"))
        return lambda: control.select_option(index=was)
    if kind == "range":
        was = control.input_value()
        low = control.evaluate("(n) => 2 * Number(n.value) <= Number(n.min) + Number(n.max)")
        for key in ("ArrowRight", "End") if low else ("ArrowLeft", "Home"):
            control.press(key)  # to the farther end: near by it may rightly change nothing
        return lambda: control.fill(was)
    if kind == "radio":
        same = f"input[name='{control.get_attribute('name')}']:checked"
        chosen = control.evaluate_handle("(node, same) => document.querySelector(same)", same)
        control.check(force=True)
        return lambda: chosen.as_element().check(force=True)
    if kind in ("number", "text"):
        was = control.input_value()
        control.fill("2" if was == "1" else "1")
        return lambda: control.fill(was)
    control.press("Space")
    return lambda: control.press("Space")


def check_answers(page, box):
    """The arrow keys move what is announced; each control changes what is seen, and back."""
    live = box.locator(".ah-hidden [aria-live]")

    def told():
        assert box.locator("table:not([hidden]) tr").count()

    soon(page, told)  # the table is written a moment after the picture
    start = box.evaluate(LOOK)

    def changed():
        assert box.evaluate(LOOK) != start, f"{control.evaluate('(n) => n.outerHTML')}: nothing"

    def undone():
        assert box.evaluate(LOOK) == start, f"{control.evaluate('(n) => n.outerHTML')}: a trace"

    controls = "input:not([type=radio]:checked), select, [role=switch]"
    for control in box.locator(controls).element_handles():
        if control.evaluate("(n) => Boolean(n.closest('[hidden]'))"):
            continue  # of another choice
        back = move(control)
        soon(page, changed)
        reset = box.get_by_role("button", name="Reset")
        reset.click() if reset.count() else back()
        soon(page, undone)
    box.locator("canvas[tabindex]:visible, table[tabindex]").first.focus()
    said = set()
    for key in ("ArrowRight", "ArrowUp", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        said.add(live.inner_text())
    assert len(said) > 1 and all(said), "the arrow keys announce nothing"


@pytest.mark.parametrize("device", WIDTHS)
def test_every_widget_answers(visit, server, site, pages, device):
    """The first of each class in the book: on a phone, and on a desktop from files."""
    base = server if device == "phone" else f"{site.as_uri()}/"
    seen, tried = Counter(), Counter()
    with visit(base, width=WIDTHS[device]) as shown:
        for name in having(site, pages, VIEW):
            classes = re.findall(r"attnbook\.widgets\.(\w+)", (site / name).read_text("utf-8"))
            if all(seen[kind] for kind in classes):
                continue
            arrive(shown.page, site, base, name)
            seen.update(classes)
            for box in wake(shown.page):
                looks = box.locator(".attn-heatmap").first.get_attribute("class").split()
                kind = tuple(look for look in looks if look.startswith("attn-"))
                tried[kind] += 1
                if tried[kind] == 1:
                    check_answers(shown.page, box)
            assert not shown.faults, name
    assert len(tried) == len(bundle.WIDGETS)


def test_punctuation_stays_with_its_formula(site, pages):
    """Browsers break a line between a formula and the comma after it, unless told not to."""
    kept = 0
    for name in pages:
        page = parsed(site / name)
        for formula in page.select("span.math"):
            if str(formula.next_sibling or "")[:1] in tuple(".,;:!?)"):
                assert "attn-keep" in formula.parent["class"], f"{name}: {formula.parent}"
                assert len(formula.parent.get_text()) - len(formula.get_text()) <= 4
                kept += 1
    assert kept > 100


def test_every_sign_of_a_formula_has_its_glyph(visit, server, walked):
    """The fonts of KaTeX are kept in part and in pieces; none may be missing."""
    signs = {sign for found in on_pages(walked["desktop"], "signs").values() for sign in found}
    with visit(server) as shown:
        page = shown.page
        drawn = "".join(
            '<p style="font: {}">{}</p>'.format(*sign.split("|")) for sign in sorted(signs)
        )
        page.goto(server + "404.html")
        page.set_content(
            f'<link rel="stylesheet" href="{server}_static/katex/katex.min.css">{drawn}'
        )
        page.wait_for_load_state("load")
        page.evaluate("document.fonts.ready")
        session = shown.context.new_cdp_session(page)
        for domain in ("DOM", "CSS"):
            session.send(f"{domain}.enable")
        root = session.send("DOM.getDocument")["root"]["nodeId"]
        found = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "p"})["nodeIds"]
        assert len(found) == len(signs) > 100
        for node, sign in zip(found, sorted(signs), strict=True):
            fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
            names = {font["familyName"] for font in fonts if font["isCustomFont"]}
            assert len(fonts) == len(names) == 1 and names.pop().startswith("KaTeX"), sign


@pytest.mark.parametrize("device", WIDTHS)
def test_nothing_moves_when_a_widget_wakes(walked, device):
    """The height that a page keeps is the one that its widget takes."""
    moved = {n: (p.kept, p.taken) for n, p in walked[device].items() if p.kept != p.taken}
    assert not moved
    assert sum(len(found.kept) for found in walked[device].values()) > 25


@pytest.mark.parametrize("device", WIDTHS)
def test_without_javascript_pictures_are_there_and_keep_their_shape(
    visit, server, site, pages, device
):
    """Each has a size before it is loaded; in a widget's place it says what it shows.

    Formulas are set as ever, and no phone's page gets wider.
    """
    seen, wide = 0, {}
    with visit(server, width=WIDTHS[device], java_script_enabled=False) as shown:
        what = VIEW if device == "desktop" else ("<img", 'class="math')
        for name in having(site, pages, what):
            shown.page.goto(server + name)
            assert shown.page.locator(".math:not(:has(.katex))").count() == 0
            width = shown.page.evaluate("document.documentElement.scrollWidth")
            if width > WIDTHS[device]:
                wide[name] = width
            pictures = ":is(figure, .cell_output, .attn-widget) img:not(.attn-part)"
            sizes = shown.page.locator(pictures).evaluate_all(
                """(all) => all.filter((img) => img.getClientRects().length).map((img) => [
                  img.getBoundingClientRect().toJSON(),
                  ...["width", "height"].map((n) => Number(img.getAttribute(n))), img.alt,
                  (img.closest(".attn-scroll") ?? img).clientWidth])"""
            )
            for size, width, height, alt, seen_width in sizes:
                assert size["width"] / size["height"] == pytest.approx(width / height, rel=0.02)
                assert alt and seen_width <= (328 if device == "phone" else 1280), name
                seen += 1
            assert not shown.faults
    assert seen > 5 and not wide


def test_every_assignment_is_handed_out_by_its_chapter(site):
    """What the link gives is what `make release` writes, no solution in it."""
    named = {page.assignment for page in chapters().values()} - {None}
    given = {path.stem: path.read_text("utf-8") for path in site.glob("assignments/*.ipynb")}
    assert given == {name: release.build(Exercise(ROOT / "exercises" / name)) for name in named}
    for name in named:
        chapter = (site / "book" / f"{name}.html").read_text("utf-8")
        assert f'href="../assignments/{name}.ipynb"' in chapter
        assert re.search(r"\(\d questions, about \d+ minutes, \d+ points\)", chapter)
