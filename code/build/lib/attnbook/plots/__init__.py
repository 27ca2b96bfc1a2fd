"""Static pictures of attention weights: masked is hatched, zero is blank, small is light."""

from .look import (
    CELL,
    DPI,
    GOLD,
    GRID,
    HATCH,
    HATCH_GROUND,
    INK,
    LESS,
    MORE,
    MUTED,
    RAMP,
    WIDTH,
    colormap,
    difference_colormap,
    figure_png,
    style,
)
from .maps import heatmap, heatmap_png
from .scale import round_up

__all__ = [
    "CELL",
    "DPI",
    "GOLD",
    "GRID",
    "HATCH",
    "HATCH_GROUND",
    "INK",
    "LESS",
    "MORE",
    "MUTED",
    "RAMP",
    "WIDTH",
    "colormap",
    "difference_colormap",
    "figure_png",
    "heatmap",
    "heatmap_png",
    "round_up",
    "style",
]
