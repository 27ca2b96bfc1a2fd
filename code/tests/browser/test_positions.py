"""The positions explorer in a browser: its arithmetic, and what no other does."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from widget_rows import told

from attnbook import RotaryPositions, alibi_slopes
from attnbook.widgets import PositionExplorer
from attnbook.widgets.positions import KINDS, MATRICES, _drawn


@pytest.fixture
def arithmetic(module):
    """`arithmetic(function, argument)` of `positions/math.js`."""
    call = """([name, argument]) => {
      const found = window.arithmetic[name](argument);
      return found.table ? { ...found, table: [...found.table] } : found;
    }"""
    return lambda name, argument: module("positions/math.js").evaluate(call, [name, argument])


@st.composite
def explorers(draw):
    places = draw(st.integers(2, 40))
    return PositionExplorer(
        kind=draw(st.sampled_from(list(KINDS))),
        matrices=draw(st.sampled_from(list(MATRICES))),
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
    settings_ |= {"matrices": widget.matrices}
    found = arithmetic("encode", settings_)
    assert found["columns"] == widget.columns() == arithmetic("columnCount", settings_)
    table = np.array(found["table"]).reshape(widget.places, -1)
    np.testing.assert_allclose(table, widget.table(), atol=1e-7)
    np.testing.assert_allclose(found["curve"], widget.curve(), atol=1e-7)
    np.testing.assert_allclose(found["similarity"], widget.similarity(), atol=1e-7)


def test_with_random_matrices_only_rotary_scores_depend_on_the_offset_alone():
    """What a reader finds out: the curve of rotary moves along, that of sinusoids changes."""
    differ = {}
    for kind in ("sinusoidal", "rotary"):
        a, b = (PositionExplorer(kind=kind, matrices="random", place=i) for i in (20, 40))
        near, far = a.similarity()[10:31], b.similarity()[30:51]
        differ[kind] = np.abs(near - far).max()
        assert np.abs(near - near[::-1]).max() > 0.1  # before is not after
    assert differ["rotary"] < 1e-9 < 0.3 < differ["sinusoidal"]


def test_turned_scores_are_those_of_the_packages_rotary_positions():
    widget = PositionExplorer(kind="rotary", matrices="random", places=24, d_model=12)
    q, k = torch.from_numpy(_drawn(24)).float().reshape(2, 1, 12).expand(2, 24, 12)
    turn = RotaryPositions(12)
    scores = turn(q) @ turn(k).T
    np.testing.assert_allclose(widget._scores(), scores.numpy(), atol=1e-4)


def test_slopes_are_the_packages(arithmetic):
    for heads in range(1, 17):
        assert arithmetic("alibiSlopes", heads) == pytest.approx(alibi_slopes(heads).tolist())


def test_rotary_takes_whole_pairs(show):
    page = show(PositionExplorer(kind="rotary", d_model=7, column=9)).page
    value = page.locator("label", has_text="Features").locator("output")
    assert value.inner_text() == "6"
    page.get_by_role("slider", name="Features").press("ArrowRight")
    assert value.inner_text() == "8"


def test_pressing_the_table_marks_a_cell_and_dragging_the_curves_a_place(show):
    widget = PositionExplorer(places=32, d_model=16)
    page = show(widget).page
    box = page.locator(".ap-table").bounding_box()
    across, down = (box["width"] - 32) / 16, (box["height"] - 24) / 32
    page.mouse.click(box["x"] + 30 + 12.5 * across, box["y"] + 22 + 9.5 * down)
    widget.place, widget.column = 9, 12
    told(page, widget)
    box = page.locator(".ap-curve").bounding_box()
    left, right = box["x"] + 44, box["x"] + box["width"] - 8
    page.mouse.move(left + 1, box["y"] + 40)
    told(page, widget)  # pointing alone moves nothing
    page.mouse.down()
    page.mouse.move(right + 300, box["y"] + 60, steps=3)
    widget.place = 31
    told(page, widget)
    page.mouse.up()
    box = page.locator(".ap-likeness").bounding_box()
    middle = (box["x"] + 44 + box["x"] + box["width"] - 8) / 2
    page.mouse.click(middle - (box["width"] - 52) / 62 * 10, box["y"] + 50)
    widget.offset = -10
    told(page, widget)


def test_on_a_phone_the_parts_stand_one_below_the_other(show):
    page = show(PositionExplorer(places=512, d_model=64), width=360).page
    boxes = [page.locator(at).bounding_box() for at in (".ap-table", ".ap-curve", ".ap-likeness")]
    for above, below in itertools.pairwise(boxes):
        assert below["y"] >= above["y"] + above["height"]
    assert all(box["width"] > 250 for box in boxes)


def test_only_what_counts_can_be_moved(show):
    page = show(PositionExplorer(kind="alibi")).page
    assert page.get_by_role("slider", name="Base").is_disabled()
    assert not page.get_by_role("radio", name="Random matrices").is_visible()
    page = show(PositionExplorer(controls=("place",))).page
    assert page.locator("input").count() == 1
