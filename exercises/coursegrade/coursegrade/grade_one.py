"""Mark one hand-in: from bytes to a record that JSON can hold. Runs in any worker."""

from __future__ import annotations

import time
from typing import NamedTuple

from . import notebook
from .exercise import Tests
from .limits import Limits
from .notebook import Unreadable

GRADED, LOOK, UNREADABLE, FAULT = "graded", "graded: look", "unreadable", "fault"


class Task(NamedTuple):
    """All that a worker needs. Another machine needs only this distribution and a box."""

    student: str
    raw: bytes | None  # the hand-in, or None where there is not exactly one that can be read
    problem: str  # why there is none
    late: bool
    tests: Tests
    forbidden: dict[str, list[str]]
    salt: str
    limits: Limits


def mark(task: Task) -> dict:
    """Mark a hand-in; a fault of ours is tried once more and then reported without marks."""
    start = time.monotonic()
    for attempt in (1, 2):
        record = _mark(task)
        if record["status"] != FAULT:
            break
        record["problem"] += f" (tried {attempt} times)"
    return {**record, "seconds": round(time.monotonic() - start, 2)}


def blank(task: Task) -> dict:
    """The record of a hand-in before anything is known of it."""
    record = {"student": task.student, "status": UNREADABLE, "problem": task.problem}
    return record | {
        "flags": ["late"] if task.late else [],
        **{"cells": {}, "rows": [], "answers": {}},
    }


def _mark(task: Task) -> dict:
    record = blank(task)
    if task.raw is None:
        return record
    try:
        cells = notebook.parse(task.raw)
    except Unreadable as problem:
        return record | {"problem": str(problem)}
    try:
        return record | _graded(task, cells, record["flags"])
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # ours: GraderFault, or a bug of the grader
        return record | {"status": FAULT, "problem": f"{type(problem).__name__}: {problem}"[:600]}


def _graded(task: Task, cells, flags: list[str]) -> dict:
    from . import runner  # torch is needed from here on, in the worker only
    from .student import Student

    student = Student(notebook.code_cells(cells), task.limits)
    try:
        rows = runner.run(student, task.tests, task.salt)
    finally:
        student.close()
    report = student.report()
    look = report["flags"] + notebook.forbidden_calls(cells, task.forbidden)
    return {
        "status": LOOK if look else GRADED,
        "flags": flags + look,
        "cells": {str(number): words for number, words in report["cells"].items()},
        "rows": [row._asdict() for row in rows],
        "answers": notebook.answers(cells),
    }
