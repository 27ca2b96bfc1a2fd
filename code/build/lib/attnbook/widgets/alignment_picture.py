"""The static picture of an alignment viewer, for pages and papers without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from .. import plots
from ..plots import look
from ..plots.panel import Panel, draw_panel
from ..plots.scale import Scale, draw_legend

if TYPE_CHECKING:
    from .alignment import AlignmentViewer

MARK = "#b4410e"  # the step, as in the widget's style sheet
TALLEST = 3.9  # inches of rows, while a row still holds its label
DASH = (0, (2.0, 1.6))


def outline_possible(axes, marks: np.ndarray) -> None:
    """Dark dashes on a bright line stand out on every colour."""
    for i, j in np.argwhere(marks):
        place = (j - 0.42, i - 0.42)
        for line, colour in (("-", plots.GOLD), (DASH, plots.INK)):
            axes.add_patch(
                Rectangle(
                    place,
                    0.84,
                    0.84,
                    fill=False,
                    edgecolor=colour,
                    linewidth=1.4,
                    linestyle=line,
                    zorder=3,
                )
            )


def _fade(axes, step: int, q: int, k: int) -> None:
    """Frame the step's row, and draw a veil over the rows to come."""
    if step + 1 < q:
        axes.add_patch(
            Rectangle((-0.5, step + 0.5), k, q - step - 1, color="white", alpha=0.8, zorder=4)
        )
    for text in axes.get_yticklabels()[step + 1 :]:
        text.set_alpha(0.3)
    axes.add_patch(
        Rectangle(
            (-0.5, step - 0.5),
            k,
            1,
            fill=False,
            edgecolor=MARK,
            linewidth=1.4,
            zorder=5,
            clip_on=False,
        )
    )


def _size(shown: dict, count: int) -> tuple[float, float]:
    """Width and height of the figure in inches."""
    q, k = len(shown["target"]), len(shown["source"])
    left = 0.35 + 0.075 * max(map(len, shown["target"]))
    cell = min(look.CELL, (look.WIDTH - left - 0.9 - 0.15 * count) / (count * k))
    top = 0.55 + 0.07 * max(map(len, shown["source"]))
    rows = min(cell * q, max(TALLEST, 0.14 * q))
    return min(look.WIDTH, max(4.2, left + count * cell * k + 1.1)), top + rows + 0.6


def alignment_png(widget: AlignmentViewer) -> tuple[bytes, int, int]:
    """The map of each model shown, on one scale: PNG bytes, width and height in CSS pixels."""
    shown = widget._examples[widget.example]
    models = widget.model_labels if widget.side_by_side else [widget.model]
    q, k = len(shown["target"]), len(shown["source"])
    sure, possible = widget.gold("sure"), widget.gold("possible")
    scale = Scale(widget.vmax)
    with mpl.rc_context(look.STYLE):
        figure = Figure(figsize=_size(shown, len(models)), layout="constrained")
        places = list(figure.subplots(1, len(models), squeeze=False)[0])
        for axes, model in zip(places, models, strict=True):
            panel = Panel(
                widget.weights(model),
                widget.allowed(),
                sure,
                shown["target"],
                shown["source"],
                model if len(widget.model_labels) > 1 else "",
            )
            first = axes is places[0]
            draw_panel(axes, panel, scale, annotate=k * len(models) <= 12, queries=first)
            axes.set(xlabel="source", ylabel="target" if first else "")
            outline_possible(axes, possible & ~sure)
            _fade(axes, widget.step, q, k)
        draw_legend(figure, scale, places, gold=False, more=link_handles(sure, possible))
        if widget.title:
            figure.suptitle(widget.title, x=0.01, ha="left", fontsize=10)
        return plots.figure_png(figure, even=True)  # the scale, beside what is faded


def link_handles(sure: np.ndarray, possible: np.ndarray) -> list[Patch]:
    """What the outlines mean, of those that are there."""
    handles = []
    if sure.any():
        handles.append(Patch(facecolor=plots.GOLD, edgecolor=plots.INK, label="sure link"))
    if (possible & ~sure).any():
        handles.append(
            Patch(facecolor="white", edgecolor=plots.INK, linestyle=DASH, label="possible link")
        )
    return handles
