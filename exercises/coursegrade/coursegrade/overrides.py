"""overrides.csv: points that a person gives for a coded question, whatever the tests say, and why.

The file is the instructor's: it is begun with a header alone, read each time, and never changed.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import tables
from .safe import cell
from .written import points_of

NAME = "overrides.csv"
COLUMNS = ["student", "question", "points", "reason"]


class Override(NamedTuple):
    """What counts instead of the tests' points."""

    points: Decimal
    reason: str  # for the student, in Markdown


def begin(folder: Path) -> None:
    """Put a table without rows where there is none yet."""
    try:
        with (folder / NAME).open("x", encoding="utf-8-sig", newline="") as file:
            file.write(",".join(COLUMNS) + "\r\n")
    except FileExistsError:
        pass


def apply(folder, about: dict, records: list[dict]) -> tuple[list[dict], list[str]]:
    """The records with what overrides each, by question, under `override`; and what is wrong.

    Args:
        about: of results.json: `points` and `by_hand`.
    """
    path, wrong = Path(folder) / NAME, []
    found: dict[str, dict[str, Override]] = {}
    names = [cell(record["student"]) for record in records]
    try:
        rows = _rows(path) if path.is_file() else []
    except ValueError as problem:
        rows, wrong = [], [str(problem)]
    for line, (student, question, points, reason) in rows:
        try:
            _check(student, question.lower(), names, about)
            value = points_of(points, about["points"][question.lower()], "points")
            mine = found.setdefault(student, {})
            if question.lower() in mine:
                raise ValueError("stands twice")
            mine[question.lower()] = Override(value, reason)
        except ValueError as problem:
            wrong.append(f"{NAME}: line {line}: {student}, {question}: {problem}")
    some = [record | {"override": found.get(cell(record["student"]), {})} for record in records]
    return some, wrong


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The lines that hold something, with their numbers; columns may stand in any order."""
    needed, what = set(COLUMNS[:3]), f"a table with the columns {', '.join(COLUMNS)}"

    def plain(header):
        return [name.strip().lower() for name in header]

    table = tables.read(path, lambda header: needed <= set(plain(header)), what)
    places = [plain(table.header).index(name) for name in COLUMNS if name in plain(table.header)]
    found = []
    for line, row in enumerate(table.rows[1:], start=2):
        texts = [row[place].text.strip() if place < len(row) else "" for place in places]
        if any(texts):
            found.append((line, [*texts, ""][: len(COLUMNS)]))
    return found


def _check(student: str, question: str, names: list[str], about: dict) -> None:
    if student not in names:
        raise ValueError("nobody of this name handed in; gradebook.csv has the names")
    if names.count(student) > 1:
        raise ValueError("two students have this name")
    if question in about["by_hand"]:
        raise ValueError("it is marked by hand: its mark belongs in written.csv")
    if question not in about["points"]:
        raise ValueError(f"the coded questions are {', '.join(about['points'])}")
