"""Kernel regression in a browser: its arithmetic, and what no other widget does."""

import re

import numpy as np
import pytest
from attnbook_testing.widgets import regression
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import colours, live, readout, rgb, soon, use
from widget_rows import row_of, shows, tells, told

from attnbook import plots
from attnbook.widgets import KernelRegression
from attnbook.widgets.kernel import KERNELS
from devkit.browser import load

CALL = """(cases) => cases.map((c) => {
  const { fitCurve, meanSquaredError } = window.arithmetic;
  const found = fitCurve(c);
  return { weights: [...found.weights], allowed: [...found.allowed], fit: [...found.fit],
           empty: found.empty, error: meanSquaredError(found.fit, c.known) };
})"""


@pytest.fixture
def fits_of(module):
    """Send cases to `kernel/fit.js` and return what it finds."""
    return lambda cases: module("kernel/fit.js").evaluate(CALL, cases)


@st.composite
def cases(draw):
    """Points on a grid of quarters, so that some stand exactly at the kernel's edge, and not."""
    number = st.integers(-12, 12).map(lambda n: n / 4) | st.floats(-4, 4)
    x = sorted(draw(st.lists(number, min_size=1, max_size=7)))
    y = draw(st.lists(st.floats(-50, 50), min_size=len(x), max_size=len(x)))
    queries = sorted(draw(st.lists(number, min_size=1, max_size=7)))
    truth = draw(
        st.just([]) | st.lists(st.floats(-9, 9), min_size=len(queries), max_size=len(queries))
    )
    width = draw(st.sampled_from([0.25, 0.5, 1.0, 2.0]) | st.floats(0.05, 20))
    options = {"kernel": draw(st.sampled_from(list(KERNELS))), "leaveOneOut": draw(st.booleans())}
    return {"x": x, "y": y, "queries": queries, "truth": truth, "width": width, **options}


def as_widget(case):
    return KernelRegression(
        case["x"],
        case["y"],
        queries=case["queries"],
        truth=case["truth"] or None,
        kernel=case["kernel"],
        width=case["width"],
        leave_one_out=case["leaveOneOut"],
    )


def assert_equal(case, got):
    widget = as_widget(case)
    weights = widget.weights()
    found = np.array(got["weights"]).reshape(weights.shape)
    np.testing.assert_allclose(found, weights, rtol=0, atol=1e-6)
    assert np.array_equal(np.array(got["allowed"]).reshape(weights.shape), widget.allowed())
    np.testing.assert_allclose(got["fit"], widget.fit(), rtol=0, atol=1e-6)
    assert got["empty"] == (weights.sum(axis=1) == 0).tolist()
    assert got["error"] == pytest.approx(widget.error(), abs=1e-6, rel=1e-9, nan_ok=True)


@given(st.lists(cases(), min_size=1, max_size=8))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equals_the_scores_and_softmax_of_python(fits_of, several):
    for case in several:
        case["known"] = case["y"] if case["leaveOneOut"] else case["truth"]
    for case, got in zip(several, fits_of(several), strict=True):
        assert_equal(case, got)


@pytest.mark.parametrize(
    ("row", "count"), [([0.96, 0.04], 1), ([0.04, 0.9, 0.06], 2), ([0.25] * 4, 4), ([0.0, 0.0], 0)]
)
def test_the_points_that_carry_most_are_the_fewest(module, row, count):
    call = "(row) => window.arithmetic.countCarrying(Float64Array.from(row), 0.95)"
    assert module("kernel/fit.js").evaluate(call, row) == count


def test_ticks_are_round_and_within(module):
    page = module("core/plot.js")
    call = "([low, high, n]) => window.arithmetic.niceTicks(low, high, n).map((tick) => tick.text)"
    assert page.evaluate(call, [-0.2, 5.2, 6]) == ["0", "1", "2", "3", "4", "5"]
    assert page.evaluate(call, [-0.13, 0.11, 5]) == ["−0.10", "−0.05", "0.00", "0.05", "0.10"]
    assert page.evaluate(call, [3, 3, 4]) == ["3.0"]
    for low, high in ((-7e-4, 3e-3), (0.1, 0.9), (-1e6, 3e7)):
        texts = page.evaluate(call, [low, high, 5])
        values = [float(text.replace("−", "-")) for text in texts]
        assert 3 <= len(values) <= 12 and len(set(texts)) == len(texts)
        assert low <= min(values) and max(values) <= high
        assert np.diff(values) == pytest.approx(values[1] - values[0])


# What it shows, says and does


def test_the_width_moves_by_its_logarithm_and_is_announced_when_it_rests(show):
    widget = regression()
    page = show(widget).page
    slider, value = page.get_by_label("Width"), page.locator("output.ah-value").first
    assert value.inner_text() == "0.5"
    read = []
    for _ in range(3):
        slider.press("ArrowRight")
        read.append(float(value.inner_text()))
    assert 0.5 < read[0] < 0.55
    assert read[2] / read[1] == pytest.approx(read[1] / read[0], rel=0.02)
    assert slider.get_attribute("aria-valuetext") == value.inner_text()
    slider.press("End")
    widget.width = widget._widths[1]
    soon(page, lambda: tells(live(page), row_of(widget).reads(widget)))


def test_the_query_stays_where_it_is_when_the_rows_change(show):
    widget = regression(query=3.3)
    page = show(widget).page
    use(page, "checkbox", "Leave one out")
    widget.leave_one_out = True
    assert abs(widget.queries()[widget.row()] - 3.3) < 0.2
    told(page, widget)
    assert page.get_by_label("Query").input_value() == str(widget.row())


def test_without_a_truth_there_is_no_error_but_one_to_the_points_left_out(show):
    widget = regression(truth=None)
    page = show(widget).page
    soon(page, shows, page, widget)
    assert not page.get_by_text("truth", exact=True).is_visible()
    use(page, "checkbox", "Leave one out")
    widget.leave_one_out = True
    soon(page, shows, page, widget)


def test_only_the_chosen_controls_and_kernels_are_there(show):
    page = show(regression(controls=("kernel",), kernels=("gaussian", "boxcar"))).page
    assert page.locator("input").count() == 0
    assert page.locator("option").all_inner_texts() == ["Gaussian", "boxcar"]


def test_dragging_moves_the_query(show):
    widget = regression()
    page = show(widget).page
    box = page.locator("canvas[tabindex]").bounding_box()
    chosen = (10, 40)
    start, end = (box["x"] + centres(page, widget)[n][0] for n in chosen)
    page.mouse.move(start, box["y"] + 100)
    told(page, widget)  # pointing alone moves nothing
    page.mouse.down()
    first = readout(page)
    page.mouse.move(end, box["y"] + 120, steps=4)
    last = readout(page)
    page.mouse.up()
    page.mouse.move(start, box["y"] + 100)
    assert readout(page) == last, "the query follows only while the button is down"
    for n, text in zip(chosen, (first, last), strict=True):
        place = float(re.match(r"query ([\d.]+)", text)[1])
        assert abs(place - widget._x[n]) < 0.07, "the query of the grid under the pointer"


def test_pressing_a_row_of_the_weights_moves_the_query_and_marks_the_row(show):
    page = show(regression()).page
    ring = page.locator(".ah-ring")
    before = ring.bounding_box()
    page.mouse.click(before["x"] + 50, before["y"] + 10.5 * before["height"])
    after = ring.bounding_box()
    assert after["y"] - before["y"] == pytest.approx(10 * before["height"], abs=0.5)
    assert readout(page).startswith("query 3.50:")


def plot_colours(page, x, y, radius=1) -> set[tuple[int, ...]]:
    """Colours near a place of the plot, in CSS pixels from its corner."""
    size = 2 * radius + 1
    box = {"x": round(x) - radius, "y": round(y) - radius, "w": size, "h": size}
    return colours(page, box, ".ak-plot")


def centres(page, widget) -> list[tuple[float, float]]:
    """Where the plot has its points, from the plan that the drawing itself uses."""
    load(page, "kernel/plot.js")
    return page.evaluate(
        """([x, y, queries, truth]) => {
          const canvas = document.querySelector(".ak-plot");
          const { clientWidth: width, clientHeight: height } = canvas;
          const context = document.createElement("canvas").getContext("2d");
          const plan = window.arithmetic.planPlot(context,
            { x, y, queries, truth, ratio: 1, width, height });
          return x.map((value, j) => [plan.toX(value), plan.toY(y[j])]);
        }""",
        [widget._x, widget._y, widget._queries, widget._truth],
    )


def test_a_point_has_the_colour_of_its_weight(show):
    """Large is dark, small is light, zero is blank, and the one left out is hatched."""
    far = {"queries": [0.0, 3.0, 6.0], "query": 0.0, "kernel": "epanechnikov", "width": 3.2}
    widget = KernelRegression([0.5, 3.1, 6.0], [0.0, 9.0, 1.0], **far, vmax=0.9)
    assert widget.weights()[0][1] < 0.07 and widget.weights()[0][2] == 0
    page = show(widget).page
    places = zip(centres(page, widget), (1, 1, 0), strict=True)
    large, small, zero = (plot_colours(page, *place, radius) for place, radius in places)
    assert large == {rgb(plots.RAMP[-1])}
    (light,) = small
    assert sum(light) > sum(rgb(plots.RAMP[1]))
    assert zero == {(0, 0, 0, 0)}
    page.get_by_label("Leave one out").press("Space")
    assert len(plot_colours(page, *centres(page, widget)[0], radius=3)) > 5


def test_the_area_of_a_point_grows_with_its_weight(show):
    widget = KernelRegression(
        [0.0, 1.0, 2.0], [0.7, 9.0, 1.3], queries=[0.0, 2.0], query=0.0, width=0.7, vmax=1.0
    )
    page = show(widget).page
    first, _, last = centres(page, widget)
    beside = [plot_colours(page, x + 4, y, 0) != {(0, 0, 0, 0)} for x, y in (first, last)]
    assert beside == [True, False]
    use(page, "slider", "Query", "End")
    beside = [plot_colours(page, x + 4, y, 0) != {(0, 0, 0, 0)} for x, y in (first, last)]
    assert beside == [False, True]


def test_the_curve_has_a_gap_where_no_point_is_in_range(show):
    widget = KernelRegression(
        [0.0, 1.0, 4.0, 5.0],
        [0.31, 0.31, 0.31, -1.0],
        kernel="boxcar",
        width=0.6,
        queries=np.linspace(0, 5, 51),
        query=0.0,
    )
    page = show(widget).page
    (left, top), (right, bottom) = (centres(page, widget)[n] for n in (0, 3))

    def inked(part, value):
        """Whether the curve passes `value` at this part of the range of x."""
        x, y = left + part * (right - left), top + (0.31 - value) / 1.31 * (bottom - top)
        return rgb(plots.INK) in plot_colours(page, x, y, 2)

    there = [inked(part, 0.31) for part in (0.15, 0.25, 0.4, 0.5, 0.6, 0.75, 0.85)]
    assert there == [True, True, False, False, False, True, True]
    assert not any(inked(part, 0.0) for part in (0.35, 0.4, 0.5, 0.6)), "output 0 is not drawn"
    page.get_by_label("Width").press("End")  # now every query sees all points: their mean
    assert inked(0.5, (3 * 0.31 - 1) / 4)


def test_plot_and_weights_stand_side_by_side_where_there_is_room(show):
    page = show(regression()).page
    for width, beside in ((1280, True), (360, False)):
        page.set_viewport_size({"width": width, "height": 800})

        def check(beside=beside):
            plot, weights = (page.locator(at).bounding_box() for at in (".ak-plot", ".ah-map"))
            assert (weights["x"] >= plot["x"] + plot["width"]) == beside
            assert (weights["y"] >= plot["y"] + plot["height"]) != beside
            assert plot["width"] > 250 and plot["height"] >= 160

        soon(page, check)
