"""Position encodings side by side: a table of places, its columns as curves, likeness by offset."""

from __future__ import annotations

import math

import numpy as np
import traitlets as t

from ..._checks import as_some
from ...positions import _angles, alibi_slopes
from ..base import Widget
from ..settings import Choice, Controls, Count, Number, Place

KINDS = {"sinusoidal": "Sinusoidal", "rotary": "Rotary", "alibi": "ALiBi"}
MATRICES = {"none": "No matrices", "random": "Random matrices"}


def _drawn(count: int) -> np.ndarray:
    """Numbers from -1 to 1 that look random, the same ones in the page: (count,)."""
    numbers, state = [], 1
    for _ in range(count):
        state = (1_664_525 * state + 1_013_904_223) % 2**32
        numbers.append(state / 2**31 - 1)
    return np.array(numbers)


class PositionExplorer(Widget):
    """Three encodings of places, alive in a notebook and in the static page.

    A table has a row for each place. Sinusoidal: the features that are added to a token. Rotary:
    the pairs (1, 0) of features after their turn. ALiBi: a column for each head, with the factor
    that the bias leaves to the key in that row, seen from the marked place. Beside it stand the
    marked column as a curve (for ALiBi the bias itself), and how alike each place is to the
    marked one: the scalar product of sinusoids, the score of an equal query and key under
    rotary, the factor under ALiBi, each 1 at offset 0. With random matrices stands there the
    score of the query at the marked place and the key at each: for sinusoids a random matrix
    between the two places, for rotary a random query and a random key, the same at every place.
    The largest score of any two places is 1 then, or -1.

    Args:
        kinds: the encodings to choose from, of "sinusoidal", "rotary", "alibi".

    Source: Vaswani et al. 2017, section 3.5; Su et al. 2021; Press et al. 2022.
    """

    kinds = t.List(t.Unicode()).tag(sync=True)
    places = Count(2, 512, 64, "rows", fixed=True)
    kind = Choice(
        KINDS,
        "sinusoidal",
        "the encoding, one of `kinds`.",
        label="Positions",
        of="kinds",
        beside=True,
    )
    matrices = Choice(
        MATRICES,
        "none",
        "what makes queries and keys",
        label="Matrices",
        beside=True,
        when=("kind", "sinusoidal", "rotary"),
    )
    d_model = Count(1, 64, 32, "features, of which rotary takes whole pairs", label="")
    num_heads = Count(1, 16, 8, "heads of ALiBi", label="")
    base = Number(
        10_000.0,
        "the slowest wave's angle is about 1 / base radians a place; 10 to 10**6.",
        least=10,
        most=10**6,
        steps=100,
        room=7,
    )
    place = Place("places", "places", 20, "the row that is marked.", room=4)
    column = Place(64, "columns at most", 8, "the feature or head that is marked.", label="")
    offset = Count(
        -math.inf,
        math.inf,
        5,
        "how far another place stands from the marked one. What is past an end stops there.",
        label="",
    )
    controls = Controls("kind", "matrices", "size", "base", "place", "column", "offset")

    def __init__(self, *, kinds=tuple(KINDS), **settings):
        super().__init__(
            settings,
            f"Position encodings of {settings.get('places', 64)} places, as a table and as curves.",
            kinds=as_some("kinds", kinds, KINDS, least=1),
        )

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

    def _scores(self) -> np.ndarray:
        """Scores of each query and key with random matrices: (places, places)."""
        columns = self.columns()
        if self.kind == "sinusoidal":
            table = self.table()
            return table @ _drawn(columns**2).reshape(columns, columns) @ table.T
        q, k = (
            _drawn(2 * columns).reshape(2, -1, 2).transpose(0, 2, 1)
        )  # (left, right) of each pair
        places = np.arange(1 - self.places, self.places)
        angles = places[:, None] * self.base ** (-2 * np.arange(columns // 2) / columns)
        straight, across = q[0] * k[0] + q[1] * k[1], q[0] * k[1] - q[1] * k[0]
        by_offset = np.cos(angles) @ straight + np.sin(angles) @ across
        i = np.arange(self.places)
        return by_offset[i[:, None] - i + self.places - 1]

    def similarity(self) -> np.ndarray:
        """What the lower curve shows of each place and the marked one: (places,)."""
        if self.kind == "alibi":
            return np.exp(self.curve())
        if self.matrices == "random":
            scores = self._scores()
            return scores[self.place] / (np.abs(scores).max() or 1.0)
        table = self.table()
        here = table[self.place]
        return table @ here / ((here @ here) or 1.0)

    def __repr__(self) -> str:
        return self._text(self.kind, f"{self.places} places")
