"""Position encodings side by side: a table of places, its columns as curves, likeness by offset."""

from __future__ import annotations

import math

import anywidget
import numpy as np
import traitlets as t

from . import arguments, bundle

KINDS = ("sinusoidal", "rotary", "alibi")
CONTROLS = ("kind", "size", "base", "place", "column", "offset")
MOST = {"places": 512, "d_model": 64, "num_heads": 16}


class PositionExplorer(anywidget.AnyWidget):
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

    # One stable name in saved state, wherever in the package the class lives.
    __module__ = "attnbook.widgets"

    _esm = bundle.sources("attnbook.widgets.PositionExplorer")["esm"]
    _css = bundle.sources("attnbook.widgets.PositionExplorer")["css"]

    kind = t.Unicode().tag(sync=True)
    kinds = t.List(t.Unicode()).tag(sync=True)
    places = t.Int().tag(sync=True)
    d_model = t.Int().tag(sync=True)
    num_heads = t.Int().tag(sync=True)
    base = t.Float().tag(sync=True)
    place = t.Int().tag(sync=True)
    column = t.Int().tag(sync=True)
    offset = t.Int().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)
    title = t.Unicode().tag(sync=True)
    alt = t.Unicode().tag(sync=True)

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
        names = [kinds] if isinstance(kinds, str) else list(kinds)
        if not names or len(set(names)) < len(names) or not set(names) <= set(KINDS):
            raise ValueError(f"kinds must be one or more of {', '.join(KINDS)}, got {names}")
        places = _count("places", places, 2)
        super().__init__(
            kinds=names,
            kind=_one_of(kind, names),
            places=places,
            d_model=_count("d_model", d_model),
            num_heads=_count("num_heads", num_heads),
            base=_base(base),
            place=arguments.as_position("place", place, places, "places"),
            column=arguments.as_position("column", column, MOST["d_model"], "columns at most"),
            offset=_offset(offset),
            controls=arguments.as_controls(controls, CONTROLS),
            title=title,
            alt=alt or f"Position encodings of {places} places, as a table and as curves.",
        )

    @t.validate("kind")
    def _check_kind(self, proposal):
        return _one_of(proposal["value"], self.kinds)

    @t.validate("d_model", "num_heads")
    def _check_count(self, proposal):
        return _count(proposal["trait"].name, proposal["value"])

    @t.validate("base")
    def _check_base(self, proposal):
        return _base(proposal["value"])

    def columns(self) -> int:
        """How many columns the table has now."""
        if self.kind == "alibi":
            return self.num_heads
        return 2 * max(1, self.d_model // 2) if self.kind == "rotary" else self.d_model

    def marked(self) -> tuple[int, int, int]:
        """The place, column and other place that are marked now, each within what there is."""
        other = min(max(self.place + self.offset, 0), self.places - 1)
        return self.place, min(self.column, self.columns() - 1), other

    def table(self) -> np.ndarray:
        """What the table shows now: (places, columns)."""
        i = np.arange(self.places)[:, None]
        if self.kind == "alibi":
            return np.exp(-_slopes(self.num_heads) * np.abs(i - self.place))
        columns = self.columns()
        angles = i * self.base ** (-np.arange(0, columns, 2) / columns)  # (n, ceil(columns / 2))
        waves = (np.sin(angles), np.cos(angles))
        waves = waves if self.kind == "sinusoidal" else waves[::-1]
        return np.stack(waves, axis=-1).reshape(self.places, -1)[:, :columns]

    def curve(self) -> np.ndarray:
        """The marked column over all places; for ALiBi the bias of each key: (places,)."""
        _, column, _ = self.marked()
        if self.kind == "alibi":
            distance = np.abs(np.arange(self.places) - self.place)
            return -_slopes(self.num_heads)[column] * distance
        return self.table()[:, column]

    def similarity(self) -> np.ndarray:
        """How alike each place is to the marked one, 1 at itself: (places,)."""
        if self.kind == "alibi":
            return np.exp(self.curve())
        table = self.table()
        here = table[self.place]
        return table @ here / ((here @ here) or 1.0)

    def __repr__(self) -> str:
        controls = f", controls: {', '.join(self.controls)}" if self.controls else ""
        return f"PositionExplorer({self.kind}, {self.places} places{controls})"


def _slopes(heads: int) -> np.ndarray:
    """Slope of each head, (heads,): as `attnbook.alibi_slopes`, which a widget may not import."""
    below = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / below) for i in range(below)]
    between = [2 ** (-4 * (i + 1) / below) for i in range(0, 2 * below, 2)]
    return np.array((slopes + between)[:heads])


def _count(name: str, value, least: int = 1) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if not least <= value <= MOST[name]:
        raise ValueError(f"{name} must be {least} to {MOST[name]}, got {value}")
    return int(value)


def _offset(value) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"offset must be an integer, got {value!r}")
    return int(value)


def _base(value) -> float:
    number = arguments.as_positive("base", value)
    if not 10 <= number <= 1e6:
        raise ValueError(f"base must be 10 to 1,000,000, got {value}")
    return number


def _one_of(kind, names: list[str]) -> str:
    if kind not in names:
        raise ValueError(f"kind must be one of kinds, {', '.join(names)}; got {kind!r}")
    return kind
