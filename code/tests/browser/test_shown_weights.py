"""What is shown is what was given: masked is hatched, zero is blank, small is light."""

import numpy as np
import pytest
from page_parts import cells, colours, rgb, soon, use

from attnbook import plots
from attnbook.widgets import (
    AlignmentViewer,
    AttentionHeatmap,
    HaystackExplorer,
    HeadAblation,
    LayerHeadBrowser,
    LocalWindow,
    NextTokenSampler,
)

TINY = 1e-5
MASK = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]], dtype=bool)
GIVEN = np.array([[0.7, 0.3 - TINY, TINY, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
WORDS = {"source": list("abcde"), "target": list("xyz")}
with np.errstate(divide="ignore"):
    LOGS = np.log(GIVEN)  # minus infinity, unmasked: a weight of zero
NO_LOGITS = {"added": np.zeros((1, 1, 3, 1, 2)), "answers": np.zeros((1, 3, 1), int)}

MAPS = {
    "heat map": lambda: AttentionHeatmap(LOGS, mask=MASK),
    "alignment viewer": lambda: AlignmentViewer(
        [{**WORDS, "weights": {"m": GIVEN}, "mask": {"m": MASK}}]
    ),
    "layer × head browser": lambda: LayerHeadBrowser(
        [{**WORDS, "cross": GIVEN[None, None], "mask": {"cross": MASK}}]
    ),
    "head ablation": lambda: HeadAblation(GIVEN[None, None], mask=MASK, **NO_LOGITS),
}
each = pytest.mark.parametrize("name", MAPS)


@each
def test_weights_are_those_that_were_given(name):
    widget = MAPS[name]()
    got = widget.weights().reshape(GIVEN.shape)
    np.testing.assert_allclose(got, GIVEN, rtol=0, atol=1 / 255)  # the coarsest hold 255 steps
    assert ((got > 0) == (GIVEN > 0)).all(), "zero is zero, and what is small is not"
    if hasattr(widget, "allowed"):
        assert (widget.allowed() == MASK).all()


def seen(page, i, j) -> set:
    """The colours of a strip of cell (i, j), above its number."""
    canvas = "canvas[tabindex], .ab-map canvas"
    wide, high = page.locator(canvas).first.evaluate("(c) => [c.clientWidth, c.clientHeight]")
    cell = (wide - 54) / MASK.shape[1], (high - 41) / MASK.shape[0]  # short labels stand flat
    box = {"x": 52 + j * cell[0] + 4, "y": 39 + i * cell[1] + 3, "w": cell[0] - 8, "h": 5}
    return colours(page, box, canvas)


@each
def test_masked_is_hatched_zero_is_blank_small_is_light(show, name):
    page = show(MAPS[name]()).page
    for (i, j), weight in np.ndenumerate(GIVEN):
        found = seen(page, i, j)
        if not MASK[i, j]:
            assert len(found) > 4, f"({i}, {j}) is hatched"
        elif weight == 0:
            assert found == {(0, 0, 0, 0)}, f"({i}, {j}) is blank"
        else:
            assert len(found) == 1, f"({i}, {j}) has one colour"
    (small,), light = seen(page, 0, 2), rgb(plots.RAMP[0])
    assert np.abs(np.subtract(small, light)).max() <= 1, "small is the lightest of the ramp"
    assert "masked" in page.locator(".ah-legend").inner_text()


@pytest.mark.parametrize("name", [name for name in MAPS if name != "head ablation"])
def test_it_is_said_in_words_too(show, name):
    page = show(MAPS[name]()).page

    def words():
        if name == "alignment viewer":
            text = [row[1] for row in cells(page, ".ah-hidden table")]
            assert text == ["a 0.700, b 0.300, c < 0.001", "nothing", "nothing"]
        else:
            rows = [row[1:] for row in cells(page)]
            assert [[text == "masked" for text in row] for row in rows] == (~MASK).tolist()
            assert [[text == "0" for text in row] for row in rows] == (MASK & (GIVEN == 0)).tolist()

    soon(page, words)


def test_a_row_without_keys_says_why_it_is_zero(show):
    page = show(AttentionHeatmap(LOGS, mask=MASK, query=2)).page
    line = page.locator(".ah-readout").inner_text()
    assert line.endswith("pinned: every key is masked, so all weights are zero")


def test_the_lines_hatch_the_words_that_a_step_may_not_see(show):
    page = show(AlignmentViewer([{**WORDS, "weights": {"m": GIVEN}, "mask": {"m": MASK}}])).page
    use(page, "radio", "Lines")
    for step in (2, 1, 0):
        hatched = (
            page.locator(".al-row")
            .first.locator(".al-chip")
            .evaluate_all("(all) => all.map((chip) => chip.classList.contains('ah-masked'))")
        )
        assert hatched == (~MASK[step]).tolist()
        use(page, "button", "Previous step")


def test_a_models_mask_is_its_own(show):
    other = np.array([[1, 1, 1, 1, 1]] * 3, dtype=bool)
    weights = {"one": GIVEN, "two": np.full((3, 5), 0.2)}
    widget = AlignmentViewer([{**WORDS, "weights": weights, "mask": {"one": MASK}}])
    assert (widget.allowed("one") == MASK).all() and (widget.allowed("two") == other).all()
    page = show(widget).page
    assert len(seen(page, 0, 4)) > 4
    use(page, "radio", "two")
    assert len(seen(page, 0, 4)) == 1


def test_a_window_takes_weights_of_zero(show):
    row = [0.0, 0.998, 3e-6, 0.0, 4e-6, 0.002 - 7e-6]
    with np.errstate(divide="ignore"):
        widget = LocalWindow(np.log(row), list("abcdef"), centre=3, radius=1, bell="none")
    np.testing.assert_allclose(widget.weights(local=False), row, rtol=1e-12, atol=0)
    np.testing.assert_allclose(widget.weights(), [0, 0, 3 / 7, 0, 4 / 7, 0], rtol=1e-9)
    page = show(widget).page
    high = page.locator("canvas").evaluate("(c) => (c.clientHeight - 4) / 6")
    lines = [{"y": 6 + high * j, "w": 30, "h": high - 8} for j in range(6)]
    for j, line in enumerate(lines):
        if j in (0, 1, 5):
            assert len(colours(page, line | {"x": 28}, "canvas")) > 4, "outside is hatched"
        bar = colours(page, line | {"x": 82}, "canvas")
        assert (bar == {(0, 0, 0, 0)}) == (j in (0, 3, 5)), "zero is blank"

    def shown():
        assert [row[1:] for row in cells(page)] == [
            *(["0", "outside"], ["0.998", "outside"], ["< 0.001", "0.429"]),
            *(["0", "0"], ["< 0.001", "0.571"], ["0.002", "outside"]),
        ]

    soon(page, shown)
    for scores in ([], [-np.inf] * 2, [np.inf, 0.0]):
        with pytest.raises(ValueError, match="scores must be finite or minus infinity"):
            LocalWindow(scores)


def test_a_sampler_shows_the_shares_that_were_given(show):
    shares = [0.7, 0.3 - TINY, TINY, 0.0]
    with np.errstate(divide="ignore"):
        widget = NextTokenSampler(np.log(shares), list("abcd"))
    np.testing.assert_allclose(widget.probabilities(), shares, rtol=1e-3)
    page = show(widget).page

    def shown():
        assert [row[3] for row in cells(page)] == ["0.700", "0.300", "< 0.001", "0"]

    soon(page, shown)


def test_a_key_without_weight_is_no_dot(show):
    """Its score is so low that its weight is zero in double precision."""
    keys = [[0.0], [0.0], [0.0], [-2000.0]]
    widget = HaystackExplorer(keys, [[1.0]], block=1, budget=4)
    assert widget.weights()[0, 3] == 0
    page = show(widget).page
    box = {"y": page.locator("canvas").evaluate("(c) => c.clientHeight") - 20, "w": 5, "h": 6}
    dots = [colours(page, box | {"x": 30 + 28 * j + 12}, "canvas") for j in range(4)]
    assert dots[3] == {(0, 0, 0, 0)} and all((0, 0, 0, 0) not in dot for dot in dots[:3])
