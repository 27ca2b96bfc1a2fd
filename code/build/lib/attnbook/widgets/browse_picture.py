"""The static picture of a layer × head browser, for pages and papers without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .. import plots
from ..plots import look
from ..plots.panel import Panel, draw_panel
from ..plots.scale import Scale, draw_legend
from .alignment_picture import link_handles, outline_possible

if TYPE_CHECKING:
    from .browse import LayerHeadBrowser

MARK = "#2a5fac"  # the chosen head, as in the widget's style sheet
NUMBER = 0.15  # inches of a line with numbers under the maps
SIDE = 0.88  # of a small map, where 1 is its room


def _draw_grid(axes, widget: LayerHeadBrowser, scale: Scale, room: float) -> None:
    """Every head small: layers in rows, heads in columns, the chosen one framed.

    One step to the right or down is one map, in axes that have `room` inches for each.
    """
    maps, allowed = widget.maps(), widget.allowed()
    layers, heads, q, k = maps.shape
    numbers = widget._scores.get(widget.kind)
    step = 1 + (NUMBER / room if numbers else 0)
    size = max(4.0, min(7.5, 16 * room))
    text = {"fontsize": size, "ha": "center"}
    muted = {"fontsize": 7.5, "color": look.MUTED}
    wide, high = SIDE * k / max(q, k), SIDE * q / max(q, k)
    for layer, head in np.ndindex(layers, heads):
        shown = scale.cmap(scale.norm(scale.shown(maps[layer, head])))  # (q, k, 4)
        shown[~allowed] = mpl.colors.to_rgba(look.HATCH_GROUND)  # hatching would be mud here
        left, top = head + (1 - wide) / 2, layer * step
        extent = (left, left + wide, top + high, top)
        axes.imshow(shown, extent=extent, interpolation="nearest", aspect="auto")
        chosen = (layer, head) == (widget.layer, widget.head)
        colour, width = (MARK, 2) if chosen else (look.GRID, 0.8)
        frame = {"fill": False, "edgecolor": colour, "linewidth": width, "zorder": 2 + chosen}
        axes.add_patch(Rectangle((left, top), wide, high, clip_on=False, **frame))
        if numbers:
            number = f"{numbers[layer][head]:.2f}"
            axes.text(head + 0.5, top + 0.94, number, va="top", **text)
    for head in range(heads):
        axes.text(head + 0.5, -0.06, str(head), ha="center", va="bottom", **muted)
    for layer in range(layers):
        axes.text(-0.04, layer * step + 0.5, f"layer {layer}", ha="right", va="center", **muted)
    axes.text(-0.04, -0.06, "head", ha="right", va="bottom", **muted)
    axes.set(xlim=(0, heads), ylim=(layers * step, 0))
    axes.set_aspect("equal", anchor="NE")
    axes.axis("off")


def _room(widget: LayerHeadBrowser) -> float:
    """Inches for one small map."""
    heads = widget.maps().shape[1]
    return min(0.7, (0.47 * look.WIDTH - 0.6) / heads)


def _size(widget: LayerHeadBrowser) -> tuple[float, float]:
    """Width and height of the figure in inches."""
    queries, keys = widget.tokens()
    numbers = NUMBER if widget._scores.get(widget.kind) else 0
    grid = 0.2 + len(widget.maps()) * (_room(widget) + numbers)
    top = 0.3 + 0.07 * max(map(len, keys))
    large = top + max(0.15 * len(queries), min(2.6, look.CELL * len(queries)))
    return look.WIDTH, min(max(grid, large, 1.6), 6.5) + 0.75 + (0.2 if widget.title else 0)


def browse_png(widget: LayerHeadBrowser) -> tuple[bytes, int, int]:
    """The grid of small maps beside the chosen one: PNG bytes, width and height in CSS pixels."""
    sure, possible = widget.gold("sure"), widget.gold("possible")
    queries, keys = widget.tokens()
    scale = Scale(widget.vmax)
    with mpl.rc_context(look.STYLE):
        figure = Figure(figsize=_size(widget), layout="constrained")
        halves = figure.add_gridspec(1, 2, width_ratios=[1, 1.05])
        _draw_grid(figure.add_subplot(halves[0]), widget, scale, _room(widget))
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
