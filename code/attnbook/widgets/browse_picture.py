"""The static picture of a layer × head browser, for pages and papers without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from .. import plots
from ..plots import look
from ..plots.panel import Panel, draw_panel
from ..plots.scale import Scale, draw_legend
from .alignment_picture import link_handles, outline_possible

if TYPE_CHECKING:
    from .browse import LayerHeadBrowser

MARK = "#2a5fac"  # the chosen head, as in the widget's style sheet
NUMBER = 0.17  # inches of a line with numbers under the maps


def _draw_grid(figure: Figure, cells, widget: LayerHeadBrowser, scale: Scale) -> None:
    """Every head small: layers in rows, heads in columns, the chosen one framed."""
    maps, allowed = widget.maps(), widget.allowed()
    layers, heads, q, k = maps.shape
    numbers = widget._scores.get(widget.kind)
    small = max(4.5, min(7.0, 46 / heads))
    for layer, head in np.ndindex(layers, heads):
        axes = figure.add_subplot(cells[layer, head])
        shown = np.where(allowed, scale.shown(maps[layer, head]), -1.0)
        axes.imshow(shown, cmap=scale.cmap, norm=scale.norm, interpolation="nearest")
        for i in range(q if not allowed.all() else 0):  # one bar a row: hatching would be mud here
            if not allowed[i].all():
                width = k - i - 1
                axes.barh(i, width, 1, i + 0.5, color=look.HATCH_GROUND, linewidth=0)
        axes.set_anchor("N")
        axes.set(xticks=[], yticks=[], xlim=(-0.5, k - 0.5), ylim=(q - 0.5, -0.5))
        chosen = (layer, head) == (widget.layer, widget.head)
        axes.spines[:].set(
            visible=True, color=MARK if chosen else look.GRID, linewidth=2 if chosen else 0.8
        )
        if layer == 0:
            axes.set_title(str(head), fontsize=7.5, color=look.MUTED, pad=2)
        if head == 0:
            axes.set_ylabel(f"layer {layer}", fontsize=7.5, color=look.MUTED, labelpad=2)
        if numbers:
            axes.set_xlabel(f"{numbers[layer][head]:.2f}", fontsize=small, labelpad=1)


def _row(widget: LayerHeadBrowser) -> float:
    """Height of a line of small maps in inches."""
    heads = widget.maps().shape[1]
    numbers = NUMBER if widget._scores.get(widget.kind) else 0
    return (0.46 * look.WIDTH - 0.4) / heads + numbers + 0.06


def _size(widget: LayerHeadBrowser) -> tuple[float, float]:
    """Width and height of the figure in inches."""
    queries, keys = widget.tokens()
    grid = len(widget.maps()) * _row(widget)
    top = 0.3 + 0.07 * max(map(len, keys))
    large = top + max(0.15 * len(queries), min(2.6, look.CELL * len(queries)))
    return look.WIDTH, min(max(grid, large, 1.6), 6.0) + 0.75 + (0.2 if widget.title else 0)


def browse_png(widget: LayerHeadBrowser) -> tuple[bytes, int, int]:
    """The grid of small maps beside the chosen one: PNG bytes, width and height in CSS pixels."""
    layers, heads, *_ = widget.maps().shape
    sure, possible = widget.gold("sure"), widget.gold("possible")
    queries, keys = widget.tokens()
    scale = Scale(widget.vmax)
    with mpl.rc_context(look.STYLE):
        width, height = _size(widget)
        figure = Figure(figsize=(width, height), layout="constrained")
        halves = figure.add_gridspec(1, 2, width_ratios=[1, 1.05])
        row = _row(widget)
        below = max(0.01, height - 1.0 - layers * row)  # the maps keep together, at the top
        ratios = [*[row] * layers, below]
        grid = halves[0].subgridspec(layers + 1, heads, wspace=0.06, hspace=0, height_ratios=ratios)
        _draw_grid(figure, grid, widget, scale)
        axes = figure.add_subplot(halves[1])
        title = f"{widget.kind}: layer {widget.layer}, head {widget.head}"
        panel = Panel(widget.weights(), widget.allowed(), sure, queries, keys, title)
        draw_panel(axes, panel, scale, annotate=len(keys) <= 7)
        outline_possible(axes, possible)
        draw_legend(figure, scale, [axes], gold=False, more=link_handles(sure, possible))
        heading = widget.title
        if widget._scores.get(widget.kind) and widget.score_label:
            heading += f"{'; ' if heading else ''}under each map: {widget.score_label}"
        if heading:
            figure.suptitle(heading, x=0.01, ha="left", fontsize=10)
        return plots.figure_png(figure, even=True)
