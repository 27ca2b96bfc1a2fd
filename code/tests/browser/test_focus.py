"""Where a reader is: a ring at every stop of the Tab key, a mark in the contents at the side."""

import pytest
from site_checks import arrive, open_answers, wake

# Where the focus is seen: an input that is not drawn has its ring on what stands for it. Returns
# null at the end of the page, else what is wrong there.
RING = """() => {
  const node = document.activeElement;
  if (node === document.body || window.stopsSeen?.has(node)) return null;
  (window.stopsSeen ??= new Set()).add(node);
  const place = getComputedStyle(node).opacity === "0" ? node.nextElementSibling : node;
  const { outlineStyle, outlineWidth, outlineColor, outlineOffset } = getComputedStyle(place);
  const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => rgb(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
  const [ring, ground] = [outlineColor, getComputedStyle(document.body).backgroundColor].map(light);
  const contrast = (Math.max(ring, ground) + 0.05) / (Math.min(ring, ground) + 0.05);
  const drawn = `${outlineStyle} ${outlineWidth}`;
  const inside = node.closest(".bd-sidebar-primary, .bd-sidebar-secondary");
  const wrong = drawn !== "solid 2px" || contrast < 3 || (rgb(outlineColor)[3] ?? 1) < 1
    || (inside && outlineOffset !== "-2px");
  const name = `${node.tagName}.${node.className}`;
  return wrong ? `${name}: ${drawn} ${outlineColor} ${outlineOffset}` : "";
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_focus_is_seen_at_every_stop(visit, server, site, theme):
    """A line of two pixels that stands out from the page; inside of what scrolls at the side."""
    with visit(server, theme=theme, reduced_motion="reduce") as shown:
        arrive(shown.page, site, server, "book/03_attention.html")
        wake(shown.page)
        shown.page.evaluate("scrollTo(0, 0)")
        found = []
        shown.page.keyboard.press("Tab")
        while (wrong := shown.page.evaluate(RING)) is not None:
            found.append(wrong)
            shown.page.keyboard.press("Tab")
        assert len(found) > 150
        assert [wrong for wrong in found if wrong] == []


def test_the_contents_mark_where_the_reader_is(visit, server, site):
    """The last heading above a line near the top, whichever way the reader came there."""
    with visit(server, reduced_motion="reduce") as shown:
        page = shown.page
        arrive(page, site, server, "book/03_attention.html")
        open_answers(page)
        hashes = page.eval_on_selector_all(
            "nav.page-toc a.nav-link", "(links) => links.map((link) => link.hash)"
        )
        assert len(hashes) > 5
        for name in [*hashes[1::3], hashes[2]]:
            page.evaluate("(name) => document.querySelector(name).scrollIntoView()", name)
            page.wait_for_function(
                """(name) => {
                  const marked = [...document.querySelectorAll(".page-toc a.active")];
                  return marked.length === 1 && marked[0].hash === name
                    && marked[0].getAttribute("aria-current") === "true";
                }""",
                arg=name,
                timeout=2000,
            )
