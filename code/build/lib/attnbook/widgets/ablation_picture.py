"""The static picture of an ablation: every head's map, and what is right without those out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from .. import plots
from ..plots import look

if TYPE_CHECKING:
    from .ablation import HeadAblation


def captions(widget: HeadAblation) -> list[str]:
    """A line for each relation: how many of its answers are right now, over all sequences."""
    right = widget.right()
    total = right[..., 0].size
    return [
        f"{name}: {int(right[..., r].sum())} of {total} right"
        for r, name in enumerate(widget.relations)
    ]


def ablation_png(widget: HeadAblation) -> tuple[bytes, int, int]:
    """The maps of the sequence shown in a row, and a line of results: PNG bytes, width, height.

    Width and height are CSS pixels.
    """

    def labels(lists):
        return lists[widget.batch] if len(lists) > 1 else lists[0]

    titles = [
        f"{label} (out)" if n in widget.ablated else label
        for n, label in enumerate(widget.head_labels)
    ]
    with mpl.rc_context(look.STYLE):
        figure = plots.heatmap(
            widget.weights(),
            query_labels=labels(widget.query_labels),
            key_labels=labels(widget.key_labels),
            title=titles,
            columns=min(4, len(titles)),
            annotate=False,
            vmax=widget.vmax,
        )
        lines = [*([widget.title] if widget.title else []), "; ".join(captions(widget))]
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=9)
        return plots.figure_png(figure)
