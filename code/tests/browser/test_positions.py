"""The positions explorer in a browser: its arithmetic, what it shows, says, and does."""

import itertools
from decimal import ROUND_HALF_UP, Context

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnbook import alibi_slopes
from attnbook.widgets import PositionExplorer, bundle
from attnbook.widgets.positions import KINDS


@pytest.fixture(scope="module")
def arithmetic(browser):
    """`arithmetic(function, argument)` of `positions_math.js`."""
    page = browser.new_page()
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
          window.arithmetic = await import(url);
        }""",
        bundle.join("positions/math.js"),
    )
    call = """([name, argument]) => {
      const found = window.arithmetic[name](argument);
      return found.table ? { ...found, table: [...found.table] } : found;
    }"""
    yield lambda name, argument: page.evaluate(call, [name, argument])
    page.close()


@st.composite
def explorers(draw):
    places = draw(st.integers(2, 40))
    return PositionExplorer(
        kind=draw(st.sampled_from(KINDS)),
        places=places,
        d_model=draw(st.integers(1, 20)),
        num_heads=draw(st.integers(1, 16)),
        base=draw(st.sampled_from([10.0, 1234.5, 10_000.0, 1e6])),
        place=draw(st.integers(0, places - 1)),
        column=draw(st.integers(0, 20)),
        offset=draw(st.integers(-50, 50)),
    )


@given(explorers())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_equals_python(arithmetic, widget):
    place, column, _ = widget.marked()
    settings_ = {"kind": widget.kind, "places": widget.places, "size": widget.d_model}
    settings_ |= {"heads": widget.num_heads, "base": widget.base, "place": place, "column": column}
    found = arithmetic("encode", settings_)
    assert found["columns"] == widget.columns() == arithmetic("columnCount", settings_)
    table = np.array(found["table"]).reshape(widget.places, -1)
    np.testing.assert_allclose(table, widget.table(), atol=1e-7)
    np.testing.assert_allclose(found["curve"], widget.curve(), atol=1e-7)
    np.testing.assert_allclose(found["similarity"], widget.similarity(), atol=1e-7)


def test_slopes_are_the_packages(arithmetic):
    for heads in range(1, 17):
        assert arithmetic("alibiSlopes", heads) == pytest.approx(alibi_slopes(heads).tolist())


def brief(x) -> str:
    """Three significant digits, ties away from zero as in the browser, no zeros at the end."""
    rounded = Context(prec=3, rounding=ROUND_HALF_UP).create_decimal(x)
    return f"{float(rounded):.12g}"


def said(widget) -> str:
    """What the widget has to say, from Python's own numbers."""
    place, column, other = widget.marked()
    offset, value, likeness = other - place, widget.curve()[place], widget.similarity()[other]
    sign = f"{offset:+d}" if offset else "0"
    if widget.kind == "alibi":
        slope = brief(alibi_slopes(widget.num_heads)[column].item())
        text = f"query {place}, head {column + 1} (slope {slope}); key {other}, offset {sign}: "
        text += f"bias {widget.curve()[other]:.2f}, factor {likeness:.2f}"
    else:
        sine = (column % 2 == 0) == (widget.kind == "sinusoidal")
        period = 2 * np.pi * widget.base ** (2 * (column // 2) / widget.columns())
        name = "score" if widget.kind == "rotary" else "similarity"
        text = f"place {place}, feature {column} ({'sine' if sine else 'cosine'}, period "
        text += f"{brief(period)} places): {value:.2f}; "
        text += f"offset {sign}: {name} {likeness:.2f}"
    return text.replace("-0.00", "0.00").replace("-", "−")


def readout(page) -> str:
    return page.locator(".ah-readout").inner_text()


def live(page) -> str:
    return page.locator(".ah-hidden [aria-live=polite]").inner_text()


def pictures(page) -> list[str]:
    return page.evaluate(
        "() => [...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL())"
    )


def assert_shows(page, widget):
    """Read-out and hidden table are Python's."""
    assert readout(page) == said(widget)
    page.wait_for_timeout(250)
    rows = page.evaluate(
        """() => [...document.querySelectorAll(".ah-hidden tr")].slice(1).map(
          (row) => [...row.children].map((cell) => Number(cell.textContent.replace("−", "-"))))"""
    )
    everywhere = np.arange(widget.places)
    wanted = [everywhere, everywhere - widget.place, widget.curve(), widget.similarity()]
    np.testing.assert_allclose(np.array(rows).T, wanted, atol=0.00051)


def test_controls_do_what_python_does(show):
    widget = PositionExplorer()
    shown = show(widget)
    page = shown.page
    assert_shows(page, widget)
    first = pictures(page)
    for kind, name in (("rotary", "Rotary"), ("alibi", "ALiBi")):
        page.get_by_role("radio", name=name).check(force=True)
        widget.kind = kind
        assert_shows(page, widget)
    page.get_by_role("slider", name="Heads").press("ArrowLeft")
    widget.num_heads = 7
    assert_shows(page, widget)
    page.get_by_role("slider", name="Head", exact=True).press("Home")
    widget.column = 0
    assert_shows(page, widget)
    assert page.get_by_role("slider", name="Base").is_disabled()
    page.get_by_role("radio", name="Sinusoidal").check(force=True)
    widget.kind = "sinusoidal"
    page.get_by_role("slider", name="Features").press("End")
    widget.d_model = 64
    page.get_by_role("slider", name="Feature", exact=True).press("End")
    widget.column = 63
    page.get_by_role("slider", name="Base").press("Home")
    widget.base = 10.0
    assert_shows(page, widget)
    page.get_by_role("slider", name="Place").press("End")
    widget.place = 63
    assert_shows(page, widget)  # the offset stops at the last place
    page.get_by_role("slider", name="Offset").press("Home")
    widget.offset = -63
    assert_shows(page, widget)
    page.get_by_role("button", name="Reset").click()
    assert_shows(page, PositionExplorer())
    assert pictures(page) == first
    assert not shown.faults


def test_rotary_takes_whole_pairs(show):
    page = show(PositionExplorer(kind="rotary", d_model=7, column=9)).page
    value = page.locator("label", has_text="Features").locator("output")
    assert value.inner_text() == "6"
    page.get_by_role("slider", name="Features").press("ArrowRight")
    assert value.inner_text() == "8"


def test_keys_move_what_is_marked_and_are_announced(show):
    widget = PositionExplorer()
    page = show(widget).page
    table = page.locator("canvas[tabindex]")
    assert table.get_attribute("aria-label") == widget.alt and live(page) == ""
    table.focus()
    assert live(page) == said(widget)
    moves = {"ArrowDown": ("place", 21), "ArrowRight": ("column", 9), "PageDown": ("offset", 6)}
    moves |= {"ArrowLeft": ("column", 8), "PageUp": ("offset", 5), "ArrowUp": ("place", 20)}
    for key, (name, value) in (*moves.items(), ("End", ("place", 63)), ("Home", ("place", 0))):
        table.press(key)
        setattr(widget, name, value)
        assert live(page) == said(widget), key
        assert readout(page) == said(widget), key


def test_pressing_the_table_marks_a_cell_and_dragging_the_curves_a_place(show):
    widget = PositionExplorer(places=32, d_model=16)
    page = show(widget).page
    box = page.locator(".ap-table").bounding_box()
    across, down = (box["width"] - 32) / 16, (box["height"] - 24) / 32
    page.mouse.click(box["x"] + 30 + 12.5 * across, box["y"] + 22 + 9.5 * down)
    widget.place, widget.column = 9, 12
    assert readout(page) == said(widget)
    box = page.locator(".ap-curve").bounding_box()
    left, right = box["x"] + 44, box["x"] + box["width"] - 8
    page.mouse.move(left + 1, box["y"] + 40)
    assert readout(page) == said(widget), "pointing alone moves nothing"
    page.mouse.down()
    page.mouse.move(right + 300, box["y"] + 60, steps=3)
    widget.place = 31
    assert readout(page) == said(widget)
    page.mouse.up()
    box = page.locator(".ap-likeness").bounding_box()
    middle = (box["x"] + 44 + box["x"] + box["width"] - 8) / 2
    page.mouse.click(middle - (box["width"] - 52) / 62 * 10, box["y"] + 50)
    widget.offset = -10
    assert readout(page) == said(widget)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_setting_gives_the_picture_of_a_fresh_widget(show, kind):
    page = show(PositionExplorer(kind=kind)).page
    page.get_by_role("slider", name="Place").press("Home")
    assert pictures(page) == pictures(show(PositionExplorer(kind=kind, place=0)).page)


def test_only_the_chosen_controls_are_there_and_each_has_a_label(show):
    page = show(PositionExplorer()).page
    names = page.evaluate(
        """() => [...document.querySelectorAll("input")].map(
          (input) => input.labels[0]?.textContent.trim() ?? "")"""
    )
    assert len(names) == 8 and all(names)
    page = show(PositionExplorer(controls=("place",))).page
    assert page.locator("input").count() == 1
    page = show(PositionExplorer(controls=())).page
    assert page.locator("input").count() == 0
    assert not page.get_by_role("button").is_visible()


def test_it_follows_the_dark_theme(show):
    page = show(PositionExplorer()).page
    light = pictures(page)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_selector(".attn-positions[data-theme=dark]")
    page.wait_for_timeout(100)
    assert all(a != b for a, b in zip(light, pictures(page), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_it_fits_a_phone(show, kind):
    widget = PositionExplorer(kind=kind, places=512, d_model=64, num_heads=16, title="Many")
    page = show(widget, width=360).page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    boxes = [page.locator(at).bounding_box() for at in (".ap-table", ".ap-curve", ".ap-likeness")]
    for above, below in itertools.pairwise(boxes):
        assert below["y"] >= above["y"] + above["height"]
    for box in boxes:
        assert box["x"] >= 0 and 250 < box["width"] and box["x"] + box["width"] <= 360


@pytest.mark.parametrize("ratio", [1, 1.5, 2])
def test_the_canvases_are_sharp(show, ratio):
    page = show(PositionExplorer(), device_scale_factor=ratio).page
    for canvas in page.locator("canvas").all():
        drawn, shown = canvas.evaluate("(c) => [c.width, c.getBoundingClientRect().width]")
        assert drawn == pytest.approx(ratio * shown, abs=1)


def test_labels_are_text_not_markup(show):
    word = '<img src="nowhere.png">'
    shown = show(PositionExplorer(title=word, alt=word))
    assert shown.page.locator(".attn-positions img").count() == 0
    assert shown.page.locator(".ah-title").inner_text() == word and not shown.faults


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_does_not_fail(show, kind):
    widget = PositionExplorer(kind=kind, places=2, d_model=1, num_heads=1, place=0, column=0)
    shown = show(widget)
    assert_shows(shown.page, widget)
    shown.page.locator("canvas[tabindex]").press("End")
    widget.place = 1
    assert_shows(shown.page, widget)
    assert not shown.faults


def test_two_views_of_one_model_move_together(show):
    widget = PositionExplorer()
    page = show(widget, widget).page
    page.get_by_role("slider", name="Place").first.press("End")
    first, second = page.locator(".ah-readout").all_inner_texts()
    assert first == second and first.startswith("place 63,")
