"""Static pictures of attention weights: masked is hatched, zero is blank, small is light."""

from .forms import figure
from .look import (
    GOLD,
    GRID,
    HATCH,
    INK,
    LESS,
    MORE,
    MUTED,
    RAMP,
    WIDTH,
    colormap,
    difference_colormap,
    figure_png,
    label,
    style,
)
from .maps import heatmap

__all__ = [
    "GOLD",
    "GRID",
    "HATCH",
    "INK",
    "LESS",
    "MORE",
    "MUTED",
    "RAMP",
    "WIDTH",
    "colormap",
    "difference_colormap",
    "figure",
    "figure_png",
    "heatmap",
    "label",
    "style",
]
