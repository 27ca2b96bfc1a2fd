"""The static picture of the positions explorer, for pages and papers without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .. import plots
from ..plots import look

if TYPE_CHECKING:
    from .positions import PositionExplorer

MARK = "#b4410e"  # what is marked, as in the widget's style sheet
HEIGHT = 3.4  # inches


def _draw_table(figure: Figure, axes, widget: PositionExplorer) -> None:
    table = widget.table()
    places, columns = table.shape
    place, column, _ = widget.marked()
    alibi = widget.kind == "alibi"
    cmap = plots.colormap() if alibi else plots.difference_colormap()
    image = axes.imshow(table, cmap=cmap, vmin=0 if alibi else -1, vmax=1, aspect="auto")
    for corner, size in (
        ((-0.5, place - 0.5), (columns, 1)),
        ((column - 0.5, -0.5), (1, places)),
    ):
        frame = Rectangle(corner, *size, fill=False, edgecolor=MARK, linewidth=1.2, clip_on=False)
        axes.add_patch(frame)
    if alibi:
        step = max(1, columns // 8)
        axes.set_xticks(range(0, columns, step), [str(h + 1) for h in range(0, columns, step)])
    axes.set(xlabel="head" if alibi else "feature", ylabel="key" if alibi else "place")
    figure.colorbar(image, ax=axes, shrink=0.7, aspect=20, pad=0.03)


def _draw_lines(curve, likeness, widget: PositionExplorer) -> None:
    place, column, other = widget.marked()
    everywhere = np.arange(widget.places)
    alibi = widget.kind == "alibi"
    titles = {
        "sinusoidal": (f"feature {column}, by place", "similarity of two places, by offset"),
        "rotary": (f"feature {column}, by place", "score of equal query and key, by offset"),
        "alibi": (f"bias of each key, head {column + 1}", "factor left to a key, by offset"),
    }[widget.kind]
    for axes, x, y, title in (
        (curve, everywhere, widget.curve(), titles[0]),
        (likeness, everywhere - place, widget.similarity(), titles[1]),
    ):
        axes.plot(x, y, color=plots.INK)
        for at, face in ((other, "white"), (place, MARK)):
            axes.plot(x[at], y[at], "o", markersize=5, markeredgecolor=MARK, markerfacecolor=face)
        axes.set_title(title, loc="left", fontsize=9)
    curve.set(ylim=None if alibi else (-1.1, 1.1))
    likeness.set(xlim=(1 - widget.places, widget.places - 1))


def positions_png(widget: PositionExplorer) -> tuple[bytes, int, int]:
    """The table beside its two curves: PNG bytes, width, height (CSS pixels)."""
    with mpl.rc_context(look.STYLE):
        figure = Figure(figsize=(plots.WIDTH, HEIGHT), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=[1.05, 1])
        _draw_table(figure, figure.add_subplot(grid[:, 0]), widget)
        curve, likeness = (figure.add_subplot(grid[n, 1]) for n in (0, 1))
        _draw_lines(curve, likeness, widget)
        if widget.title:
            figure.suptitle(widget.title, x=0.01, ha="left", fontsize=10)
        return plots.figure_png(figure)
