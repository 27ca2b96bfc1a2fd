"""A figure's panels are found in its picture: on a phone they stand one below the other."""

from pathlib import Path

import attn_panels
import matplotlib.pyplot as plt
import pytest
import torch

import attnbook as ab
from attnbook.plots import look

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context(look.STYLE):
        yield
    plt.close("all")


def cut(figure):
    """The scale, the rows of windows, and where the panels are, in CSS pixels."""
    png, width, height = look.figure_png(figure)
    scale, rows = attn_panels.stacked(png, width)
    boxes = [axes.get_position().bounds for axes in figure.axes]
    return scale, rows, [(x * width, (x + w) * width) for x, _, w, _ in boxes], height


def plots(columns, **options):
    figure, axes = plt.subplots(1, columns, figsize=(6.4, 2.4), squeeze=False, **options)
    for axis in axes[0]:
        axis.plot([0, 1, 2], [0, 1, 4], label="a line")
        axis.set(title="a title", xlabel="x")
    return figure


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_each_panel_has_a_row_that_shows_all_of_it(columns):
    scale, rows, boxes, height = cut(plots(columns))
    assert len(rows) == columns and attn_panels.LEAST <= scale <= attn_panels.LARGEST
    for row, (left, right) in zip(rows, boxes, strict=True):
        assert row[-1].x <= left and right <= row[-1].x + row[-1].width
        assert row[-1].height == pytest.approx(height, abs=1)
        assert scale * sum(window.width for window in row) <= attn_panels.PHONE + 1
        others = [box for box in boxes if box != (left, right)]
        assert not any(row[-1].x < (a + b) / 2 < row[-1].x + row[-1].width for a, b in others)


def test_shared_labels_are_repeated_and_own_ones_are_not():
    _, shared, boxes, _ = cut(plots(3, sharey=True))
    assert [len(row) for row in shared] == [1, 2, 2]
    assert shared[1][0] == shared[2][0] and shared[1][0].width < boxes[0][0]
    assert [len(row) for row in cut(plots(3))[1]] == [1, 1, 1]


def test_a_legend_below_stands_below_and_is_whole():
    figure = plots(3)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower left")
    *panels, (last,) = cut(figure)[1]
    assert len(panels) == 3
    assert last.y == pytest.approx(panels[0][0].height, abs=1) and last.height < 40


def test_the_scale_of_the_last_map_stays_with_it():
    weights = torch.eye(5)
    _, rows, boxes, _ = cut(ab.plots.heatmap([weights, weights, weights], title=["a", "b", "c"]))
    bar = boxes[-1]
    assert rows[2][-1].x < boxes[2][0] and bar[1] <= rows[2][-1].x + rows[2][-1].width


def test_what_has_one_panel_or_would_get_too_small_is_left_whole():
    assert cut(plots(1))[1] == []
    wide, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.4), width_ratios=(3, 1))
    left.plot([0, 1])
    right.plot([0, 1])
    assert cut(wide)[1] == []
    text = plt.figure(figsize=(6.4, 1))
    text.text(0.1, 0.5, "words and words")
    text.text(0.6, 0.5, "words and words")
    assert cut(text)[1] == []
