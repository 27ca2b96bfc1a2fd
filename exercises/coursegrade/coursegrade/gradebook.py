"""Fill the instructor's own export: points from results.json, hand marks from written.csv.

No student and no column is ever added, and a cell without a known mark stays as it is: a fault of
ours, an unreadable hand-in and an answer that nobody has marked are not zero.
"""

from __future__ import annotations

import json
import os
import re
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import reports, roster, written

EMPTY = {"", "-", "–"}  # Moodle writes a dash where there is no grade
NUMBER = re.compile(r"-?\d+([.,]\d+)?")
COMMA = re.compile(r"-?\d+,\d+")
POINT = re.compile(r"-?\d+\.\d+")


class Total(NamedTuple):
    """What a hand-in is worth in all; `points` is None where that is not known."""

    result: dict
    points: Decimal | None
    why_not: str


def results(folder) -> dict:
    """What `make grade` wrote into a folder.

    Raises:
        ValueError: there is none, or an older version wrote it.
    """
    path = Path(folder) / "results.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ValueError(f"RESULTS must be a folder that make grade wrote, got {folder}") from None
    known = isinstance(content, dict) and {"title", "by_hand", "points"} <= set(content)
    if not known or any("source" not in result for result in content["results"]):
        raise ValueError(f"{path} was written by an older version: run make grade once more")
    return content


def totals(folder, only_auto: bool = False) -> list[Total]:
    """Each hand-in's points in all, automatic ones and those by hand.

    Args:
        only_auto: leave the written questions out.

    Raises:
        ValueError: a mark in written.csv is not one, or is for nobody who handed in.
    """
    content = results(folder)
    given = {}
    if not only_auto and content["by_hand"]:
        rows = written.read(Path(folder) / "written.csv")
        given = written.points(rows, content["by_hand"])
    names = [reports.cell(result["student"]) for result in content["results"]]
    strangers = sorted({student for student, _ in given} - set(names))
    if strangers:
        raise ValueError(f"written.csv marks who handed nothing in: {', '.join(strangers)}")
    questions = [] if only_auto else list(content["by_hand"])
    found = []
    for result, name in zip(content["results"], names, strict=True):
        auto = reports.marks(result, content["points"])["auto"]
        missing = [question for question in questions if (name, question) not in given]
        why = f"{result['status']}: {result['problem']}" if auto == "" else ""
        if not why and missing:
            why = f"no mark in written.csv for {', '.join(missing)}"
        if not why and given and names.count(name) > 1:
            why = "written.csv has two students of this name"
        points = None if why else auto + sum(given[name, question] for question in questions)
        found.append(Total(result, None if why else Decimal(points), why))
    return found


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


def _owners(book: roster.Roster, found: list[Total]) -> tuple[dict[int, Total], set, list[str]]:
    """Whose hand-in is whose, by row; the rows that some hand-in may be of; what is not certain."""
    rows: dict[int, list[Total]] = {}
    notes = []
    for total in found:
        people = book.find(total.result)
        who = total.result["student"]
        if not people:
            notes.append(f"not in the roster: {who}")
        elif len(people) > 1:
            labels = "; ".join(person.label for person in people)
            notes.append(f"left as it was: {who} may be any of {labels}")
        for person in people:
            rows.setdefault(person.row, []).append(total if len(people) == 1 else None)
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
        (person.row, column): f"'{cell.text}"
        for person in book.people
        for column, cell in enumerate(book.table.rows[person.row])
        if runs(cell.text)
    }


def runs(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula. Numbers and a lone dash are none."""
    if text.strip() in EMPTY or NUMBER.fullmatch(text.strip()):
        return False
    return text.startswith(("\t", "\r")) or text.lstrip().startswith(reports.FORMULA)


def _writes_commas(book: roster.Roster) -> bool:
    """Whether the export's numbers have a decimal comma."""
    texts = [cell.text.strip() for row in book.table.rows for cell in row]
    return any(map(COMMA.fullmatch, texts)) and not any(map(POINT.fullmatch, texts))


def write(folder, path, out=None, column: str = "", only_auto: bool = False) -> tuple[Path, Filled]:
    """Fill the export at `path` with the results in `folder`; nothing that exists is overwritten.

    Args:
        out: the file to write; by default ``NAME-filled.csv`` beside the export.
        column: which column; by default the one that is called as the exercise.

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
    book = roster.read(path)
    title = content["title"]
    guesses = tuple(dict.fromkeys((title, title.partition(":")[0].strip(), content["exercise"])))
    place = book.column(column, guesses)
    filled = fill(book, totals(folder, only_auto), place)
    notes = _differs(book, place, content, only_auto) + filled.notes
    _save(target, filled.content)
    return target, filled._replace(notes=notes)


def _differs(book: roster.Roster, place: int, content: dict, only_auto: bool) -> list[str]:
    """A warning where the export's column has another maximum: nothing is scaled."""
    most = sum(content["points"].values())
    most += 0 if only_auto else sum(content["by_hand"].values())
    said = book.possible(place)
    if NUMBER.fullmatch(said) and Decimal(said.replace(",", ".")) != most:
        return [f"the export says that the most is {said}, here it is {most}: nothing is scaled"]
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
