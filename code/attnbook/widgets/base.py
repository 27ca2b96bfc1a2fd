"""What all widgets share in Python: code and name, settings, title, and packed arrays."""

from __future__ import annotations

import math
from types import SimpleNamespace

import anywidget
import numpy as np
import traitlets as t

from . import bundle
from .settings import Setting, with_arguments, with_lines

WORDS = {  # what every widget takes besides
    "title": Setting("", "one line above the figure."),
    "alt": Setting("", "one sentence for readers who do not see it."),
}


class Widget(anywidget.AnyWidget):
    """A class of the gallery; its folder holds its JavaScript, in a module of the same name.

    What a reader moves is a `Setting` of the class. Each is an argument, too, and gets its line in
    the docstring, after the arguments that the class itself describes.

    Args:
        settings: the arguments that are settings, "title" and "alt", as the caller gave them.
        alt: what stands for "alt" where the caller gave none.
        fixed: the other traits.
    """

    title = t.Unicode().tag(sync=True)
    alt = t.Unicode().tag(sync=True)

    def __init_subclass__(cls, **kwargs):
        if Widget in cls.__bases__:  # traitlets makes subclasses of its own
            cls.__module__ = "attnbook.widgets"  # in saved state, wherever the class lives
            cls._settings = {n: one for n, one in vars(cls).items() if isinstance(one, Setting)}
            cls._check_setting = t.validate(*cls._settings)(_check_setting)
            for name, setting in cls._settings.items():
                setting.name = name  # traitlets would do so after this
            entry = bundle.WIDGETS[f"attnbook.widgets.{cls.__name__}"]
            forms = {name: setting.form() for name, setting in cls._settings.items()}
            cls._esm, cls._css = bundle.join(entry, forms), bundle.style(entry)
            cls.__doc__ = with_lines(cls.__doc__, {**cls._settings, **WORDS})
            cls.__signature__ = with_arguments(cls.__init__, {**cls._settings, **WORDS})
        super().__init_subclass__(**kwargs)

    def __init__(self, settings: dict, alt: str, **fixed):
        known = {**self._settings, **WORDS}
        if unknown := set(settings) - set(known):
            raise TypeError(f"{type(self).__name__} takes no argument {unknown.pop()!r}")
        for name, setting in known.items():  # in their order: a later one may hang on an earlier
            so_far, value = SimpleNamespace(**fixed), settings.get(name)
            if value is None:
                value = setting.start(so_far) if callable(setting.start) else setting.start
            fixed[name] = value if setting.test else setting.check(so_far, value)
        super().__init__(**fixed | {"alt": fixed["alt"] or alt})

    def _text(self, *parts: str) -> str:
        """The fixed text that stands for a widget: its class, and in brackets what it shows."""
        controls = getattr(self, "controls", None)
        shown = [*parts, *([f"controls: {', '.join(controls)}"] if controls else [])]
        return f"{type(self).__name__}({', '.join(shown)})"


def _check_setting(widget, proposal):
    return proposal["trait"].check(widget, proposal["value"])


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
