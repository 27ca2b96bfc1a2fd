"""How to run the course: said in the head of every page, with JavaScript and without."""

import re
from html import escape

import pytest
from site_checks import WIDTHS

from devkit.course import LINES, ZIP

OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".bd-header-article .btn")]
    .map((button) => button.getBoundingClientRect()).filter(({ width }) => width)
    .sort((a, b) => a.left - b.left);
  return boxes.filter((box, n) => n && box.left < boxes[n - 1].right - 1
    || Math.abs(box.top + box.height / 2 - boxes[0].top - boxes[0].height / 2) > 4).length;
}"""


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("device", WIDTHS)
def test_the_lines_open_by_keyboard_and_close(visit, server, device, script):
    with visit(server, width=WIDTHS[device], java_script_enabled=script) as shown:
        page = shown.page
        page.goto(server + "book/05_multihead.html")
        button, box = page.get_by_role("button", name="Run it"), page.locator("#attn-run")
        assert box.is_hidden() and page.evaluate(OVERLAPS) == 0
        button.press("Enter")
        assert box.locator("pre").inner_text().splitlines() == [*LINES]
        place = box.bounding_box()
        assert place["x"] >= 0 and place["x"] + place["width"] <= WIDTHS[device]
        page.keyboard.press("Tab")  # into what has opened
        assert box.locator("a:focus").get_attribute("href").endswith(ZIP)
        page.keyboard.press("Escape")
        assert box.is_hidden() and button.evaluate("(b) => b === document.activeElement")


def test_every_page_says_how_to_run_it(site, pages):
    alone = {"index.html", "404.html"}  # the redirect and what a server shows for a wrong address
    for name in set(pages) - alone:
        box = re.search(
            r'<div id="attn-run".*?</div>', (site / name).read_text("utf-8"), re.DOTALL
        )[0]
        assert f"<pre>{escape(chr(10).join(LINES))}</pre>" in box, name
        link = re.search(r'href="([^"]*)" download', box)[1]
        assert ((site / name).parent / link).resolve() == (site / ZIP).resolve()
        notebook = f"notebooks/{name.rpartition('/')[2].removesuffix('.html')}.ipynb"
        assert (notebook in box) == (site / notebook).is_file()
