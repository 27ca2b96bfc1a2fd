"""Typical wrong answers, and which of them a hand-in resembles by the tests that it fails.

An exercise's `mutants.toml` lists edits of the solution. Which tests each of them fails is found by
running it once. The mutants are ours: they run here, without a box.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from . import notebook, release, reports, runner
from .exercise import Exercise
from .student import Local

TABLE = ".mutants.json"


class Resembles(NamedTuple):
    """The mutants that are nearest to a hand-in in one question."""

    question: str
    names: tuple[str, ...]
    same: bool  # exactly the same tests fail


def failing(exercise: Exercise, salt: str) -> dict[str, list[str]]:
    """By mutant, the tests that it fails, in the order of the tests.

    Raises:
        ValueError: an edit's old text does not stand in the solution exactly once.
    """
    cells = notebook.parse(release.build(exercise, solution=True).encode())
    solution = "\n\n".join(text for _, text in notebook.code_cells(cells))
    return {
        name: _failed(exercise, edited(solution, edits), salt)
        for name, (_, *edits) in exercise.examples()["mutants"].items()
    }


def edited(code: str, edits) -> str:
    """Replace each old text, which must be there once, by its new one; else ValueError."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        if code.count(old) != 1:
            raise ValueError(f"it stands {code.count(old)} times in the solution, not once: {old}")
        code = code.replace(old, new)
    return code


def _failed(exercise: Exercise, code: str, salt: str) -> list[str]:
    names = {"__name__": "__main__"}
    exec(compile(code, exercise.name, "exec"), names)
    rows = runner.run(Local(names), exercise.tests, salt, release.references(exercise))
    return [row.test for row in rows if not row.ok]


def failure_table(exercise: Exercise, salt: str, folder: Path) -> dict[str, list[str]]:
    """`failing`, kept in a folder until the exercise, its mutants or the salt change."""
    parts = [exercise.source, *exercise.tests, salt, json.dumps(exercise.examples())]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    path = Path(folder) / TABLE
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["key"] == key:
            return before["failing"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    table = failing(exercise, salt)
    reports.put(path, json.dumps({"key": key, "failing": table}))
    return table


def fails(row: dict) -> bool:
    """Whether a test was failed, which is more than that it gave no points."""
    return not row["ok"] and row["message"] != runner.WAITS


def resemblances(rows: list[dict], table: dict[str, list[str]]) -> list[Resembles]:
    """For each question in which a hand-in fails a test: the mutants that fail nearly the same.

    A mutant belongs to the first question in which it fails. Near is what shares most of the tests
    that one of the two fails (Jaccard's index); a mutant that shares none is near to nothing.
    """
    home = {row["test"]: row["question"] for row in rows}
    order = list(dict.fromkeys(home.values()))
    found = []
    for question in order:
        mine = {row["test"] for row in rows if row["question"] == question and fails(row)}
        near: dict[str, float] = {}
        for name, tests in table.items():
            places = [home[test] for test in tests if test in home]
            if mine and places and min(places, key=order.index) == question:
                theirs = {test for test in tests if home.get(test) == question}
                near[name] = len(mine & theirs) / len(mine | theirs)
        best = max(near.values(), default=0)
        if best > 0:
            names = tuple(name for name, share in near.items() if share == best)
            found.append(Resembles(question, names, best == 1))
    return found
