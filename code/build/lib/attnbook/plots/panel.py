"""One matrix of a figure: its cells, labels and marks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.patches import Rectangle

from .look import GOLD, GRID, HATCH, HATCH_GROUND, INK
from .scale import Scale


@dataclass(frozen=True)
class Panel:
    """What one panel shows; `gold` is None where nothing is marked."""

    values: np.ndarray
    mask: np.ndarray
    gold: np.ndarray | None
    query_labels: list[str]
    key_labels: list[str]
    title: str


def _hatch(axes, mask: np.ndarray, clear: np.ndarray) -> None:
    """Hatch each run of masked cells; `clear` cells get a grey ground, others keep their colour."""
    for i, row in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate([[True], row, [True]]).astype(int)))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            axes.add_patch(
                Rectangle(
                    (start - 0.5, i - 0.5),
                    end - start,
                    1,
                    facecolor=HATCH_GROUND if clear[i, start:end].all() else "none",
                    edgecolor=HATCH,
                    hatch="/////",
                    linewidth=0,
                    zorder=1.5,
                )
            )


def _outline(axes, gold: np.ndarray) -> None:
    """Outline the gold cells: a bright line on a dark one stands out on every colour."""
    for i, j in np.argwhere(gold):
        for width, colour in ((3.0, INK), (1.6, GOLD)):
            axes.add_patch(
                Rectangle(
                    (j - 0.42, i - 0.42),
                    0.84,
                    0.84,
                    facecolor="none",
                    edgecolor=colour,
                    linewidth=width,
                    zorder=3,
                )
            )


def _write_values(axes, values: np.ndarray, scale: Scale) -> None:
    for (i, j), value in np.ndenumerate(values):
        if value != 0:
            axes.text(
                j,
                i,
                scale.text(value),
                ha="center",
                va="center",
                fontsize=7.5,
                color="white" if abs(value) / scale.top > 0.45 else INK,
            )


def _ticks(axis, labels: list[str], room: float) -> None:
    """Write every n-th label, so that lines of text do not touch."""
    step = max(1, int(np.ceil(len(labels) * 0.14 / room)))
    axis.set_ticks(range(0, len(labels), step), labels[::step])


def _write_labels(axes, panel: Panel, queries: bool, keys: bool) -> None:
    """Write the labels, those of the queries or keys only where wanted."""
    box = axes.get_position()
    size = axes.figure.get_size_inches()
    _ticks(axes.xaxis, panel.key_labels if keys else [], box.width * size[0])
    _ticks(axes.yaxis, panel.query_labels if queries else [], box.height * size[1])
    if max(map(len, panel.key_labels), default=0) > 4 or panel.values.shape[1] > 20:
        axes.tick_params(axis="x", labelrotation=60)
        for text in axes.get_xticklabels():
            text.set(ha="left", rotation_mode="anchor", va="center")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set(xlabel="key" if keys else "", ylabel="query" if queries else "")


def draw_panel(
    axes, panel: Panel, scale: Scale, *, annotate: bool, queries: bool = True, keys: bool = True
) -> None:
    """Draw one panel; `queries` and `keys` say whether their labels stand beside it."""
    q, k = panel.values.shape
    axes.imshow(
        scale.shown(panel.values),
        cmap=scale.cmap,
        norm=scale.norm,
        aspect="auto",
        interpolation="nearest",
    )
    _hatch(axes, panel.mask, panel.values == 0)
    if max(q, k) <= 32:
        axes.set_xticks(np.arange(k + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(q + 1) - 0.5, minor=True)
        axes.grid(which="minor", color=GRID, linewidth=0.6)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set(visible=True, color=GRID)
    if annotate:
        _write_values(axes, panel.values, scale)
    if panel.gold is not None:
        _outline(axes, panel.gold)
    _write_labels(axes, panel, queries, keys)
    if panel.title:
        axes.set_title(panel.title, loc="left")
