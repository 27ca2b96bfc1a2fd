"""A phone, by its reader's thumb: what is pressed is large enough, and a swipe moves the page."""

import pytest
from site_checks import arrive, wake

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
PAGES = (
    "index",
    "03_attention",
    "03_scoring",
    "07_transformer_measured",
    "benchmarks",
    "gallery",
    "playground",
)
# The maps of heads, a token's chip among others: as large as their number lets them be.
SMALL = """() => [...document.querySelectorAll("button, select, label, summary, input[type=range]")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }))
  .filter((node) => !node.matches(".ah-head, .ab-head, .lb-head, .pg-token, .pg-switch"))
  .map((node) => [node, node.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && height > 1)
  .filter(([node, { width, height }]) =>
    height < 43.5 || (node.closest(".bd-header-article") && width < 43.5))
  .map(([node, { width, height }]) =>
    `${node.tagName}.${node.className} ${node.textContent.trim().slice(0, 20)} ${height}`)"""


@pytest.mark.parametrize("name", PAGES)
def test_what_a_finger_presses_is_44_pixels_high(visit, server, site, name):
    with visit(server, **PHONE) as shown:
        arrive(shown.page, site, server, f"book/{name}.html")
        wake(shown.page)
        assert shown.page.evaluate("matchMedia('(pointer: coarse)').matches")
        assert shown.page.evaluate(SMALL) == []


def swipe(page, x, y, by):
    """Move a finger from (x, y) upward by so many pixels, and rest before it leaves.

    Else the page glides on, and no handle can keep what a finger does meanwhile from the page.
    """
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [*points]})

    touch("touchStart", {"x": x, "y": y})
    for part in range(1, 9):
        touch("touchMove", {"x": x, "y": y - by * part / 8})
    page.wait_for_timeout(200)
    touch("touchMove", {"x": x, "y": y - by})
    touch("touchEnd")
    page.wait_for_timeout(150)
    session.detach()


def test_a_swipe_over_any_canvas_moves_the_page(visit, server, site):
    with visit(server, **PHONE, reduced_motion="reduce") as shown:
        page = shown.page
        arrive(page, site, server, "book/gallery.html")
        wake(page)
        stuck, count = [], 0
        for canvas in page.locator(".attn-widget canvas[tabindex]").all():
            if not canvas.is_visible():
                continue
            canvas.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
            box, before = canvas.bounding_box(), page.evaluate("scrollY")
            swipe(page, box["x"] + 0.94 * box["width"], box["y"] + 0.6 * box["height"], 160)
            if page.evaluate("scrollY") < before + 60:
                stuck.append(canvas.get_attribute("aria-label"))
            count += 1
        assert stuck == [] and count >= 15


@pytest.mark.parametrize("name", ["attn-normalizer", "attn-window"])
def test_a_finger_on_a_handle_moves_it_and_not_the_page(visit, server, site, name):
    """From the handle; from elsewhere a swipe changes nothing, and a tap still does."""
    with visit(server, **PHONE, reduced_motion="reduce") as shown:
        page = shown.page
        arrive(page, site, server, "book/gallery.html")
        wake(page)
        widget = page.locator(f".{name}").first
        canvas = widget.locator("canvas[tabindex]")
        canvas.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        readout = lambda: widget.inner_text()  # noqa: E731
        # A finger finds the handle by what it does: where a swipe leaves the page as it is.
        box, start, held = canvas.bounding_box(), page.evaluate("scrollY"), []
        for share in range(2, 19):
            for down in range(1, 8):
                x, y = box["x"] + share / 20 * box["width"], box["y"] + down / 8 * box["height"]
                free = canvas.evaluate(
                    """(node, [x, y]) => node.dispatchEvent(new TouchEvent("touchstart", {
                      bubbles: true, cancelable: true, touches: [new Touch(
                        { identifier: 1, target: node, clientX: x, clientY: y })] }))""",
                    [x, y],
                )
                held += [] if free else [(x, y)]
        assert 1 <= len(held) < 40, "a part of the canvas, not all of it"
        text = readout()
        swipe(page, box["x"] + 0.94 * box["width"], box["y"] + 0.6 * box["height"], 100)
        assert readout() == text and page.evaluate("scrollY") > start
        canvas.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        x, y = held[len(held) // 2]
        session = page.context.new_cdp_session(page)
        for kind, at in (("Start", 0), ("Move", 20), ("Move", 50)):
            session.send(
                "Input.dispatchTouchEvent",
                {"type": f"touch{kind}", "touchPoints": [{"x": x + at, "y": y + at}]},
            )
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(100)
        assert readout() != text and page.evaluate("scrollY") == start
        assert "Tap a cell" in page.locator(".attn-widget").first.inner_text()
