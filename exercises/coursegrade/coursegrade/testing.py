"""What an exercise's tests import: points, cases, and how results are compared.

A test is a function ``test_…(student, rng)``: `student` has the notebook's functions, `rng` is a
seeded ``torch.Generator``. The first line of its docstring is the hint that students get.
"""

from __future__ import annotations

from .kinds import close, same  # noqa: F401  what results are compared by


def points(n: int, question: str, value: bool = False):
    """Give a test `n` points of `question`; with cases, each case is worth `n`.

    A test of values asks for what understanding alone gives: the answer equals a reference's on
    numbers of no special kind. Where a question passes none of its own, its other tests (shapes,
    sums, arguments left alone) count nothing.
    """

    def mark(test):
        test.points, test.question, test.value = n, question, value
        return test

    return mark


def cases(**named):
    """Run a test once for each value of the one argument named: ``cases(d=[4, 64])``."""
    [(name, values)] = named.items()

    def mark(test):
        test.cases = [{name: value} for value in values]
        return test

    return mark
