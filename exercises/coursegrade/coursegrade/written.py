"""written.csv: what a person adds to it is read here, and never lost by grading again."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import tables
from .feedback import Hand, Item, number
from .safe import as_text

NEEDED = {"student", "question", "mark", "answer"}  # older tables have no comments
COLUMNS = {*NEEDED, "comment", "rubric"}
ITEM = re.compile(r"item ([1-9]\d?)", re.IGNORECASE)
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")

Rubric = list[list[str]]  # of each item: what it asks for, and its points


class HandMark(NamedTuple):
    """A row of written.csv; `mark` and `items` as they were typed, "" before that."""

    student: str
    question: str
    mark: str
    comment: str  # for the student
    answer: str
    more: bool = False  # a column that is not ours has something in it
    line: int = 0
    items: tuple[str, ...] = ()
    rubric: str = ""

    @property
    def marked(self) -> bool:
        """Whether somebody has begun to mark it."""
        return bool(self.mark or any(self.items))


def read(path: Path) -> list[HandMark]:
    """The rows of a written.csv, also after a spreadsheet has saved it; none if it is not there.

    Raises:
        ValueError: the file is another one, or cut short.
    """
    if not path.is_file():
        return []
    table = tables.read(path, lambda header: NEEDED <= set(_names(header)), f"a {path.name}")
    header = _names(table.header)
    ours = {name: header.index(name) for name in header if name in COLUMNS}
    items = {int(m[1]): i for i, name in enumerate(header) if (m := ITEM.fullmatch(name))}
    found = []
    for line, row in enumerate(table.rows[1:], start=2):
        cells = [cell.text for cell in row] + [""] * len(table.header)
        if any(cells):
            texts = {"comment": ""} | {name: cells[place] for name, place in ours.items()}
            texts |= {name: as_text(texts[name].strip()) for name in ("mark", "comment")}
            numbers = range(1, max(items, default=0) + 1)
            got = tuple(as_text(cells[items[n]].strip()) if n in items else "" for n in numbers)
            rest = (x for i, x in enumerate(cells) if i not in {*ours.values(), *items.values()})
            more = any(map(str.strip, rest))
            found.append(HandMark(**texts, more=more, line=line, items=got))
    return found


def _names(header: list[str]) -> list[str]:
    """The columns' names; a program may take the byte-order mark for a part of the first one."""
    return [name.strip('\ufeff"') for name in header]


def points_of(text: str, most, what: str) -> Decimal:
    """A number that a person typed, from 0 to `most`; spreadsheets may write a decimal comma.

    Raises:
        ValueError: it is none.
    """
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{what} {text!r} is not a number")
    if not 0 <= (value := Decimal(text.replace(",", "."))) <= Decimal(most):
        raise ValueError(f"{what} {text} is not between 0 and {most}")
    return value


def hand(row: HandMark, most: dict[str, int], rubrics: dict[str, Rubric]) -> Hand:
    """What a row gives: the mark is typed, or is the sum of its items once all have a number.

    Raises:
        ValueError: a number is none, or is too large, or the mark is not the sum of the items.
    """
    if row.question not in most:
        raise ValueError(f"no question {row.question!r} is marked by hand")
    rubric, of = rubrics.get(row.question, []), most[row.question]
    mark = points_of(row.mark, of, "the mark") if row.mark else None
    items = {n: text for n, text in enumerate(row.items) if text}
    if items and max(items) >= len(rubric):
        raise ValueError(f"it has {len(rubric)} items, and item {max(items) + 1} is filled in")
    got = {n: points_of(text, rubric[n][1], f"item {n + 1}:") for n, text in items.items()}
    total = sum(got.values())
    if got and mark is not None and total != mark:
        raise ValueError(
            f"the items sum to {number(total)}, the mark is {row.mark}: empty the one or the others"
        )
    if mark is None and got and len(got) == len(rubric):
        mark = total
    each = [Item(words, n, got.get(i, Decimal(0))) for i, (words, n) in enumerate(rubric)]
    return Hand(mark, of, row.comment, tuple(each) if got and mark is not None else ())


def hands(
    rows: list[HandMark], most: dict[str, int], rubrics: dict[str, Rubric]
) -> tuple[dict[tuple[str, str], Hand], list[str]]:
    """What was given, by student (as the table writes them) and question; and what is wrong."""
    found: dict[tuple[str, str], Hand] = {}
    wrong = []
    for row in rows:
        key = row.student, row.question
        given = Hand(None, most.get(row.question, 0), row.comment)
        try:
            given = hand(row, most, rubrics) if row.marked else given
        except ValueError as problem:
            wrong.append(f"line {row.line}: {row.student}, {row.question}: {problem}")
        if key in found and None not in (found[key].mark, given.mark):
            wrong.append(f"line {row.line}: {row.student} has two marks for {row.question}")
        elif key not in found or given.mark is not None:
            found[key] = given
    return found, wrong


def points(
    rows: list[HandMark], most: dict[str, int], rubrics: dict[str, Rubric] | None = None
) -> dict[tuple[str, str], Decimal]:
    """The marks that were given, where nothing may be wrong.

    Raises:
        ValueError: a mark is no number, is more than the question is worth, or stands twice.
    """
    found, wrong = hands(rows, most, rubrics or {})
    if wrong:
        raise ValueError("written.csv:\n  " + "\n  ".join(wrong))
    return {key: given.mark for key, given in found.items() if given.mark is not None}


def merge(
    path: Path, fresh: list[list[str]]
) -> tuple[dict[tuple[str, str], HandMark], bool, list[str]]:
    """The rows of an older written.csv that hold what a person wrote.

    They stay where the answer is the same. Also said is whether any other would go, and of which
    questions the rubric was another one.

    Args:
        fresh: the rows to come: student, question, answer, rubric.
    """
    try:
        old = read(path)
    except ValueError:
        return {}, True, []
    answers = {(student, question): rest for student, question, *rest in fresh}
    marks, lost, other = {}, False, set()
    for row in old:
        key = row.student, row.question
        answer, rubric = answers.get(key, (None, ""))
        same = answer is not None and alike(as_text(answer), as_text(row.answer))
        if not row.marked and not row.comment:
            pass
        elif same and key not in marks:
            marks[key] = row
            if row.marked and row.rubric and not alike(row.rubric, rubric):
                other.add(row.question)
        else:
            lost = True
        lost = lost or row.more
    return marks, lost, sorted(other)


def alike(one: str, other: str) -> bool:
    """Whether two texts are one, also where a spreadsheet saved "?" for letters that it lacks."""
    one, other = (re.sub(r"[?\x80-\U0010ffff]+", "?", " ".join(x.split())) for x in (one, other))
    return one == other


def put_aside(path: Path) -> Path:
    """Give an older table a name that is free, so that a new one can be written."""
    aside = tables.free(path.with_name(f"{path.stem}-old{path.suffix}"))
    os.replace(path, aside)
    return aside
