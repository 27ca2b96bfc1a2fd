"""What all widgets share in Python: code and name, title, checks of traits, and packed arrays."""

from __future__ import annotations

import math
from collections.abc import Callable

import anywidget
import numpy as np
import traitlets as t

from .._checks import as_number, as_place, check_choice
from . import bundle


class Number(t.Float):
    """A finite number, above 0 if `positive`: whatever `float` takes."""

    def __init__(self, default: float = 0.0, *, positive: bool = False):
        super().__init__(default)
        self.positive = positive

    def validate(self, obj, value):
        return as_number(self.name, value, positive=self.positive)


def place_of(name: str, what: str, count: Callable):
    """A check of the trait `name`, a `t.Any`: None, or one of `count(widget)` things, `what`.

    It runs once all traits of a change are set, for `count` hangs on others; and it takes what
    counts as an int, of numpy too, which `t.Int` would not.
    """

    @t.validate(name)
    def check(self, proposal):
        value = proposal["value"]
        return value if value is None else as_place(name, value, count(self), what)

    return check


def one_of(name: str, known: Callable):
    """A check of the trait `name`: one of the words `known(widget)`."""

    @t.validate(name)
    def check(self, proposal):
        return check_choice(name, proposal["value"], known(self))

    return check


class Widget(anywidget.AnyWidget):
    """A class of the gallery; its folder holds its JavaScript, in a module of the same name."""

    title = t.Unicode().tag(sync=True)
    alt = t.Unicode().tag(sync=True)

    def __init_subclass__(cls, **kwargs):
        if Widget in cls.__bases__:  # traitlets makes subclasses of its own
            cls.__module__ = "attnbook.widgets"  # in saved state, wherever the class lives
            sources = bundle.sources(f"attnbook.widgets.{cls.__name__}")
            cls._esm, cls._css = sources["esm"], sources["css"]
        super().__init_subclass__(**kwargs)

    def _text(self, *parts: str) -> str:
        """The fixed text that stands for a widget: its class, and in brackets what it shows."""
        controls = getattr(self, "controls", None)
        shown = [*parts, *([f"controls: {', '.join(controls)}"] if controls else [])]
        return f"{type(self).__name__}({', '.join(shown)})"


def packed(array: np.ndarray | None) -> bytes:
    """An array as the bytes that the browser reads, float32 or 0 and 1; nothing for None."""
    if array is None:
        return b""
    return array.astype("u1" if array.dtype == bool else "<f4").tobytes()


def in_steps(weights: np.ndarray) -> np.ndarray:
    """Weights in 255 steps, as bytes; a small weight stays above zero."""
    steps = np.rint(255 * np.clip(weights.astype("f4"), 0, 1))
    return np.where(weights > 0, np.maximum(steps, 1), 0).astype("u1")


def marks_of(links, shape: tuple[int, int]) -> np.ndarray:
    """Links (query, key) as boolean marks of this shape."""
    marks = np.zeros(shape, dtype=bool)
    for i, j in links:
        marks[i, j] = True
    return marks


def hits(weights: np.ndarray, marks: np.ndarray) -> tuple[int, int]:
    """Of the rows with marks, how many have their largest weight, the first, on one; how many."""
    if not marks.any():
        return 0, 0
    best = weights.argmax(axis=1)
    hit = marks[np.arange(len(weights)), best] & (weights.max(axis=1) > 0)
    return int(hit.sum()), int(marks.any(axis=1).sum())


def round_up(weight: float) -> float:
    """The top of a scale: the least of 1, 0.5, 0.2, 0.1, 0.05, ... that holds it, at most 1."""
    power = 10.0 ** math.floor(math.log10(weight))
    tops = (round(step * power, 12) for step in (1, 2, 5, 10))
    return min(1.0, next(top for top in tops if top >= weight * (1 - 1e-9)))
