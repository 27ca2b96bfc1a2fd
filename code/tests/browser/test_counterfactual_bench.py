"""The counterfactual bench in a browser: its arithmetic, and what no other widget does."""

import numpy as np
import pytest
from attnbook_testing.widgets import bench, linear_bench
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import cells, live, soon, use
from widget_rows import shows

from attnbook.widgets import CounterfactualBench

CALL = """(cases) => cases.map(({ operation, key, changed, ...bench }) => {
  const { agreementOf, changeWeights, effectsOf, meanRow, outputOf } = window.arithmetic;
  const weights = changeWeights(bench, operation, key, changed);
  const effects = effectsOf(bench, changed);
  const own = changed.map((head) => bench.weights[head]);
  return { weights, shares: outputOf(bench, weights), effects,
           agreement: own.length ? agreementOf(meanRow(own), effects) : 0 };
})"""


@pytest.fixture
def found_by(module):
    """Send cases to `counterfactual_bench/math.js` and return what it finds."""
    return lambda cases: module("counterfactual_bench/math.js").evaluate(CALL, cases)


@st.composite
def cases(draw):
    h, k, d, m = (draw(st.integers(least, 4)) for least in (1, 1, 1, 2))
    linear = draw(st.booleans())
    h, m = (1, 2) if linear else (h, m)
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    weights = random.dirichlet(np.full(k, draw(st.sampled_from([0.05, 1.0]))), size=(1, h))
    norm = None if linear else random.normal(size=(2, d))
    widget = CounterfactualBench(
        weights,
        random.normal(size=(1, h, k, d)),
        random.normal(size=(m, d)),
        residual=random.normal(size=(1, d)),
        norm=norm,
        bias=random.normal(size=m),
        changed=draw(st.sets(st.integers(0, h - 1))),
        key=draw(st.integers(0, k - 1)),
        seed=draw(st.integers(0, 9)),
    )
    widget.operation = draw(st.sampled_from(widget._operations))
    flat = {name: widget._held(f"_{name}", -1).tolist() for name in ("residual", "readout", "bias")}
    flat["norm"] = widget._held("_norm", -1).tolist() if widget._norm else None
    flat |= {"added": widget.added().ravel().tolist(), "weights": widget.trained().tolist()}
    moved = {name: getattr(widget, name) for name in ("operation", "key", "changed")}
    sizes = {"keys": k, "features": d}
    return widget, {**flat, **moved, "order": widget._order, "sizes": sizes}


@given(st.lists(cases(), min_size=1, max_size=8))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_equals_python(found_by, several):
    for (widget, _), got in zip(several, found_by([one for _, one in several]), strict=True):
        np.testing.assert_allclose(got["weights"], widget.weights(), atol=1e-9)
        np.testing.assert_allclose(got["shares"], widget.probabilities(), atol=1e-9)
        np.testing.assert_allclose(got["effects"], widget.effects(), atol=1e-9)
        assert got["agreement"] == pytest.approx(widget.agreement(), abs=1e-6)


def test_a_click_puts_all_weight_on_a_key_or_erases_it(show):
    words = [f"a sentence with number {n}" for n in range(5)]
    page = show(linear_bench(key_labels=words)).page
    canvas = page.locator("canvas[tabindex]")
    canvas.click(position={"x": 20, "y": 20 + 3.5 * 25})  # heading, and lines of keys

    def forced():
        assert [row[2] for row in cells(page)] == ["0", "0", "0", "1.000", "0"]
        assert f"key 3 “{words[3]}”" in live(page)

    soon(page, forced)
    use(page, "combobox", "The weights", "erase")
    canvas.click(position={"x": 20, "y": 20 + 1.5 * 25})
    assert page.evaluate("[window.traits[0].key, window.traits[0].operation]") == [1, "erase"]

    def erased():
        assert cells(page)[1][2] == "0"

    soon(page, erased)


@pytest.mark.parametrize("width", [1280, 390])
def test_short_labels_stand_over_columns_and_long_ones_in_lines(show, width):
    letters = bench(key_labels=list("abcde"), key=0)
    words = bench(key_labels=["quite a long sentence"] * 5, key=0)
    page = show(letters, words, width=width).page
    heights = [c.bounding_box()["height"] for c in page.locator("canvas[tabindex]").all()]
    assert heights[0] == 2 * (40 + 2 * 19 + 6) and heights[1] == 20 + 5 * 25 + 4
    page.locator("canvas[tabindex]").first.focus()
    for key in ("ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("[window.traits[0].key, window.traits[0].operation]") == [1, "force"]


def test_without_a_known_truth_nothing_is_judged(show):
    widget = bench(gold=None, operation="force")
    page = show(widget).page
    soon(page, shows, page, widget)
    assert "truth" not in page.locator(".ah-readout").inner_text()
    assert "decides" not in page.locator(".ah-hidden table").inner_text()
