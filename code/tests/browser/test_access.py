"""Every page for every reader: axe-core in both themes, and the keyboard through every widget."""

import re

from site_checks import COLOURS, REDIRECT, SHOW_NEW, THIN_OUT, VIEW, complaints

SHOWS = r'attnbook\.widgets\.\w+|"controls": *\[[^\]]*\]'
WOKEN = """async () => {
  const found = [];
  document.querySelector(".attn-all input:not(:checked)")?.click();
  for (const box of document.querySelectorAll(".attn-widget")) { // one by one: in view it wakes
    box.scrollIntoView();
    for (let n = 0; n < 200 && !box.dataset.widget; n++) {
      await new Promise((done) => setTimeout(done, 25));
    }
    found.push(box.dataset.widget);
  }
  return found;
}"""
# What a widget can be worked with, and where the focus is: the n-th of them, or -1.
PARTS = """(box) => [...box.querySelectorAll("input, select, button, canvas, [tabindex]")]
  .filter((part) => part.tabIndex >= 0 && !part.disabled && part.getClientRects().length)"""
FOCUSED = f"(box) => ({PARTS})(box).indexOf(document.activeElement)"
# Radio buttons of one group are one stop: the arrow keys move between them.
STOPS = f"""(box) => ({PARTS})(box).map((part, n) => [part, n])
  .filter(([part]) => part.type !== "radio" || part.checked).map(([, n]) => n)"""


ONE_OF_A_KIND = ("book/api/pictures.html", "book/api/masks.html")  # other pages have their template


def test_axe_finds_nothing_serious(visit, server, site, pages):
    """Every rule in light, and in dark what depends on colours; of texts of one look the first."""
    found, looks = {}, {"light": [], "dark": []}
    with visit(server, reduced_motion="reduce") as shown:
        page = shown.page
        for name in pages:
            if REDIRECT.search((site / name).read_text("utf-8")):
                continue  # it leads to a page that is looked at
            if "/api/" in name and name not in ONE_OF_A_KIND:
                continue
            page.goto(server + name, wait_until="load")
            assert set(page.evaluate(WOKEN)) <= {"awake"}
            page.evaluate(THIN_OUT)
            found[name] = complaints(page, less=COLOURS)
            for theme in ("dark", "light"):
                page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
                page.wait_for_timeout(100)  # the widgets follow
                looks[theme] = page.evaluate(SHOW_NEW, looks[theme])
                found[name, theme] = complaints(page, *COLOURS)
    assert len(found) > 60 and set(ONE_OF_A_KIND) <= set(pages)
    assert {where: what for where, what in found.items() if what} == {}


def test_axe_would_find_something(visit, server):
    """The control: a picture without words, and words that cannot be read."""
    with visit(server, theme="dark") as shown:
        shown.page.goto(server + "book/notation.html")
        shown.page.evaluate(
            """() => { document.querySelector(".bd-article p").innerHTML =
              '<img src="data:,"><b style="color: #444; background: #111">pale</b>'; }"""
        )
        rules = {complaint.split()[0] for complaint in complaints(shown.page)}
    assert rules == {"image-alt", "color-contrast"}


def test_the_keyboard_goes_through_every_widget(visit, server, site, pages):
    """Tab reaches each control and each map in the order in which they stand, and leaves again.

    On pages that show a class, or a set of its controls, which no page before has.
    """
    seen, known = 0, set()
    with visit(server) as shown:
        page = shown.page
        for name in pages:
            text = (site / name).read_text("utf-8")
            shows = set(re.findall(SHOWS, text)) if VIEW in text else set()
            if shows <= known:
                continue
            known |= shows
            page.goto(server + name)
            assert set(page.evaluate(WOKEN)) == {"awake"}
            for box in page.locator(".attn-widget").all():
                stops = box.evaluate(STOPS)
                box.evaluate(f"(box) => ({PARTS})(box)[{stops[0]}].focus()")
                visited = [stops[0]]
                for _ in stops:
                    page.keyboard.press("Tab")
                    visited.append(box.evaluate(FOCUSED))
                assert visited == [*stops, -1], f"{name}: Tab went {visited}, not {stops}"
                seen += len(stops)
    assert seen > 30
