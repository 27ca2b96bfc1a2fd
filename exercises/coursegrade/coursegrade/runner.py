"""Run an exercise's tests on a student and write down a row for each. A few lines, no framework:

what a framework finds, imports or prints would be one more thing that students could reach.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from typing import NamedTuple

from .box import GraderFault
from .exercise import Tests
from .notebook import NOT_YET
from .student import StudentError

WAITS = "right, but it counts only with right values"


class Row(NamedTuple):
    """One test, or one case of it."""

    test: str
    question: str
    points: int
    ok: bool
    hidden: bool
    value: bool  # it asks for values, not for shapes and manners
    hint: str  # the docstring's first line
    message: str  # what went wrong; of a hidden test only words that are ours
    asked: frozenset[str] = frozenset()  # the notebook's functions that it called
    error: str = ""  # what their code raised, for a person
    ours: tuple[str, ...] = ()  # the earlier questions that our solution stood in for

    def record(self) -> dict:
        """What the reports need of it, as JSON can hold it."""
        here_alone = ("asked", "error", "ours")
        return {key: value for key, value in self._asdict().items() if key not in here_alone}


@functools.lru_cache(maxsize=16)  # the same tests for one hand-in after the other
def _compiled(source: str, name: str) -> types.CodeType:
    return compile(source, name, "exec")


def load(source: str, name: str) -> types.ModuleType:
    """Run a file of tests.

    Raises:
        GraderFault: the tests themselves are broken.
    """
    module = types.ModuleType(name)
    module.__dict__["__file__"] = f"{name}.py"
    sys.modules[name] = module  # pytest's and torch's helpers look it up
    try:
        exec(_compiled(source, f"{name}.py"), module.__dict__)
    except Exception as problem:
        raise GraderFault(f"the tests do not load: {type(problem).__name__}: {problem}") from None
    return module


def run(student, tests: Tests, salt: str, references=()) -> list[Row]:
    """What each test says of a student. The same salt gives the same numbers, so the same marks.

    Args:
        references: (question, its names, our source of them), in order. A question that calls an
            earlier one that is wrong is tested again with ours in its place: nothing is lost twice.
    """
    trials = []
    for name, source in tests._asdict().items():
        module = load(source, f"_coursegrade_{name}")
        for test in [thing for key, thing in vars(module).items() if key.startswith("test_")]:
            for case in getattr(test, "cases", [{}]):
                trials.append((student, test, case, salt, name == "hidden"))
    rows = [_one(*trial) for trial in trials]
    wrong: tuple[str, ...] = ()  # earlier questions
    for question, names, source in references:
        places = [i for i, row in enumerate(rows) if row.question == question]
        first = [rows[i] for i in places]
        if wrong and not all(row.ok or row.message == NOT_YET for row in first):
            again = [_one(*trials[i])._replace(ours=wrong) for i in places]
            if _worth(again) > _worth(first):  # one whole run, never the best of both
                for i, row in zip(places, again, strict=True):
                    rows[i] = row
        if not all(row.ok for row in first):
            wrong += (question,)
        if wrong:  # only now: what is asked of a question comes before its reference is in the box
            student.stand_in(names, source)
    return rows


def _worth(rows: list[Row]) -> int:
    return sum(row.points for row in count(rows) if row.ok)


def count(rows: list[Row]) -> list[Row]:
    """The rows as they count: what has no value right counts nothing, a question or a function."""
    found = []
    for row in rows:
        values = [one for one in rows if one.value and one.question == row.question]
        asked = [[one.ok for one in values if name in one.asked] for name in row.asked]
        right = any(one.ok for one in values) and all(any(oks) for oks in asked if oks)
        found.append(row if right or not row.ok else row._replace(ok=False, message=WAITS))
    return found


def seed(salt: str, name: str) -> int:
    """The seed of one test's numbers."""
    return int.from_bytes(hashlib.sha256(f"{salt}/{name}".encode()).digest()[:7], "big")


def _one(student, test, case: dict, salt: str, hidden: bool) -> Row:
    import torch

    name = test.__name__ + "".join(f"[{value}]" for value in case.values())
    rng = torch.Generator().manual_seed(seed(salt, name))
    torch.default_generator.manual_seed(0)  # for what the tests' own models draw
    hint = (test.__doc__ or "").strip().partition("\n")[0]
    for key, value in case.items() if hint else ():  # each case has a sentence of its own
        hint = f"{hint.removesuffix('.')} ({key} = {value})."
    message = error = ""
    student.asked = frozenset()
    try:
        test(student, rng, **case)
    except StudentError as problem:
        message = problem.kind if hidden else str(problem)
        error = str(problem)
    except AssertionError as problem:
        message = "wrong answer" if hidden else str(problem) or "not so yet"
    except Exception as problem:  # an answer of a wrong form trips a test in any way it likes
        words = f"the answer has not the form that is asked for ({type(problem).__name__})"
        message = "wrong answer" if hidden else words
    marks = (test.question, test.points, not message, hidden, getattr(test, "value", False))
    return Row(name, *marks, hint, message[:600], student.asked, error[:300])
