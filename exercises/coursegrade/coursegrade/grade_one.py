"""Grade one hand-in: from its file's bytes to a record that JSON can hold.

It runs in a worker process of its own (`worker.py`), whatever the hand-in makes it do.
"""

from __future__ import annotations

import json
import pickle
from contextlib import nullcontext
from typing import NamedTuple

from . import answers, limits, notebook, unpack, watched
from .notebook import NOT_YET, Given, Unreadable
from .task import FAULT, GRADED, LOOK, MOST, Task, blank, few


class Read(NamedTuple):
    """What a hand-in holds."""

    code: list[tuple[int, str]]
    answers: dict[str, str]
    look: list[str]


def examine(task: Task, bounds=nullcontext()) -> dict:  # noqa: B008 (it holds nothing)
    """Read a hand-in, within `bounds`, and run its tests."""
    why = limits.too_much(task.limits)[1]
    try:
        with bounds:
            found = read(task)
        why = f"to mark it takes more than {task.limits.memory >> 20} MB of memory"
        return _marked(task, found)
    except (Unreadable, MemoryError) as problem:
        return blank(task) | {"problem": str(problem) if isinstance(problem, Unreadable) else why}


def read(task: Task) -> Read:
    """Read a hand-in; nothing of it runs.

    Raises:
        Unreadable: there is nothing to mark.
        MemoryError: it needs more than the worker has.
    """
    try:
        cells = unpack.cells(task.name, task.raw)
        look = _looked_at(cells, task)
        return Read(
            notebook.code_cells(cells), answers.answers(cells, task.given, task.by_hand), look
        )
    except (RecursionError, ValueError) as problem:
        raise Unreadable(f"it can't be read: {type(problem).__name__}") from None


def _marked(task: Task, found: Read) -> dict:
    record = blank(task)
    try:
        return record | _graded(task, found)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as problem:  # ours: GraderFault, or a bug of the grader
        return record | {"status": FAULT, "problem": f"{type(problem).__name__}: {problem}"[:600]}


def _looked_at(cells, task: Task) -> list[str]:
    """What a person should look at, as far as reading tells.

    Raises:
        Unreadable: there is nothing to mark here: a zero would be one of ours.
    """
    code = notebook.code_cells(cells)
    if not code:
        raise Unreadable("it holds no code")
    names = notebook.names_in(code)
    missing = sorted(set(task.given.names) - names)
    _is_this_assignment(cells, names, task.given)
    flags = [f"not defined: {', '.join(missing)}"] if missing else []
    return flags + watched.forbidden_calls(cells, task.forbidden, task.given)


def _is_this_assignment(cells, names: set[str], given: Given) -> None:
    """Refuse another assignment, which may share a name or a helper with this one.

    Raises:
        Unreadable: it defines nothing that is to be delivered, or little below other headings.
    """
    wanted = set(given.delivered)
    own = wanted & names
    headings = [text.strip() for kind, text in cells if kind == "markdown" and text[:1] == "#"]
    foreign = headings and not any(text in given.texts for text in headings)
    if wanted and (not own or (foreign and len(own) <= len(wanted) / 4)):
        raise Unreadable(f"it is not this assignment: it defines {len(own)} of {len(wanted)} names")


def _graded(task: Task, found: Read) -> dict:
    from . import runner  # it imports torch
    from .student import Student

    student = Student(found.code, task.limits)
    try:
        rows = runner.count(runner.run(student, task.tests, task.salt, task.references))
    finally:
        student.close()
    report = student.report()
    look = report["flags"] + found.look + _raised(rows)
    look += [
        f"{question}: no written answer" for question, text in found.answers.items() if not text
    ]
    if rows and all(row.message == NOT_YET for row in rows):
        look.append("no question is answered in code")
    return {
        "status": LOOK if look else GRADED,
        "flags": few([*task.flags, *_with_ours(rows), *look]),
        "cells": {str(number): words for number, words in list(report["cells"].items())[:MOST]},
        "rows": [row.record() for row in rows],
        "answers": found.answers,
    }


def _with_ours(rows) -> list[str]:
    """The questions whose marks are those with our solution of earlier ones."""
    with_ours = {row.question: row.ours for row in rows if row.ours}
    return [f"{q}: marked with our {', '.join(ours)}" for q, ours in with_ours.items()]


def _raised(rows) -> list[str]:
    """Questions of which every test ends in an error: perhaps it is the environment's, or ours."""
    found = []
    for question in dict.fromkeys(row.question for row in rows):
        errors = {row.error.partition(":")[0] for row in rows if row.question == question}
        if "" not in errors and NOT_YET not in errors:
            first = next(row.error for row in rows if row.question == question)
            found.append(f"{question}: every test ends in an error, such as {first[:120]}")
    return found


def work(raw: bytes) -> bytes:
    """What the worker does: a packed task becomes a record, as one line of JSON."""
    task = pickle.loads(raw)
    limits.bound(task.limits.memory)
    return json.dumps(examine(task, limits.reading(task.limits))).encode()
