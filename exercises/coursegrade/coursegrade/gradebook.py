"""Fill the instructor's own export: points from results.json, hand marks from written.csv.

No student and no column is ever added, and a cell without a known mark stays as it is: a fault of
ours, an unreadable hand-in and an answer that nobody has marked are not zero.
"""

from __future__ import annotations

import os
import re
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import late, returns, roster
from .safe import cell, no_formula
from .totals import Total, most, results, totals

EMPTY = {"", "-", "–"}  # Moodle writes a dash where there is no grade
NUMBER = re.compile(r"-?\d+([.,]\d+)?")
COMMA = re.compile(r"-?\d+,\d+")
OURS = "<p>Total: "  # how a comment of ours begins
POINT = re.compile(r"-?\d+\.\d+")


class Filled(NamedTuple):
    """A filled export, and what a person should know of it."""

    content: bytes
    column: str
    marks: int
    notes: list[str]


def fill(book: roster.Roster, found: list[Total], place: int) -> Filled:
    """Put totals into a column of a roster; cells that a spreadsheet would run get a quote.

    Only students' rows are made safe: the header and Canvas's own rows are the instructor's.
    """
    owner, claimed, notes = _owners(book, found)
    changes, marks = _safe_cells(book), 0
    quoted = [f"row {row + 1}, {book.table.header[column]}" for row, column in sorted(changes)]
    comma = _writes_commas(book)
    for row, total in sorted(owner.items()):
        label = book.text(row, "student", "full name") or total.result["student"]
        after, note = _mark(book, row, place, total, label)
        if after is not None:
            changes[row, place] = after.replace(".", ",") if comma else after
        notes += [note] if note else []
        notes += [f"late: {label} ({book.late(row)})"] if book.late(row) else []
        marks += not note.startswith("left")
        if not note.startswith("left"):
            comment, note = _comment(book, row, total.comment, label)
            changes |= comment
            notes += [note] if note else []
    notes += [f"no hand-in: {person.label}" for person in book.people if person.row not in claimed]
    if quoted:
        notes.append(f"cells that a spreadsheet would run got a quote: {'; '.join(quoted)}")
    return Filled(book.table.with_cells(changes), book.table.header[place], marks, notes)


def _mark(book, row: int, place: int, total: Total, label: str) -> tuple[str | None, str]:
    """A cell's new text, or None where it stays; and what is to be said."""
    cells = book.table.rows[row]
    before = cells[place].text.strip() if place < len(cells) else ""
    why = total.why_not or _locked(book, row, before)
    if not why and place >= len(cells):
        why = "the row is shorter than the header"
    if why:
        return None, f"left as it was: {label} ({why})"
    after = format(total.points.normalize(), "f")
    if before in EMPTY:
        return after, ""
    if Decimal(before.replace(",", ".")) == total.points:
        return None, ""  # it is there already, in the export's own form
    return after, f"replaced: {label} had {before}, has {after} now"


def _comment(book, row: int, after: str, label: str) -> tuple[dict, str]:
    """The change of Moodle's column "Feedback comments"; a person's own comment stays."""
    column = book.comments()
    if column is None or column >= len(book.table.rows[row]) or not after:
        return {}, ""
    before = book.table.rows[row][column].text.strip()
    if before and not before.startswith(OURS):
        return {}, f"comment left as it was: {label}"
    return {(row, column): after}, ""


def _owners(book: roster.Roster, found: list[Total]) -> tuple[dict[int, Total], set, list[str]]:
    """Whose hand-in is whose, by row; the rows that some hand-in may be of; what is not certain."""
    rows: dict[int, list[Total]] = {}
    notes = []
    for total in found:
        people, why, note = book.owners(total.result)
        who = total.result["student"]
        if not people:
            notes.append(f"not in the roster: {who}")
        elif why:
            notes.append(f"left as it was: {who} {why}")
        notes += [note] if note else []
        for person in people:
            rows.setdefault(person.row, []).append(None if why else total)
    owner = {}
    for row, several in rows.items():
        certain = [total for total in several if total is not None]
        if len(several) == 1 and certain:
            owner[row] = certain[0]
        elif certain:
            names = ", ".join(total.result["student"] for total in certain)
            notes.append(f"left as it was: more than one hand-in may be one student's: {names}")
    return owner, set(rows), notes


def _locked(book: roster.Roster, row: int, before: str) -> str:
    """Why a cell is not ours to write: excused, not assigned, closed."""
    if before not in EMPTY and not NUMBER.fullmatch(before):
        return f"the cell says {before!r}"
    if book.text(row, "grade can be changed").lower() == "no":
        return "Moodle says that the grade can't be changed"
    return ""


def _safe_cells(book: roster.Roster) -> dict[tuple[int, int], str]:
    return {
        (person.row, column): no_formula(cell.text)
        for person in book.people
        for column, cell in enumerate(book.table.rows[person.row])
        if no_formula(cell.text) != cell.text
        and cell.text.strip() not in EMPTY
        and not NUMBER.fullmatch(cell.text.strip())
    }


def _writes_commas(book: roster.Roster) -> bool:
    """Whether the export's numbers have a decimal comma."""
    texts = [cell.text.strip() for row in book.table.rows for cell in row]
    return any(map(COMMA.fullmatch, texts)) and not any(map(POINT.fullmatch, texts))


def write(
    folder,
    path,
    out=None,
    column: str = "",
    only_auto: bool = False,
    policy: late.Policy | None = None,
    groups=None,
) -> tuple[Path, Filled]:
    """Fill the export at `path` with the results in `folder`; nothing that exists is overwritten.

    In `folder` the feedback becomes complete, and totals.csv and the archives are written.

    Args:
        out: the file to write; by default ``NAME-filled.csv`` beside the export.
        column: which column; by default the one that is called as the exercise.
        groups: the file of Canvas's group set: each member gets the mark of the group's hand-in.

    Raises:
        ValueError: the files are not what they should be, or `out` is there already.
    """
    path, content = Path(path), results(folder)
    if not path.is_file():
        raise ValueError(f"ROSTER must be an export of Canvas or Moodle, there is no {path}")
    target = roster.tables.free(path.with_name(f"{path.stem}-filled{path.suffix}"))
    if out is not None:
        target = Path(out) / f"{path.stem}-filled{path.suffix}" if Path(out).is_dir() else Path(out)
    if target.exists() or target.is_symlink():
        raise ValueError(f"OUT is there already and is not overwritten: {target}")
    book = roster.read(path, groups)
    title = content["title"]
    guesses = tuple(dict.fromkeys((title, title.partition(":")[0].strip(), content["exercise"])))
    place = book.column(column, guesses)
    found, notes = totals(folder, only_auto), []
    if policy:
        notes = late.nobodys(policy, found)
        told = _told(book, found, policy)
        found = late.apply(policy, found, most(content, only_auto), told)
    told = returns.stories(folder, content, found, only_auto)
    filled = fill(book, returns.with_comments(found, told), place)
    notes += _differs(book, place, content, only_auto) + filled.notes
    _save(target, filled.content)
    notes += returns.write(folder, content, found, told)
    return target, filled._replace(notes=notes)


def _told(book: roster.Roster, found: list[Total], policy: late.Policy) -> dict[str, str] | None:
    """How late each student was, in the roster's words; None where it doesn't tell.

    Raises:
        ValueError: Moodle and the policy both give a student more time: it would count twice.
    """
    if book.shape is not roster.WORKSHEET:
        return None
    told = {}
    for total in found:
        people = book.find(total.result)
        if len(people) == 1:
            student, row = total.result["student"], people[0].row
            told[student] = book.late(row)
            if cell(student) in policy.due_dates and book.extended(row):
                raise ValueError(
                    f"LATE: Moodle counts from the extension that it granted {cell(student)}: "
                    "take this student out of due_dates"
                )
    return told


def _differs(book: roster.Roster, place: int, content: dict, only_auto: bool) -> list[str]:
    """A warning where the export's column has another maximum: nothing is scaled."""
    here, said = most(content, only_auto), book.possible(place)
    if NUMBER.fullmatch(said) and Decimal(said.replace(",", ".")) != here:
        return [f"the export says that the most is {said}, here it is {here}: nothing is scaled"]
    return []


def _save(path: Path, content: bytes) -> None:
    """All or nothing, and never over a file that is there."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    try:
        os.link(part, path)  # unlike a rename, it refuses
    except FileExistsError:
        raise ValueError(f"OUT is there already and is not overwritten: {path}") from None
    except OSError:  # a file system without links
        if path.exists():
            raise ValueError(f"OUT is there already and is not overwritten: {path}") from None
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
