"""The static picture of kernel regression, for pages and papers without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .. import plots
from ..plots import look
from ..plots.scale import Scale, draw_legend

if TYPE_CHECKING:
    from .kernel import KernelRegression

MARK = "#b4410e"  # the query, as in the widget's style sheet
HEIGHT = 3.3  # inches
PROFILES = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "boxcar": lambda u: (np.abs(u) <= 1).astype(float),
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
    "triangular": lambda u: np.maximum(1 - np.abs(u), 0),
}


def labels(places: np.ndarray) -> list[str]:
    """Places on the x axis in words, with as many digits as their range needs."""
    span = float(places.max() - places.min()) or 1.0
    digits = int(np.clip(2 - np.floor(np.log10(span)), 0, 6))
    return [f"{place:.{digits}f}" for place in places]


def _draw_curves(axes, widget: KernelRegression) -> None:
    x, y, queries = np.array(widget._x), np.array(widget._y), widget.queries()
    weights, row = widget.weights(), widget.row()
    empty = weights.sum(axis=1) == 0
    here = weights[row]
    low = min([y.min(), *widget._truth])
    high = max([y.max(), *widget._truth])
    span = (high - low) or 1.0
    floor = low - 0.32 * span  # the kernel stands on it, below the points
    grid = np.linspace(min(x[0], queries[0]), max(x[-1], queries[-1]), 400)
    shape = PROFILES[widget.kernel]((grid - queries[row]) / widget.width)
    axes.fill_between(grid, floor, floor + 0.24 * span * shape, color=MARK, alpha=0.14, linewidth=0)
    axes.axvline(queries[row], color=MARK, linewidth=1)
    if widget._truth:
        axes.plot(widget._queries, widget._truth, "--", color=plots.MUTED, label="truth")
    axes.plot(queries, np.where(empty, np.nan, widget.fit()), color=plots.INK, label="fit")
    axes.scatter(
        x,
        y,
        s=8 + 60 * here / (here.max() or 1.0),
        c=np.where(here > 0, here, -1.0),
        cmap=plots.colormap(),
        norm=Normalize(0, widget.vmax),
        edgecolors=plots.MUTED,
        linewidths=0.5,
        zorder=3,
    )
    axes.set(ylim=(floor, high + 0.06 * span), xlabel="x", ylabel="y")
    axes.set_yticks([tick for tick in axes.get_yticks() if low - 0.04 * span <= tick <= high])
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=2, handlelength=1.8)


def _draw_weights(axes, widget: KernelRegression) -> None:
    weights = widget.weights()
    plots.heatmap(
        weights,
        widget.allowed(),
        query_labels=labels(widget.queries()),
        key_labels=labels(np.array(widget._x)),
        ax=axes,
        vmax=widget.vmax,
        annotate=False,
    )
    place = (-0.5, widget.row() - 0.5)
    axes.add_patch(
        Rectangle(
            place, weights.shape[1], 1, fill=False, edgecolor=MARK, linewidth=1.4, clip_on=False
        )
    )


def kernel_png(widget: KernelRegression) -> tuple[bytes, int, int]:
    """The curve with the marked query's kernel, beside the weights: PNG bytes, width, height.

    Width and height are CSS pixels.
    """
    with mpl.rc_context(look.STYLE):
        figure = Figure(figsize=(plots.WIDTH, HEIGHT), layout="constrained")
        curves, weights = figure.subplots(1, 2, width_ratios=[1.15, 1])
        _draw_curves(curves, widget)
        _draw_weights(weights, widget)
        draw_legend(figure, Scale(widget.vmax), [weights], gold=False)
        if widget.title:
            figure.suptitle(widget.title, x=0.01, ha="left", fontsize=10)
        return plots.figure_png(figure)
