"""The whole Transformer, whose parts open, and the verdict of the selection table."""

import pytest

SMALLEST = """(selector) => Math.min(...[...document.querySelectorAll(selector)]
  .filter((text) => text.getClientRects().length)
  .map((text) => { const svg = text.ownerSVGElement;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return scale * parseFloat(getComputedStyle(text).fontSize); }))"""


@pytest.mark.parametrize("width", [1280, 390])
def test_each_part_of_the_transformer_opens_without_javascript(visit, server, width):
    with visit(server, width=width, java_script_enabled=False) as shown:
        page = shown.page
        page.goto(f"{server}book/07_transformer.html")
        boxes = page.locator("#fig-transformer .attn-drawing a[href^='#transformer-']:visible")
        places = [box.get_attribute("href") for box in boxes.all()]
        parts = page.locator(".attn-opens").count()
        assert len(set(places)) == parts > 6
        for n, place in enumerate(places):
            boxes.nth(n).press("Enter")
            page.locator(f"{place} pre").wait_for(state="visible")
            assert page.locator(".attn-opens[open]").count() == 1
        page.emulate_media(media="print")
        assert page.locator(".attn-opens pre:visible").count() == parts


@pytest.mark.parametrize("width", [1280, 390])
def test_their_words_are_large_enough(visit, server, width):
    with visit(server, width=width) as shown:
        for name in ("07_transformer", "selection"):
            shown.page.goto(f"{server}book/{name}.html")
            figure = "#fig-transformer" if name[0] == "0" else ".attn-recall"
            assert shown.page.evaluate(SMALLEST, f"{figure} text:not(.eq)") >= 11.9


@pytest.mark.parametrize("width", [1280, 390])
def test_a_point_of_the_verdict_shows_its_row(visit, server, width):
    with visit(server, width=width) as shown:
        page = shown.page
        page.goto(f"{server}book/selection.html")
        marks = page.locator(".attn-recall .mark")
        for mark in marks.all():
            row = mark.locator(".readout")
            assert not row.is_visible()
            mark.focus()
            assert row.is_visible() and row.text_content() == mark.get_attribute("aria-label")
            box, frame = row.bounding_box(), page.locator(".attn-recall").bounding_box()
            assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
            mark.blur()
        assert marks.count() > 30
        marks.first.scroll_into_view_if_needed()
        bar = marks.first.locator(".bar").bounding_box()
        page.mouse.move(bar["x"], bar["y"] + bar["height"] / 2)
        assert page.locator(".attn-recall .readout:visible").count() == 1
        page.locator("details.hide table").first.wait_for(state="hidden")


@pytest.mark.parametrize("width", [1280, 390])
def test_each_mark_of_the_verdict_has_its_name_and_none_covers_another(visit, server, width):
    with visit(server, width=width) as shown:
        shown.page.goto(f"{server}book/selection.html")
        names = shown.page.evaluate(
            """() => [...document.querySelectorAll(".attn-recalls")].map((panel) =>
              [...panel.querySelectorAll(".mark")].map((mark) => {
                const box = mark.querySelector(".label")?.getBoundingClientRect();
                return box && [box.left, box.top, box.right, box.bottom]; }))"""
        )
        assert len(names) == 4 and all(all(panel) for panel in names)
        for panel in names:
            for n, (left, top, right, bottom) in enumerate(panel):
                for x, y, x_end, y_end in panel[:n]:
                    apart = right <= x or x_end <= left or bottom <= y + 3 or y_end <= top + 3
                    assert apart  # lines of text may stand close
