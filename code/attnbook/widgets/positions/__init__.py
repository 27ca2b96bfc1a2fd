"""Position encodings side by side: a table of places, its columns as curves, likeness by offset."""

from __future__ import annotations

import math

import numpy as np
import traitlets as t

from ..._checks import as_number, as_some, check_count
from ...positions import _angles, alibi_slopes
from ..base import Widget, one_of, place_of

KINDS = ("sinusoidal", "rotary", "alibi")
CONTROLS = ("kind", "size", "base", "place", "column", "offset")
LIMITS = {
    "places": (2, 512),
    "d_model": (1, 64),
    "num_heads": (1, 16),
    "offset": (-math.inf, math.inf),
}


class PositionExplorer(Widget):
    """Three encodings of places, alive in a notebook and in the static page.

    A table has a row for each place. Sinusoidal: the features that are added to a token. Rotary:
    the pairs (1, 0) of features after their turn. ALiBi: a column for each head, with the factor
    that the bias leaves to the key in that row, seen from the marked place. Beside it stand the
    marked column as a curve (for ALiBi the bias itself), and how alike each place is to the
    marked one: the scalar product of sinusoids, the score of an equal query and key under
    rotary, the factor under ALiBi, each 1 at offset 0.

    Args:
        kind: the encoding at the start, one of `kinds`.
        places: rows, 2 to 512.
        d_model: features, 1 to 64; rotary takes whole pairs.
        num_heads: heads of ALiBi, 1 to 16.
        base: the slowest wave's angle is about 1 / base radians a place; 10 to 10**6.
        place, column, offset: what is marked at the start: a row, a feature or head from 0, and
            how far another place stands from the marked one. What is past an end stops there.
        kinds: the encodings to choose from, of "sinusoidal", "rotary", "alibi".
        controls: what the reader may change: any of "kind", "size", "base", "place", "column",
            "offset".
        title: one line above the figure.
        alt: one sentence for readers who do not see it.

    Raises:
        ValueError: an argument does not fit; the message names it, what came and what is needed.

    Source: Vaswani et al. 2017, section 3.5; Su et al. 2021; Press et al. 2022.
    """

    kind = t.Unicode().tag(sync=True)
    kinds = t.List(t.Unicode()).tag(sync=True)
    places = t.Any().tag(sync=True)
    d_model = t.Any().tag(sync=True)
    num_heads = t.Any().tag(sync=True)
    base = t.Any().tag(sync=True)
    place = t.Any().tag(sync=True)
    column = t.Any().tag(sync=True)
    offset = t.Any().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)

    _check_kind = one_of("kind", lambda self: self.kinds)
    _check_place = place_of("place", "places", lambda self: self.places)
    _check_column = place_of("column", "columns at most", lambda self: LIMITS["d_model"][1])

    def __init__(
        self,
        *,
        kind="sinusoidal",
        places=64,
        d_model=32,
        num_heads=8,
        base=10_000.0,
        place=20,
        column=8,
        offset=5,
        kinds=KINDS,
        controls=CONTROLS,
        title="",
        alt="",
    ):
        super().__init__(
            kinds=as_some("kinds", kinds, KINDS, least=1),
            kind=kind,
            places=check_count("places", places, *LIMITS["places"]),
            d_model=d_model,
            num_heads=num_heads,
            base=base,
            place=place,
            column=column,
            offset=offset,
            controls=as_some("controls", controls, CONTROLS),
            title=title,
            alt=alt or f"Position encodings of {places} places, as a table and as curves.",
        )

    @t.validate("places", "d_model", "num_heads", "offset")
    def _check_count(self, proposal):
        name = proposal["trait"].name
        return check_count(name, proposal["value"], *LIMITS[name])

    @t.validate("base")
    def _check_base(self, proposal):
        number = as_number("base", proposal["value"], positive=True)
        if not 10 <= number <= 1e6:
            raise ValueError(f"base must be 10 to 1,000,000, got {number}")
        return number

    def columns(self) -> int:
        """How many columns the table has now."""
        if self.kind == "alibi":
            return self.num_heads
        return 2 * max(1, self.d_model // 2) if self.kind == "rotary" else self.d_model

    def marked(self) -> tuple[int, int, int]:
        """The place, column and other place that are marked now, each within what there is."""
        other = min(max(self.place + self.offset, 0), self.places - 1)
        return self.place, min(self.column, self.columns() - 1), other

    def _biases(self) -> np.ndarray:
        """ALiBi's bias of each key, by head: (places, num_heads)."""
        distance = np.abs(np.arange(self.places) - self.place)
        return -alibi_slopes(self.num_heads).double().numpy() * distance[:, None]

    def table(self) -> np.ndarray:
        """What the table shows now: (places, columns)."""
        if self.kind == "alibi":
            return np.exp(self._biases())
        columns = self.columns()
        angles = _angles(self.places, columns, 0, self.base, None).numpy()
        waves = (np.sin(angles), np.cos(angles))  # (places, ceil(columns / 2)) each
        waves = waves if self.kind == "sinusoidal" else waves[::-1]
        return np.stack(waves, axis=-1).reshape(self.places, -1)[:, :columns]

    def curve(self) -> np.ndarray:
        """The marked column over all places; for ALiBi the bias of each key: (places,)."""
        shown = self._biases() if self.kind == "alibi" else self.table()
        return shown[:, self.marked()[1]]

    def similarity(self) -> np.ndarray:
        """How alike each place is to the marked one, 1 at itself: (places,)."""
        if self.kind == "alibi":
            return np.exp(self.curve())
        table = self.table()
        here = table[self.place]
        return table @ here / ((here @ here) or 1.0)

    def __repr__(self) -> str:
        return self._text(self.kind, f"{self.places} places")
