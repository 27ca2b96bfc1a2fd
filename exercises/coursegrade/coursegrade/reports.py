"""What comes out: gradebook.csv, written.csv, results.json, and feedback for each student.

Whatever a student wrote is made safe on the way: no control characters, no HTML, no formula.
"""

from __future__ import annotations

import csv
import io
import json
import os
from decimal import Decimal
from pathlib import Path

from . import feedback, written
from .grade_one import FAULT, UNREADABLE
from .safe import cell, file_name, typed, whole

BLANK = {UNREADABLE, FAULT}


def marks(record: dict, points: dict[str, int]) -> dict[str, int | str]:
    """Points by question and in all; blank, never zero, where nothing could be marked."""
    if record["status"] in BLANK:
        return {**dict.fromkeys(points, ""), "auto": ""}
    got = dict.fromkeys(points, 0)
    for row in record["rows"]:
        got[row["question"]] += row["points"] * row["ok"]
    return {**got, "auto": sum(got.values())}


def put(path: Path, content: str | bytes) -> None:
    """Write a file, all or nothing: an interrupted run leaves no half file."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content.encode() if isinstance(content, str) else content)
    os.replace(part, path)


def table(path: Path, header: list, rows: list[list], encoding: str = "utf-8") -> None:
    """Write a CSV file; each cell in quotes, whatever stands in it."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    put(path, text.getvalue().encode(encoding))


def write(out: Path, about: dict, records: list[dict]) -> list[str]:
    """Write every report; feedback of students who are no longer there is removed.

    Marks that stand in an older written.csv stay where the answer is the same. The old table is put
    aside if anything else that a person wrote would go; what was put aside is returned, in words.

    Args:
        about: what the exercise is: `exercise`, `title`, `salt`, and `points` and `by_hand`, the
            most that each coded and each written question gives.
    """
    points = about["points"]
    texts = [
        [cell(record["student"]), question, whole(record["answers"].get(question, ""))]
        for record in records
        if record["status"] not in BLANK
        for question in sorted({*about["by_hand"], *record["answers"]})
    ]
    by_hand, notes = _hand_marks(out, texts)
    header = ["student", "status", "notes", *points, "auto", "auto_max"]
    header += [f"{question}_by_hand" for question in about["by_hand"]]
    rows = []
    for record in records:
        student = cell(record["student"])
        line = [student, record["status"], cell(_notes(record))]
        line += [*marks(record, points).values(), sum(points.values())]
        rows.append(line + [by_hand.get((student, q), ("", ""))[0] for q in about["by_hand"]])
    texts = [
        [who, question, *by_hand.get((who, question), ("", "")), text]
        for who, question, text in texts
    ]
    table(out / "gradebook.csv", header, rows)
    table(out / "written.csv", written.COLUMNS, texts, "utf-8-sig")  # else Excel spoils "José"
    put(out / "results.json", json.dumps({**about, "results": records}, indent=1))
    tell(out / "feedback", stories(about, records, by_hand))
    return notes


def _notes(record: dict) -> str:
    return "; ".join([record["problem"], *record["flags"]]).strip("; ")


def _hand_marks(out: Path, texts: list[list[str]]) -> tuple[dict, list[str]]:
    """Marks to carry over, made safe, and what was put aside for not being carried over."""
    by_hand, lost = written.kept(out / "written.csv", texts)
    notes = []
    if lost:
        aside = written.put_aside(out / "written.csv")
        notes.append(
            f"an answer changed after it was marked, or you added columns: see your {aside.name}"
        )
    return {key: (cell(mark), whole(comment)) for key, (mark, comment) in by_hand.items()}, notes


def stories(about: dict, records: list[dict], by_hand: dict) -> list[feedback.Story]:
    """What each student is told.

    Args:
        by_hand: mark and comment, as written.csv has them, by student and question.
    """
    found = []
    for record in records:
        got = marks(record, about["points"])
        hands = {}
        for question, most in about["by_hand"].items():
            mark, comment = by_hand.get((cell(record["student"]), question), ("", ""))
            known = Decimal(mark.replace(",", ".")) if written.NUMBER.fullmatch(mark) else None
            hands[question] = feedback.Hand(known, most, typed(comment))
        del got["auto"]
        found.append(feedback.Story(record, about["exercise"], got, about["points"], hands))
    return found


def tell(folder: Path, told: list[feedback.Story]) -> None:
    """Write each student's feedback, and remove that of students who are no longer there."""
    folder.mkdir(exist_ok=True)
    kept = set()
    for story in told:
        for suffix, make in ((".md", feedback.markdown), (".html", feedback.page)):
            path = folder / (file_name(story.record["student"]) + suffix)
            put(path, make(story))
            kept.add(path)
    for path in folder.iterdir():
        if path not in kept and path.suffix in (".md", ".html"):
            path.unlink()
