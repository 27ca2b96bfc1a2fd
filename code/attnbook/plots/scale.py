"""The scale that the panels of a figure share: of weights, or of their differences."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from . import look


def round_up(weight: float) -> float:
    """The top of a scale: the least of 0.05, 0.1, 0.2, 0.5, 1 that holds `weight`."""
    return next((top for top in (0.05, 0.1, 0.2, 0.5, 1.0) if weight <= top + 1e-9), float(weight))


@dataclass(frozen=True)
class Scale:
    """Colours from zero to `top`, or, `signed`, from -`top` to `top`."""

    top: float
    signed: bool = False

    @property
    def norm(self) -> Normalize:
        """The numbers at the ends."""
        return Normalize(-self.top if self.signed else 0.0, self.top)

    @property
    def cmap(self) -> Colormap:
        """The colours between them."""
        return look.difference_colormap() if self.signed else look.colormap()

    def shown(self, values: np.ndarray) -> np.ndarray:
        """`values` with what stays blank taken out of the scale."""
        if self.signed:
            return np.where(values != 0, values, np.nan)
        return np.where(values > 0, values, -1.0)

    def text(self, value: float) -> str:
        """A value as it is written into its cell."""
        small = abs(value) < 0.005
        if not self.signed or small:
            return "<.01" if small else f"{value:.2f}"
        return f"{value:+.2f}".replace("0.", ".", 1).replace("-", "−")


def draw_legend(figure: Figure, scale: Scale, axes: list, gold: bool) -> None:
    """Add the colour bar and the key to what is not on it."""
    mappable = mpl.cm.ScalarMappable(scale.norm, scale.cmap)
    bar = figure.colorbar(mappable, ax=axes, shrink=0.9, aspect=24, pad=0.02)
    bar.set_label("difference of weights" if scale.signed else "weight")
    bar.outline.set(edgecolor=look.GRID)
    bar.ax.tick_params(length=0)
    hatched = {"facecolor": look.HATCH_GROUND, "edgecolor": look.HATCH, "hatch": "/////"}
    handles = [
        Patch(**hatched, linewidth=0, label="masked"),
        Patch(
            facecolor="white", edgecolor=look.GRID, label="no change" if scale.signed else "zero"
        ),
    ]
    if not scale.signed:
        handles.append(Patch(facecolor=look.RAMP[0], edgecolor=look.GRID, label="small"))
    if gold:
        handles.append(Patch(facecolor=look.GOLD, edgecolor=look.INK, linewidth=0.8, label="gold"))
    across = 3 if figure.get_figwidth() <= look.PHONE else 4
    figure.legend(handles=handles, loc="outside lower left", ncols=across, handlelength=1.6)
