"""The tests' side of a box: a `student` whose functions run elsewhere."""

from __future__ import annotations

import json
import time

from . import calls, kinds, wire
from .box import Box, Ended
from .limits import Limits
from .notebook import NOT_YET, definitions

MOST_ASKED = 1 << 16  # characters of one question to a model of the tests' own
NOTED = {  # what the box says of how it ran something
    "compile": "uses torch.compile: here it runs uncompiled",
    "cpu": "asks for a GPU: here it runs on the CPU",
}


class StudentError(AssertionError):
    """The student's code raised, hung, died or gave no data: the test fails, never the grader.

    `kind` says which, in words of ours alone: it may go into feedback on hidden tests.
    """

    def __init__(self, message: str, kind: str = ""):
        super().__init__(message)
        self.kind = kind or message


class _NoValue:
    """What stands for something in the box; where a test wants a value, the student is told so."""

    def _refuse(self, *_):
        raise StudentError(*self._is_no_value())

    __bool__ = __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __len__ = __iter__ = _refuse
    __float__ = __int__ = __index__ = __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = (
        _refuse
    )
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __neg__ = _refuse
    __abs__ = __invert__ = __and__ = __or__ = _refuse
    __hash__ = None


class Call(_NoValue):
    """One function, or one method of an object that stayed in the box."""

    def __init__(self, student, name: str, owner=None):
        self._student, self._name, self._owner = student, name, owner

    def __call__(self, *args, **kwargs):
        return self._student._call(self._name, self._owner, args, kwargs)

    def grad(self, *args, wrt=(0,), of=None, **kwargs):
        """Gradients of the result's sum with respect to the arguments numbered `wrt`.

        Args:
            of: where there are several results, the number of the one that is meant.
        """
        return self._student._call(self._name, self._owner, args, kwargs, list(wrt), of)

    def _is_no_value(self):
        owner = self._owner
        return owner._is_no_value() if owner else (f"{self._name} is not called here",)


class Object(_NoValue):
    """What is not data, a module for instance: it stays in the box and is called there.

    Args:
        maker: the notebook's function that it comes from.
        kind: what it is, in the box's words.
    """

    def __init__(self, student, number: int, maker: str, kind: str):
        self._student, self._number = student, number
        self._maker, self._kind = maker, kind

    def __call__(self, *args, **kwargs):
        return self._student._call("", self, args, kwargs)

    def __getattr__(self, name: str) -> Call:
        if name.startswith("_"):
            raise AttributeError(name)
        return Call(self._student, name, self)

    def _is_no_value(self):
        words = f"{self._maker} gives a {self._kind} where numbers are wanted"
        return words, "an object came back where numbers are wanted"


class _Calls:
    """What boxed and local students share: attributes are calls, `last_args` what became of the
    arguments of the last one. A model that the tests made and hand over stays with the tests.

    Results are `plain`; what a test hands on unchanged arrives as the student's code made it.
    """

    last_args = None
    asked: frozenset = frozenset()  # the notebook's functions that the running test has called
    _maker = ""
    _outside: tuple = ()

    def __getattr__(self, name: str) -> Call:
        if name.startswith("_"):
            raise AttributeError(name)
        return Call(self, name)

    def _call(self, name, owner, args, kwargs, grad=None, of=None):
        self._maker = name if owner is None else owner._maker
        self.asked |= {self._maker}
        known = self._kept.origin if grad is None else lambda value: None
        request = {
            "do": "call",
            "name": name,
            "object": None if owner is None else owner._number,
            "grad": grad,
            "of": of,
            "args": [wire.encode(value, self._refer, known) for value in args],
            "kwargs": {key: wire.encode(v, self._refer, known) for key, v in kwargs.items()},
        }
        answer = self._ask(request)
        if "error" in answer:
            raise _their_error(answer["error"])
        try:
            decoded = wire.decode({"list": answer["args"]}, self._referred)
            self.last_args = [kinds.plain(value) for value in decoded]
            result = kinds.plain(wire.decode(answer["answer"], self._referred))
            place = [int(answer["kept"])]
        except Exception:
            raise StudentError(f"{name} returned something that can't be read") from None
        self._kept.remember(result, place, lambda place, key: [*place, key])
        return result

    def _refer(self, value) -> dict:
        if isinstance(value, Object):
            return {"object": [value._number]}
        if not callable(value):
            raise TypeError(f"cannot send a {type(value).__name__}")
        if not any(value is other for other in self._outside):
            self._outside = (*self._outside, value)
        number = next(i for i, other in enumerate(self._outside) if value is other)
        return {"outside": [number, getattr(value, "training", None)]}

    def _referred(self, kind: str, content):
        if kind == "object":
            return Object(self, int(content[0]), self._maker, str(content[1])[:80])
        number, training = content
        if training is not None:
            self._outside[number].train(training is True)
        return self._outside[number]

    def _asked(self, request: dict) -> dict:
        """Run a model of the tests' for code in the box, which sees what comes out and no more."""
        try:
            if len(json.dumps(request)) > MOST_ASKED:
                raise ValueError("that is too much to ask of the model")
            model = self._referred("outside", request["asks"])
            args = wire.decode({"list": request["args"]}, self._referred)
            pairs = request["kwargs"].items()
            kwargs = {key: wire.decode(value, self._referred) for key, value in pairs}
            return {"answer": wire.encode(model(*args, **kwargs), self._refer)}
        except Exception as problem:
            return {"error": f"{type(problem).__name__}: {problem}"[:600]}


def _their_error(error) -> StudentError:
    try:
        name, words = (str(part) for part in error)
    except (TypeError, ValueError):
        return StudentError("it sent something that is not an answer")
    if name == "NotImplementedError":
        return StudentError(NOT_YET)
    if name == "NoGradient":
        return StudentError("no gradient flows to what was given", "no gradient flows")
    known = name in _ERRORS  # a made-up name could carry the tests' numbers out
    kind = f"your code raised {name}" if known else "your code raised an exception"
    return StudentError(f"{name[:80]}: {words[:600]}", kind)


_ERRORS = {
    name
    for name, thing in vars(__import__("builtins")).items()
    if isinstance(thing, type) and issubclass(thing, BaseException)
}


class Student(_Calls):
    """A hand-in, run in a box that is started when first asked and replaced when it dies.

    Args:
        cells: (number, source) of each code cell, in order.
        limits: what it may use.
    """

    def __init__(self, cells, limits: Limits = Limits()):  # noqa: B008 (a tuple)
        self._cells = {number: source for number, source in cells}
        self._ends = {number: [] for number in self._cells}  # the statements that ended a box
        self._limits, self._box, self._starts = limits, None, 0
        self._end = time.monotonic() + limits.run
        self._strikes: dict[str, int] = {}
        self._ours: list[dict] = []
        self._kept = kinds.Kept()
        self._flags: dict[str, None] = {}
        self._cell_errors: dict[int, str] = {}

    def report(self) -> dict:
        """What a marker should know beside the marks."""
        return {"flags": list(self._flags), "cells": self._cell_errors, "boxes": self._starts}

    def close(self) -> None:
        """End the box, if one runs."""
        if self._box is not None:
            self._box.kill()
            self._box, self._kept = None, kinds.Kept()

    def stand_in(self, names, source: str) -> None:
        """Put functions of ours in the place of the notebook's, from now on."""
        self._ours.append({"do": "ours", "names": names, "source": source, "seed": 0})
        if self._box is not None and not self._put(self._ours[-1]):
            self.close()

    def _put(self, request: dict) -> bool:
        try:
            self._box.ask(request, self._limits.cell)
        except (TimeoutError, Ended):
            return False
        return True

    def _start(self) -> None:
        while self._starts < self._limits.restarts:
            self._starts += 1
            self._box = Box(self._limits)
            ran = all(self._run_cell(number) for number in list(self._cells))
            if ran and all(map(self._put, self._ours)):
                return
            self.close()
        raise StudentError("the notebook keeps ending the process")

    def _cell(self, number: int) -> dict:
        """What runs a cell: all of it; once it ended a box, all but the statement that did; then
        what it defines; then nothing.
        """
        source, ends = self._cells[number], self._ends[number]
        if len(ends) > 1:
            source, ends = definitions(source) if len(ends) == 2 else "", []
        return {"do": "cell", "number": number, "source": source, "skip": ends, "seed": 0}

    def _run_cell(self, number: int) -> bool:
        """Run a cell; False where it took the box down: then less of it runs next time."""
        try:
            answer = self._box.ask(self._cell(number), self._left(self._limits.cell))
        except (TimeoutError, Ended) as problem:
            slow = isinstance(problem, TimeoutError)
            why = "did not finish" if slow else f"stopped the notebook ({problem})"
            self._flags[f"cell {number} {why}"] = None
            self._cell_errors[number] = why
            self._ends[number].append(self._box.at)
            return False
        if error := answer.get("error"):
            words = ": ".join(map(str, error if isinstance(error, list) else [error]))[:300]
            self._cell_errors.setdefault(number, words)
            self._flags[f"cell {number} failed ({words.partition(':')[0]})"] = None
        self._note(f"cell {number}", answer)
        return True

    def _note(self, where: str, answer: dict) -> None:
        said = str(answer.get("noted"))
        for word in NOTED:
            if word in said:
                self._flags[f"{where} {NOTED[word]}"] = None

    def _left(self, seconds: float) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            self._flags["the time for the whole hand-in is used up"] = None
            raise StudentError("the time for the whole hand-in is used up")
        return min(left, seconds)

    def _ask(self, request: dict) -> dict:
        name = request["name"] or "the object"
        if self._strikes.get(name, 0) >= self._limits.strikes:
            raise StudentError(f"{name} hung or ended the process before: not tried again")
        if self._box is None:
            if request["object"] is not None:
                raise StudentError("the object was lost when its process ended")
            self._start()
        try:
            left = self._left(self._limits.call)
            answer = self._box.ask({**request, "seed": 0}, left, self._asked)
            self._note(name, answer)
            return answer
        except TimeoutError:
            why = f"{name} did not answer within {self._limits.call:g} s"
        except Ended as problem:
            why = f"{name}: {problem} (exit, kill, or out of memory)"
        self._strikes[name] = self._strikes.get(name, 0) + 1
        self._flags[why] = None
        self.close()
        raise StudentError(why)


class Local(_Calls):
    """The same without a box, for code that we trust: the reference solution and the mutants.

    Args:
        names: the namespace in which the notebook's code has run.
    """

    def __init__(self, names: dict):
        self._names, self._objects, self._kept = names, [], kinds.Kept()

    def stand_in(self, names, source: str) -> None:
        """Put functions of ours in the place of the notebook's, from now on."""
        space: dict = {}
        exec(source, space)
        self._names.update({name: space[name] for name in names})

    _perform = staticmethod(calls.perform)

    def _keep(self, value) -> dict:
        if any(value is other for other in self._outside):
            return self._refer(value)
        self._objects.append(value)
        return {"object": [len(self._objects) - 1, type(value).__name__]}

    def _get(self, kind: str, content):
        if kind == "outside":
            return self._referred(kind, content)
        return calls.part(self._objects, content)

    def _ask(self, request: dict) -> dict:
        import torch

        torch.default_generator.manual_seed(0)  # torch.manual_seed also queues a trace for CUDA
        args = [wire.decode(value, self._get) for value in request["args"]]
        kwargs = {key: wire.decode(value, self._get) for key, value in request["kwargs"].items()}
        try:
            thing = self._names if request["object"] is None else self._objects[request["object"]]
            if thing is self._names:
                thing = self._names[request["name"]]
            elif request["name"]:
                thing = getattr(thing, request["name"])
            result = self._perform(thing, args, kwargs, request)
        except Exception as problem:
            return {"error": [type(problem).__name__, str(problem)]}
        self._objects.append(result)
        return {
            "kept": len(self._objects) - 1,
            "answer": wire.encode(result, self._keep),
            "args": [wire.encode(value, self._keep) for value in args],
        }
