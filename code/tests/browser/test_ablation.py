"""Head ablation in a browser: its sum over heads, and what no other widget does."""

import numpy as np
import pytest
from attnbook_testing.widgets import two_heads
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import live, readout, rgb, use
from widget_rows import shows

from attnbook import plots
from attnbook.widgets import HeadAblation

CALL = """(cases) => cases.map(({ sizes, out, b, ...arrays }) => {
  const { countRight, predictClasses, sumHeads } = window.arithmetic;
  const typed = { added: Float64Array.from(arrays.added), base: Float32Array.from(arrays.base),
                  answers: Uint8Array.from(arrays.answers) };
  const logits = sumHeads(typed, sizes, b, out);
  return { logits: [...logits], said: predictClasses(logits, sizes.classes),
           counts: countRight(typed, sizes, out) };
})"""


@pytest.fixture
def sums_of(module):
    """Send cases to `ablation/sum.js` and return what it finds."""
    return lambda cases: module("ablation/sum.js").evaluate(CALL, cases)


@st.composite
def cases(draw):
    b, h, q, r, m = (draw(st.integers(1, top)) for top in (3, 4, 4, 3, 5))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    # few distinct numbers, so that ties come up: then the first class is taken
    added = random.integers(-2, 3, size=(b, h, q, r, m)) / 2
    base = random.integers(-1, 2, size=(r, m)) / 2
    out = draw(st.sets(st.integers(0, h - 1)))
    answers = random.integers(m, size=(b, q, r))
    weights = np.ones((b, h, q, 2)) / 2
    widget = HeadAblation(weights, added, answers, base=base, ablated=out)
    sizes = {"batches": b, "heads": h, "queries": q, "relations": r, "classes": m}
    flat = {"added": widget.added(), "base": base, "answers": answers}
    sent = {name: array.flatten().tolist() for name, array in flat.items()}
    return widget, {**sent, "sizes": sizes, "out": sorted(out), "b": draw(st.integers(0, b - 1))}


@given(st.lists(cases(), min_size=1, max_size=6))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_equals_python(sums_of, several):
    for (widget, case), got in zip(several, sums_of([case for _, case in several]), strict=True):
        wanted = widget.logits()[case["b"]]
        assert np.reshape(got["logits"], wanted.shape).tolist() == wanted.tolist()
        assert np.reshape(got["said"], wanted.shape[:2]).tolist() == wanted.argmax(-1).tolist()
        right = widget.right()
        counts = [*right.sum(axis=(0, 1)).tolist(), int(right.all(axis=-1).sum())]
        assert got["counts"] == counts


def test_a_head_out_takes_what_it_knows_with_it(show):
    """Counted by hand: without head 0 the first answer is class 0, right for one query of six."""
    page = show(two_heads()).page
    use(page, "switch", "head 0")
    assert page.locator(".ab-score output").all_inner_texts() == ["1 of 6", "6 of 6", "1 of 6"]
    assert page.locator(".ab-said > span").all_inner_texts() == ["0", "0", "0", "3", "2", "1"]
    page.get_by_role("switch", name="head 1").press("Space")
    assert live(page) == (
        "head 0 and head 1 are out. left: 1 of 6 right; match: 0 of 6 right; both: 0 of 6 right."
    )


def test_it_starts_as_python_says(show):
    widget = two_heads(ablated=[1], batch=1, query=2)
    page = show(widget).page
    shows(page, widget)
    assert readout(page) == (
        "r2: left 3, right (logit of 3: 0.0 without heads, head 0 +5.0, head 1 out); "
        "match 0, wrong, 3 is right (logit of 3: 0.0 without heads, head 0 +0.0, head 1 out)."
    )


def test_a_pointed_column_is_marked_in_every_map(show):
    page = show(two_heads()).page
    assert page.locator(".ab-mark:visible").count() == 0
    page.locator(".ab-said").nth(1).hover()
    assert page.locator(".ab-mark:visible").count() == 2
    assert "q1:" in readout(page)


@pytest.mark.parametrize("width", [1280, 360])
def test_two_maps_are_drawn_with_their_labels_on_a_phone_too(show, width):
    page = show(two_heads(), width=width).page
    dark = page.locator(".ab-head canvas").evaluate_all(
        """(all, [r, g, b]) => all.map((canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let at = 0; at < data.length; at += 4) {
            if (data[at] === r && data[at + 1] === g && data[at + 2] === b) count++;
          }
          return count;
        })""",
        rgb(plots.RAMP[-1])[:3],
    )
    assert dark[0] == dark[1] > 3 * 15 * 15, "three cells of weight 1"
    canvas = page.locator(".ab-head canvas").first.bounding_box()
    assert canvas["width"] > canvas["height"] + 10, "the labels' room"
    one, two = (head.bounding_box() for head in page.locator(".ab-head").all())
    assert one["width"] == two["width"]
    if width == 1280:
        assert one["y"] == two["y"]
    else:  # one above the other
        assert one["x"] == two["x"] and two["y"] > one["y"] + one["height"]
