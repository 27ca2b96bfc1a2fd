"""written.csv: what a person adds to it is read here, and never lost by grading again."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import tables
from .safe import typed

COLUMNS = ["student", "question", "mark", "comment", "answer"]
NEEDED = {"student", "question", "mark", "answer"}  # older tables have no comments
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


class HandMark(NamedTuple):
    """A row of written.csv; `mark` as it was typed, "" before that."""

    student: str
    question: str
    mark: str
    comment: str  # for the student
    answer: str
    more: bool  # a column that is not ours has something in it
    line: int


def read(path: Path) -> list[HandMark]:
    """The rows of a written.csv, also after a spreadsheet has saved it; none if it is not there.

    Raises:
        ValueError: the file is another one, or cut short.
    """
    if not path.is_file():
        return []
    table = tables.read(path, lambda header: NEEDED <= set(_names(header)), "a written.csv")
    header = _names(table.header)
    places = {name: header.index(name) for name in COLUMNS if name in header}
    found = []
    for number, row in enumerate(table.rows[1:], start=2):
        cells = [cell.text for cell in row] + [""] * len(table.header)
        if any(cells):
            ours = {"comment": ""} | {name: cells[place] for name, place in places.items()}
            ours |= {name: typed(ours[name].strip()) for name in ("mark", "comment")}
            rest = (text for i, text in enumerate(cells) if i not in places.values())
            found.append(HandMark(**ours, more=any(map(str.strip, rest)), line=number))
    return found


def _names(header: list[str]) -> list[str]:
    """The columns' names; a program may take the byte-order mark for a part of the first one."""
    return [name.strip('\ufeff"') for name in header]


def points(rows: list[HandMark], most: dict[str, int]) -> dict[tuple[str, str], Decimal]:
    """The marks that were given, by student (as the table writes them) and question.

    Raises:
        ValueError: a mark is no number, is more than the question is worth, or stands twice.
    """
    found: dict[tuple[str, str], Decimal] = {}
    wrong = []
    for row in rows:
        if not row.mark:
            continue
        key = row.student, row.question
        if row.question not in most:
            wrong.append(f"line {row.line}: no question {row.question!r} is marked by hand")
        elif not NUMBER.fullmatch(row.mark):
            wrong.append(f"line {row.line}: the mark {row.mark!r} is not a number")
        elif not 0 <= (mark := Decimal(row.mark.replace(",", "."))) <= most[row.question]:
            wrong.append(f"line {row.line}: {row.mark} is not between 0 and {most[row.question]}")
        elif key in found:
            wrong.append(f"line {row.line}: {row.student} has two marks for {row.question}")
        else:
            found[key] = mark
    if wrong:
        raise ValueError("written.csv:\n  " + "\n  ".join(wrong))
    return found


def kept(path: Path, fresh: list[list[str]]) -> tuple[dict[tuple[str, str], tuple], bool]:
    """The marks and comments of an older written.csv that hold, and whether any other would go.

    They stay where the answer is the same. `fresh` holds the rows to come: student, question,
    answer.
    """
    try:
        old = read(path)
    except ValueError:
        return {}, True
    answers = {(student, question): answer for student, question, answer in fresh}
    marks, lost = {}, False
    for row in old:
        key = row.student, row.question
        same = key in answers and typed(answers[key]).split() == typed(row.answer).split()
        if not row.mark and not row.comment:
            pass
        elif same and key not in marks:
            marks[key] = row.mark, row.comment
        else:
            lost = True
        lost = lost or row.more
    return marks, lost


def put_aside(path: Path) -> Path:
    """Give an older table a name that is free, so that a new one can be written."""
    aside = tables.free(path.with_name(f"{path.stem}-old{path.suffix}"))
    os.replace(path, aside)
    return aside
