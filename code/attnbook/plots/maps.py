"""The static heat map: one matrix of attention weights, several, or their differences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from .checks import as_panels
from .look import CELL, STYLE, WIDTH, show_in_notebook
from .panel import Panel, draw_panel
from .scale import Scale, draw_legend, round_up


def _grow(panels: list[Panel], columns: int, shared: bool, most: float) -> tuple[float, float]:
    """Figure size in inches: cells of one size, as large as fit the width that it may have."""
    lines = math.ceil(len(panels) / columns)
    first = panels[:columns]
    across = sum(panel.values.shape[1] for panel in first)
    down = max(panel.values.shape[0] for panel in panels)
    beside = [0.35 + 0.075 * max(map(len, panel.query_labels), default=0) for panel in first]
    gutter = beside[0] + 0.12 * (columns - 1) if shared else sum(beside)
    cell = min(CELL, (most - gutter - 0.9) / max(across, 1))
    top = max(0.3 + 0.07 * max(map(len, panel.key_labels), default=0) for panel in panels)
    width = min(most, max(3.4, gutter + cell * across + 1.0))
    return width, min(7.0, (cell * down + 0.3) * lines + top + 0.55)


def heatmap(
    weights,
    mask=None,
    *,
    compare=None,
    gold=None,
    query_labels=None,
    key_labels=None,
    ax=None,
    title: str | Sequence[str] = "",
    suptitle: str = "",
    vmax: float | None = None,
    annotate: bool | None = None,
    columns: int | None = None,
    width: float = WIDTH,
) -> Figure:
    """Draw attention weights: masked cells hatched, zero blank, small light.

    Args:
        weights: (q, k), at least 0, or several, as a list or as (h, q, k): on one scale.
        mask: boolean, True = may attend, (q, k) with axes of size 1 broadcast; a list of masks
            (or None) beside several weights.
        compare: second weights of the same form: drawn is their difference, second minus first,
            on a scale of its own with zero, blank, in the middle.
        gold: boolean marks, (q, k), to be outlined; a list of them (or None) beside several
            weights.
        query_labels, key_labels: q and k strings, or a list of such lists, one for each panel.
        ax: axes to draw one matrix on, without colour bar and legend; else a new figure.
        title: of the panel, or of each panel.
        suptitle: of the figure.
        vmax: weight or difference of the darkest colour; by default the least round number that
            holds all.
        annotate: write the weights into the cells; by default where they fit.
        columns: panels in a line, which then share their labels; by default all stand in one
            line, each with its own.
        width: inches that the figure may take, by default the width of the text.

    Returns:
        The figure.

    Raises:
        ValueError: weights are not (q, k), not finite or negative; mask, gold or labels do not
            fit.
    """
    panels, top = as_panels(weights, compare, mask, gold, query_labels, key_labels, title)
    if ax is not None and len(panels) > 1:
        raise ValueError(f"ax takes one matrix, got {len(panels)}")
    scale = Scale(round_up(top) if vmax is None else float(vmax), signed=compare is not None)
    shared = columns is not None
    columns = min(columns or len(panels), len(panels))
    if annotate is None:
        annotate = max(panel.values.shape[1] for panel in panels) * columns <= 12
    show_in_notebook()
    with mpl.rc_context(STYLE):
        if ax is not None:
            draw_panel(ax, panels[0], scale, annotate=annotate)
            return ax.figure
        figure = Figure(figsize=_grow(panels, columns, shared, width), layout="constrained")
        places = _places(figure, panels, columns)
        for n, (axes, panel) in enumerate(zip(places, panels, strict=True)):
            where = {"queries": n % columns == 0, "keys": n < columns} if shared else {}
            draw_panel(axes, panel, scale, annotate=annotate, **where)
        if suptitle:
            figure.suptitle(suptitle, x=0.01, ha="left", fontsize=STYLE["axes.titlesize"])
        draw_legend(figure, scale, places, any(panel.gold is not None for panel in panels))
    return figure


def _places(figure: Figure, panels: list[Panel], columns: int) -> list:
    """Axes for the panels, line by line."""
    lines = math.ceil(len(panels) / columns)
    ratios = [panel.values.shape[1] + 0.01 for panel in panels[:columns]]
    every = figure.subplots(lines, columns, width_ratios=ratios, squeeze=False).ravel()
    for axes in every[len(panels) :]:
        axes.remove()
    return list(every[: len(panels)])
