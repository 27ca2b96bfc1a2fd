"""What a reader moves in a widget, declared once: trait, check, argument, control, tests' values.

A bound is a number, or says where in the widget it stands: "n" is that trait, "_shape.1" one of
its numbers, and a list stands for its length, "labels - 1" for one less; of several bounds in a
tuple the least counts. The page's script reads the same words (`core/controls.js`). Where it makes
the control by itself, a bound may also be a function of the widget.
"""

from __future__ import annotations

import inspect
import math
import textwrap

import traitlets as t

from .._checks import as_number, as_place, as_some, check_choice, check_count

RAISES = """

    Raises:
        ValueError: an argument does not fit; the message names it, what came and what is needed."""


def bound_of(widget, bound) -> float:
    """What a bound is now."""
    if isinstance(bound, tuple):
        return min(bound_of(widget, one) for one in bound)
    if not isinstance(bound, str):
        return bound(widget) if callable(bound) else bound
    place, _, less = bound.partition(" - ")
    name, _, at = place.partition(".")
    value = getattr(widget, name)
    value = value[int(at)] if at else value
    return (len(value) if hasattr(value, "__len__") else value) - int(less or 0)


class Setting(t.TraitType):
    """A trait that a reader moves; an argument of the widget with the same name.

    Args:
        start: the argument's default; or a function that computes it from what is fixed.
        says: the argument's line in the docstring.
        test: `test(widget, value)` gives the value as it is kept, or an error that names what is
            needed; the kinds below have their own.
        label: the name on its control, by default its own; "" where the script makes the control.
        fixed: whether it is the chapter's to set, not the reader's.
        control: what else the script must know: `room`, the characters of a slider's number;
            `when`, a trait and those values of it with which the control is there.
    """

    def __init__(self, start=None, says="", *, test=None, label=None, fixed=False, **control):
        super().__init__()
        self.start, self.says, self.test, self.label = start, says, test, label
        self.fixed = fixed
        self.control = control
        self.tag(sync=True)

    def check(self, widget, value):
        """The value as it is kept, or an error that names what is needed."""
        return self.test(widget, value) if self.test else value

    def line(self) -> str:
        """What the docstring says of it."""
        return self.says

    def form(self) -> dict:
        """What the script builds the control from: its label and what else it must know."""
        if self.fixed:
            return {"fixed": True}
        label = self.name.replace("_", " ").capitalize() if self.label is None else self.label
        return {"label": label, **self.control} if self.control else {}

    def others(self, widget) -> list:
        """Some values that its control can move it to from where it is now."""
        now = getattr(widget, self.name)
        return [value for value in self.values(widget) if value != now]

    def values(self, widget) -> list:
        """Some values that fit, among them the extremes."""
        return []

    def refused(self, widget) -> list:
        """Values just past the bounds, or of another kind."""
        return []


class Count(Setting):
    """A whole number from `least` to `most`, on a slider that goes to `top`, by default the most.

    The slider stops at each number, at each `step`, or at `sizes`. With `none`, what None is
    called, None stands above the top.
    """

    def __init__(self, least, most, start=None, says="", *, top=None, room=3, **control):
        self.least, self.most, self.top = least, most, most if top is None else top
        super().__init__(start, says, least=least, most=self.top, room=room, **control)

    def check(self, widget, value):
        if value is None and "none" in self.control:
            return None
        most = bound_of(widget, self.most)
        return check_count(self.name, value, self.least, None if most == math.inf else most)

    def line(self):
        known = isinstance(self.most, int)
        return f"{self.says}, {self.least} to {self.most}." if known else self.says

    def values(self, widget):
        ends = self.control.get("step", self.least), bound_of(widget, self.top)
        return [*filter(math.isfinite, ends)]

    def refused(self, widget):
        past = [self.least - 1, bound_of(widget, self.most) + 1]
        return [1.5, *filter(math.isfinite, past)]


class Size(Count):
    """One of some whole numbers."""

    def __init__(self, sizes, start, says="", **control):
        super().__init__(sizes[0], sizes[-1], start, says, sizes=sizes, **control)
        self.sizes = sizes

    def check(self, widget, value):
        return check_choice(self.name, check_count(self.name, value), self.sizes)

    def line(self):
        return f"{self.says}: {either(self.sizes)}."

    def values(self, widget):
        return list(self.sizes)


class Place(Setting):
    """One of some `things`, by its position from 0; or None, if that is where it may start.

    On a slider; with `list` or `names`, a trait, in a list to choose from, which, if it is
    `optional`, is there where there are several.
    """

    def __init__(self, things, what, start=0, says="", *, room=3, **control):
        most = {} if callable(things) else {"most": f"{things} - 1", "room": room}
        super().__init__(start, says, **most | control)
        self.things, self.what = things, what

    def count(self, widget) -> int:
        """How many there are; where there must be one, the first may be asked for."""
        return max(bound_of(widget, self.things), 0 if self.start is None else 1)

    def check(self, widget, value):
        if value is None and self.start is None:
            return None
        return as_place(self.name, value, self.count(widget), self.what)

    def values(self, widget):
        return sorted({0, self.count(widget) - 1})

    def refused(self, widget):
        return [-1, self.count(widget), 0.5]


class Choice(Setting):
    """One of some words, {word: what the control calls it}; `of`: the trait that says of which."""

    def __init__(self, words, start=None, says="", *, of=None, **control):
        super().__init__(start, says, words=words, of=of, **control)
        self.words, self.of = words, of

    def check(self, widget, value):
        return check_choice(self.name, value, self.values(widget))

    def line(self):
        words = [f'"{word}"' for word in self.words]
        return self.says if self.of else f"{self.says}: {either(words)}."

    def values(self, widget):
        return list(getattr(widget, self.of) if self.of else self.words)

    def refused(self, widget):
        return ["no such word", 1]


class Number(Setting):
    """A finite number from `least` to `most`, above 0 if it is `positive`.

    On a slider that goes from the first to the second of `ends`, by default those bounds, in steps
    of which `parts` make 1, or in so many `steps`, even in the logarithm.
    """

    def __init__(self, start=None, says="", *, least=-math.inf, most=math.inf, positive=False,
                 ends=None, room=4, **control):  # fmt: skip
        self.least, self.most, self.positive = least, most, positive
        self.ends = ends or (least, most)
        if "parts" in control or "steps" in control:
            control |= {"least": self.ends[0], "most": self.ends[1], "room": room}
        super().__init__(start, says, **control)

    def check(self, widget, value):
        number = as_number(self.name, value, positive=self.positive)
        least, most = (bound_of(widget, bound) for bound in (self.least, self.most))
        if not least <= number <= most:
            needed = f"at most {most:g}" if least == -math.inf else f"from {least:g} to {most:g}"
            raise ValueError(f"{self.name} must be {needed}, got {number:g}")
        return number

    def values(self, widget):
        ends = (float(bound_of(widget, end)) for end in self.ends)
        return [*filter(math.isfinite, ends)]

    def refused(self, widget):
        bounds = [bound_of(widget, self.least) - 1, bound_of(widget, self.most) + 1]
        return [math.nan, *filter(math.isfinite, bounds), *[0.0] * self.positive]


class Switch(Setting):
    """On or off."""

    def __init__(self, start=False, says="", **control):
        super().__init__(start, says, switch=True, **control)

    def check(self, widget, value):
        return bool(check_choice(self.name, value, (False, True)))

    def values(self, widget):
        return [False, True]

    def refused(self, widget):
        return ["on"]


class Controls(Setting):
    """What the reader may change: some of `names`, at first all of them or those of `start`.

    They stand on the page in this order, or in that of `order`.
    """

    def __init__(self, *names, start=None, order=None):
        words = ", ".join(f'"{name}"' for name in names)
        says = f"what the reader may change: any of {words}."
        super().__init__(names if start is None else start, says)
        self.names, self.order = names, order or names

    def check(self, widget, value):
        return as_some("controls", value, self.names)

    def form(self):
        return {"names": self.order}

    def refused(self, widget):
        return [["no such control"], [self.names[0]] * 2]


def either(words) -> str:
    """One or another, in words."""
    *others, last = map(str, words)
    return f"{', '.join(others)} or {last}"


def with_lines(doc: str, settings: dict[str, Setting]) -> str:
    """A class's docstring, its settings after the arguments that it describes itself.

    What every constructor raises comes after them, where the class does not say it.
    """
    before, mark, after = doc.partition("    Args:\n")
    own, end, rest = after.partition("\n\n")
    ends = {"initial_indent": " " * 8, "subsequent_indent": " " * 12}
    said = {name: setting.line() for name, setting in settings.items() if setting.says}
    lines = (textwrap.fill(f"{name}: {text}", 96, **ends) for name, text in said.items())
    raises = "" if "    Raises:\n" in rest else RAISES
    return "".join([before, mark, "\n".join([own, *lines] if own else lines), raises, end, rest])


def with_arguments(function, settings: dict[str, Setting]) -> inspect.Signature:
    """A constructor's signature, with its settings in place of `**settings`."""
    _, *own, _ = inspect.signature(function).parameters.values()
    own = {one.name: one for one in own}
    for name, setting in settings.items():
        start = None if callable(setting.start) else setting.start
        own.setdefault(name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=start))
    return inspect.Signature(own.values())
