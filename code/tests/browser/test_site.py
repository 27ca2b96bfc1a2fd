"""Every page of the built site in a real browser, over http and as files, with no outside host."""

import gzip
import re
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from coursegrade import release
from coursegrade.exercise import Exercise

WIDTHS = {"desktop": 1280, "phone": 360}
FIRST_VIEW = 400_000  # bytes, gzip
VIEW = 'type="application/vnd.jupyter.widget-view+json"'
REDIRECT = re.compile(r'http-equiv="refresh" content="0; *url=([^"]+)"', re.IGNORECASE)
PICTURE = """(box) => [...box.querySelectorAll("canvas")].map((c) => c.toDataURL()).join("")
  + box.querySelector(".ah-hidden table").textContent"""


def with_formulas(site, pages):
    """The pages that have one."""
    return [name for name in pages if 'class="math' in (site / name).read_text("utf-8")]


def arrive(page, site, base, name):
    """Open a page, follow a redirect, and wait for what starts by itself: scripts, fonts."""
    page.goto(base + name, wait_until="commit")
    if target := REDIRECT.search((site / name).read_text("utf-8")):
        page.wait_for_url(urljoin(base + name, target[1]))
    settle(page)


def settle(page):
    """Wait for scripts, fonts and the widgets in view."""
    page.wait_for_load_state("load")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(100)


def wake(page):
    """Scroll to every widget and wait until it is awake; returns their boxes."""
    boxes = page.locator(".attn-widget").all()
    for box in boxes:
        box.scroll_into_view_if_needed()
        handle = box.element_handle()
        page.wait_for_function("(box) => box.dataset.widget", arg=handle, timeout=5000)
        assert box.get_attribute("data-widget") == "awake"
    return boxes


def with_widgets(site, pages) -> list[str]:
    found = [name for name in pages if VIEW in (site / name).read_text("utf-8")]
    assert found, "no page of the site shows a widget"
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_asks_outside_or_errs(visit, base, site, pages, theme):
    faults = {}
    for name in pages:
        with visit(base, theme=theme) as shown:
            arrive(shown.page, site, base, name)
            wake(shown.page)
            settle(shown.page)
            if shown.faults:
                faults[name] = shown.faults
    assert not faults


def test_every_widget_view_is_in_a_box(site, pages):
    for name in with_widgets(site, pages):
        text = (site / name).read_text("utf-8")
        assert text.count(VIEW) == len(re.findall(r'class="attn-widget"', text)), name


def move(page, control):
    """Move one control to another value, as a reader would with the keyboard."""
    kind = control.evaluate("(node) => node.type")
    if kind == "select-one":
        other = "(node) => node.options[(node.selectedIndex + 1) % node.options.length].value"
        control.select_option(control.evaluate(other))
    elif kind == "checkbox":
        control.press("Space")
    elif kind == "radio":
        control.check(force=True)
    else:
        at_start = control.evaluate("(node) => Number(node.value) <= Number(node.min)")
        for _ in range(2):
            control.press("ArrowRight" if at_start else "ArrowLeft")


SAID = (" → weight ", "% of the weight", ": similarity ")  # what a widget says of a place


def check_answers(page, box):
    """The arrow keys move what is announced; each control changes the picture; Reset undoes it."""
    canvas, live = box.locator("canvas[tabindex]"), box.locator(".ah-hidden [aria-live]")
    canvas.focus()
    first = live.inner_text()
    assert any(words in first for words in SAID)
    for key, back in (("ArrowRight", "ArrowLeft"), ("ArrowDown", "ArrowUp")):
        canvas.press(key)
        if live.inner_text() != first:
            canvas.press(back)
            break
    else:
        pytest.fail("the arrow keys do not move the focused cell")
    assert live.inner_text() == first
    page.wait_for_timeout(200)
    start = box.evaluate(PICTURE)
    chosen = box.locator("input[type=radio]:checked").element_handles()
    for control in box.locator("input, select").element_handles():
        if any(control.evaluate("(node, other) => node === other", other) for other in chosen):
            continue
        move(page, control)
        page.wait_for_timeout(200)
        name = control.evaluate("(node) => node.labels[0].textContent")
        assert box.evaluate(PICTURE) != start, f"the control {name!r} changes nothing"
        box.get_by_role("button", name="Reset").click()
        page.wait_for_timeout(200)
        assert box.evaluate(PICTURE) == start, f"Reset does not undo {name!r}"


def check_heads(page, box):
    """The keyboard takes heads out and puts them back, and the output follows."""
    output = box.locator(".ab-output")
    whole, changed = output.inner_text(), []
    for head in box.get_by_role("switch").all():
        head.focus()
        head.press("Space")
        page.wait_for_timeout(200)
        assert head.get_attribute("aria-checked") == "false"
        changed.append(output.inner_text() != whole)
        head.press("Space")
        page.wait_for_timeout(200)
        assert output.inner_text() == whole
    assert any(changed), "no head changes the output"


def check_alignment(page, box):
    """Each control changes the picture, and going back brings it back; the keyboard takes steps."""

    def shown():
        page.wait_for_timeout(200)
        return box.evaluate(
            """(box) => [...box.querySelectorAll("canvas, svg, .al-where, .al-verdict")]
              .filter((node) => node.getClientRects().length)
              .map((node) => node.toDataURL?.() ?? node.outerHTML).join("")"""
        )

    start = shown()
    for choice in box.locator("select").all():
        was = choice.input_value()
        move(page, choice.element_handle())
        assert shown() != start, "another sentence changes nothing"
        choice.select_option(was)
        assert shown() == start
    chosen = box.locator("input[type=radio]:checked").element_handles()
    for control in box.locator("input[type=radio]:not(:checked)").element_handles():
        group = control.get_attribute("name")
        control.check(force=True)
        assert shown() != start, "another view changes nothing"
        next(c for c in chosen if c.get_attribute("name") == group).check(force=True)
        assert shown() == start
    box.locator("canvas[tabindex]:visible").first.focus()
    live = box.locator(".ah-hidden [aria-live]")
    said = set()
    for key in ("ArrowUp", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        said.add(live.inner_text())
    assert len(said) > 1, "the arrow keys announce nothing"


def check_of(box):
    """The check that fits a widget."""
    if box.locator(".al-stage").count():
        return check_alignment
    return check_heads if box.get_by_role("switch").count() else check_answers


@pytest.mark.parametrize("device", WIDTHS)
def test_every_widget_answers(visit, base, site, pages, device):
    for name in with_widgets(site, pages):
        with visit(base, width=WIDTHS[device]) as shown:
            arrive(shown.page, site, base, name)
            for box in wake(shown.page):
                check_of(box)(shown.page, box)
            assert not shown.faults, name


def test_no_page_scrolls_sideways_on_a_phone(visit, server, site, pages):
    wide = {}
    for name in pages:
        with visit(server, width=360, height=740) as shown:
            arrive(shown.page, site, server, name)
            wake(shown.page)
            width = shown.page.evaluate("document.documentElement.scrollWidth")
            if width > 360:
                wide[name] = width
    assert not wide


def test_formulas_that_are_not_set_yet_do_not_widen_a_phone_s_page(visit, server, site, pages):
    """Nor without JavaScript: their TeX goes on in the next line."""
    wide = {}
    for name in with_formulas(site, pages):
        with visit(server, width=360, height=740) as shown:
            shown.page.route("**/katex.min.js*", lambda route: route.fulfill(body=""))
            arrive(shown.page, site, server, name)
            assert not shown.page.locator(".katex").count()
            if (width := shown.page.evaluate("document.documentElement.scrollWidth")) > 360:
                wide[name] = width
    assert not wide


@pytest.mark.parametrize("device", WIDTHS)
def test_no_formula_needs_scrolling(visit, server, site, pages, device):
    """It stays clear of its number; on a phone it breaks, and the number stands below it."""
    wide = """() => [...document.querySelectorAll("div.math")].filter((box) => {
      const boxes = [...box.querySelectorAll(":scope > span:not(.eqno), .katex-html")];
      const number = box.querySelector(".eqno")?.getBoundingClientRect();
      return boxes.some((inner) => {
        const { right, bottom } = inner.getBoundingClientRect();
        const hit = number && right > number.left + 1 && bottom > number.top + 1;
        return hit || inner.scrollWidth > inner.clientWidth + 1;
      });
    }).map((box) => box.textContent)"""
    found = {}
    with visit(server, width=WIDTHS[device]) as shown:
        for name in with_formulas(site, pages):
            arrive(shown.page, site, server, name)
            if formulas := shown.page.evaluate(wide):
                found[name] = formulas
    assert not found


# A formula is cut when it is wider than its box and the box does not scroll.
CUT_FORMULAS = """() => [...document.querySelectorAll("div.math > span:not(.eqno)")]
  .filter((box) => {
  const outer = box.parentElement.getBoundingClientRect();
  const { left, right } = box.getBoundingClientRect();
  const scrolls = getComputedStyle(box).overflowX === "auto";
  return left < outer.left - 1 || right > outer.right + 1 ||
    (box.scrollWidth > box.clientWidth + 1 && !scrolls);
}).map((box) => box.textContent)"""


def test_no_formula_is_cut_on_a_phone(visit, server, site, pages):
    cut, seen = {}, 0
    for name in with_formulas(site, pages):
        with visit(server, width=360, height=740) as shown:
            arrive(shown.page, site, server, name)
            seen += shown.page.locator("div.math .katex-display").count()
            if found := shown.page.evaluate(CUT_FORMULAS):
                cut[name] = found
    assert not cut
    assert seen >= 10


def test_punctuation_stays_with_its_formula(site, pages):
    """Browsers break a line between a formula and the comma after it, unless told not to."""
    kept = 0
    for name in pages:
        page = BeautifulSoup((site / name).read_text("utf-8"), "html.parser")
        for formula in page.select("span.math"):
            if str(formula.next_sibling or "")[:1] in tuple(".,;:!?)"):
                assert "attn-keep" in formula.parent["class"], f"{name}: {formula.parent}"
                assert len(formula.parent.get_text()) - len(formula.get_text()) <= 4
                kept += 1
    assert kept > 100


SIGNS = """() => {
  const seen = new Set();
  for (const box of document.querySelectorAll(".katex-html *")) {
    const { fontFamily, fontWeight, fontStyle } = getComputedStyle(box);
    for (const node of box.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE) continue;
      for (const sign of node.data.replace(/[\\s\u200b]/g, "")) {
        seen.add([`${fontStyle} ${fontWeight} 20px ${fontFamily.split(",")[0]}`, sign].join("|"));
      }
    }
  }
  return [...seen];
}"""


def test_every_sign_of_a_formula_has_its_glyph(visit, server, site, pages):
    """The fonts of KaTeX are kept in part and in pieces; none may be missing."""
    signs = set()
    with visit(server) as shown:
        page = shown.page
        for name in with_formulas(site, pages):
            arrive(page, site, server, name)
            signs |= set(page.evaluate(SIGNS))
        drawn = "".join(
            '<p style="font: {}">{}</p>'.format(*sign.split("|")) for sign in sorted(signs)
        )
        page.goto(server + "404.html")
        page.set_content(
            f'<link rel="stylesheet" href="{server}_static/katex/katex.min.css">{drawn}'
        )
        settle(page)
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


@pytest.mark.parametrize("visited", ["visit", "visit_slowly"])
def test_the_first_view_is_light(visited, request, server, site, pages):
    """Also on a slow connection, where browsers fetch late pictures from further down."""
    visit, heavy = request.getfixturevalue(visited), {}
    for name in pages:
        with visit(server) as shown:
            asked = set()
            shown.page.on("request", lambda request, asked=asked: asked.add(request.url))
            arrive(shown.page, site, server, name)
            paths = {unquote(urlsplit(url).path) for url in asked if url.startswith(server)}
            least = 1 if name == "404.html" else 4  # that page holds its own style: it has no depth
            assert f"/{name}" in paths and len(paths) >= least, f"{name}: too little was counted"
            total = sum(len(gzip.compress((site / path[1:]).read_bytes())) for path in paths)
            if total > FIRST_VIEW:
                heavy[name] = total
    assert not heavy


@pytest.mark.parametrize("width", [1280, 768, 360])
def test_nothing_moves_when_a_widget_wakes(visit, server, site, pages, width):
    heights = "() => [...document.querySelectorAll('.attn-widget')].map((box) => box.offsetHeight)"
    for name in with_widgets(site, pages):
        found = []
        for pattern in ("**/widgets/mount.js*", "**/nothing-is-held-back"):
            with visit(server, width=width) as shown:
                shown.page.route(pattern, lambda route: route.fulfill(body=""))
                arrive(shown.page, site, server, name)
                if not found:
                    assert shown.page.locator(".attn-widget[data-widget]").count() == 0
                else:
                    wake(shown.page)
                found.append(shown.page.evaluate(heights))
        assert found[0] == found[1], f"{name}: heights before and after"


def test_without_javascript_the_picture_is_there(visit, server, site, pages):
    for name in with_widgets(site, pages):
        with visit(server, java_script_enabled=False) as shown:
            shown.page.goto(server + name)
            for box in shown.page.locator(".attn-widget").all():
                box.scroll_into_view_if_needed()
                picture = box.locator("img")
                assert picture.get_attribute("alt")
                size = picture.bounding_box()
                ratio = int(picture.get_attribute("width")) / int(picture.get_attribute("height"))
                assert size["width"] / size["height"] == pytest.approx(ratio, rel=0.02)
            assert not shown.faults


def test_pictures_keep_their_shape_on_a_phone(visit, server, site, pages):
    """Each picture has a size before it is loaded, and keeps its proportions in a narrow page."""
    seen = 0
    for name in pages:
        with visit(server, width=360, java_script_enabled=False) as shown:
            shown.page.goto(server + name)
            for picture in shown.page.locator("figure img, .cell_output img").all():
                width, height = (int(picture.get_attribute(at)) for at in ("width", "height"))
                size = picture.bounding_box()
                assert size["width"] <= 328
                assert size["width"] / size["height"] == pytest.approx(width / height, rel=0.02)
                seen += 1
    assert seen


def test_every_assignment_is_handed_out_by_its_chapter(site):
    """What the link gives is what `make release` writes, no solution in it.

    An assignment can be there before its chapter is: it is handed out when the book has both.
    """
    root = Path(__file__).resolve().parents[3]
    chapters = re.findall(r"file: book/(\S+)", (root / "_toc.yml").read_text("utf-8"))
    folders = [f for f in (root / "exercises").glob("[0-9][0-9]_*") if f.name in chapters]
    assert folders
    given = {path.stem: path.read_text("utf-8") for path in site.glob("assignments/*.ipynb")}
    assert given == {f.name: release.build(Exercise(f)) for f in folders}
    for name in given:
        chapter = (site / "book" / f"{name}.html").read_text("utf-8")
        assert f'href="../assignments/{name}.ipynb"' in chapter
        assert re.search(r"\(\d questions, about \d+ minutes, \d+ points\)", chapter)
