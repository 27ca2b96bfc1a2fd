"""A figure of several panels in two forms: for the width of the text, and for a phone."""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Callable

from matplotlib.figure import Figure

from .look import PHONE, WIDTH, figure_png


class Forms:
    """Two drawings of the same: a notebook shows the wide one, the site on a phone the narrow."""

    def __init__(self, wide: Figure, narrow: Figure):
        self.wide, self.narrow = wide, narrow

    def __repr__(self) -> str:
        return f"<figure in two forms, {len(self.wide.axes)} axes>"

    def _repr_png_(self) -> tuple[bytes, dict]:
        wide, narrow = (
            (png, {"width": width, "height": height})
            for png, width, height in map(figure_png, (self.wide, self.narrow))
        )
        return wide[0], wide[1] | {"narrow": narrow[1] | {"png": b64encode(narrow[0]).decode()}}


def figure(draw: Callable[[int, float], Figure], columns: int) -> Forms:
    """Draw a figure twice: panels side by side, and one below the other for a phone.

    It is shown as the last line of a cell. `draw` must give the same picture each time: what is
    random is drawn before.

    Args:
        draw: from the number of panels in a line, and the width in inches, to the figure. It is
            called with `columns` and the width of the text, and with 1 and that of a phone.
        columns: panels in a line of the wide form.

    Raises:
        ValueError: a figure is wider than it may be.
    """
    drawn = [draw(columns, WIDTH), draw(1, PHONE)]
    if "matplotlib.pyplot" in sys.modules:  # else it shows both once more at the cell's end
        for one in drawn:
            sys.modules["matplotlib.pyplot"].close(one)
    for one, most in zip(drawn, (WIDTH, PHONE), strict=True):
        if one.get_figwidth() > most:
            raise ValueError(f"draw must keep to {most} inches, got {one.get_figwidth()}")
    return Forms(*drawn)
