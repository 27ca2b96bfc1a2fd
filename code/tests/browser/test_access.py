"""Every page for every reader: axe-core in both themes, and the keyboard through every widget."""

import importlib.util
from pathlib import Path

import pytest

AXE = Path(importlib.util.find_spec("axe_playwright_python").origin).parent / "axe.min.js"
WOKEN = """() => Promise.all([...document.querySelectorAll(".attn-widget")].map(async (box) => {
  box.scrollIntoView();
  for (let n = 0; n < 200 && !box.dataset.widget; n++) await new Promise((f) => setTimeout(f, 25));
  return box.dataset.widget;
}))"""
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id} (${nodes.length}): ` + nodes.slice(0, 3)
      .map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join(" | "));
}"""
# What a widget can be worked with, and where the focus is: the n-th of them, or -1.
PARTS = """(box) => [...box.querySelectorAll("input, select, button, canvas, [tabindex]")]
  .filter((part) => part.tabIndex >= 0 && !part.disabled && part.getClientRects().length)"""
FOCUSED = f"(box) => ({PARTS})(box).indexOf(document.activeElement)"
# Radio buttons of one group are one stop: the arrow keys move between them.
STOPS = f"""(box) => ({PARTS})(box).map((part, n) => [part, n])
  .filter(([part]) => part.type !== "radio" || part.checked).map(([, n]) => n)"""


def complaints(page) -> list[str]:
    """What axe-core finds that is serious or critical."""
    page.evaluate(AXE.read_text("utf-8"))
    return page.evaluate(RUN)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(visit, server, site, pages, theme):
    found = {}
    for name in pages:
        if 'http-equiv="refresh"' in (site / name).read_text("utf-8"):
            continue  # it leads to a page that is looked at
        with visit(server, theme=theme, reduced_motion="reduce") as shown:
            shown.page.goto(server + name, wait_until="load")
            shown.page.evaluate(WOKEN)
            if complained := complaints(shown.page):
                found[name] = complained
    assert not found


def test_axe_would_find_something(visit, server):
    """The control: a picture without words, and words that cannot be read."""
    with visit(server) as shown:
        shown.page.goto(server + "book/notation.html")
        shown.page.evaluate(
            """() => { document.querySelector("main p").innerHTML =
              '<img src="data:,"><b style="color: #bbb; background: #fff">pale</b>'; }"""
        )
        rules = {complaint.split()[0] for complaint in complaints(shown.page)}
    assert rules == {"image-alt", "color-contrast"}


def test_the_keyboard_goes_through_every_widget(visit, server, site, pages):
    """Tab reaches each control and each map in the order in which they stand, and leaves again."""
    seen = 0
    for name in pages:
        if 'class="attn-widget"' not in (site / name).read_text("utf-8"):
            continue
        with visit(server) as shown:
            page = shown.page
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
