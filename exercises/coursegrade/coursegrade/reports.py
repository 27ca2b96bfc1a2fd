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

from . import edits, feedback, overrides, written
from .safe import cell, file_name, whole
from .task import FAULT, UNREADABLE

BLANK = {UNREADABLE, FAULT}


def points_of_tests(record: dict, points: dict[str, int]) -> dict[str, int | str]:
    """The tests' points by question; blank, never zero, where nothing could be marked."""
    if record["status"] in BLANK:
        return dict.fromkeys(points, "")
    got = dict.fromkeys(points, 0)
    for row in record["rows"]:
        got[row["question"]] += row["points"] * row["ok"]
    return got


def marks(record: dict, points: dict[str, int]) -> dict[str, int | Decimal | str]:
    """What counts by question and in all: an instructor's points stand before those of tests."""
    given = {q: override.points for q, override in record.get("override", {}).items()}
    got = {**points_of_tests(record, points), **given}
    return {**got, "auto": "" if "" in got.values() else sum(got.values())}


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
    aside if anything else that a person wrote would go. Returned is what a person should know.

    Args:
        about: what the exercise is: `exercise`, `title`, `salt`, `points` and `by_hand`, the most
            that each coded and each written question gives, and `rubrics` of written ones.
    """
    put(out / "results.json", json.dumps({**about, "results": records}, indent=1))
    overrides.begin(out)
    records, wrong = overrides.apply(out, about, records)
    texts = [
        [cell(record["student"]), question, whole(record["answers"].get(question, ""))]
        for record in records
        if marks(record, about["points"])["auto"] != ""
        for question in sorted({*about["by_hand"], *record["answers"]})
    ]
    texts = [[*text, rubric(about, text[1])] for text in texts]
    rows, notes = _hand_marks(out, texts)
    written_table(out / "written.csv", about, rows)
    by_hand, _ = written.hands(rows, about["by_hand"], about.get("rubrics", {}))
    notes += [f"not counted: {words}" for words in wrong] + gradebook(out, about, records, by_hand)
    tell(out / "feedback", stories(about, records, by_hand))
    return notes


def rubric(about: dict, question: str) -> str:
    """The rubric of a written question for the eyes of a marker, in a cell."""
    items = about.get("rubrics", {}).get(question, [])
    return whole("\n".join(f"{i}. {words} ({most})" for i, (words, most) in enumerate(items, 1)))


def written_table(path: Path, about: dict, rows: list[written.HandMark]) -> None:
    """Write a table for a marker, with a column for each item of the longest rubric."""
    n = max(map(len, [*about.get("rubrics", {}).values(), *(row.items for row in rows)]), default=0)
    header = ["student", "question", "mark", "comment", *(f"item {i + 1}" for i in range(n))]
    header += ["rubric"] * bool(n) + ["answer"]
    lines = []
    for row in rows:
        items = [cell(text) for text in row.items] + [""] * (n - len(row.items))
        line = [row.student, row.question, cell(row.mark), whole(row.comment), *items]
        lines.append(line + [row.rubric] * bool(n) + [row.answer])
    table(path, header, lines, "utf-8-sig")  # else Excel spoils "José"


def gradebook(out: Path, about: dict, records: list[dict], by_hand: dict) -> list[str]:
    """Write gradebook.csv; what a person changed in the last one is said.

    Args:
        by_hand: what a person gave each written answer, by student and question.
    """
    points, rubrics = about["points"], about.get("rubrics", {})
    changed = {question for record in records for question in record["override"]}
    header = ["student", "status", "notes"]
    header += [f"{q}{end}" for q in points for end in ("", "_override")[: 1 + (q in changed)]]
    header += ["auto", "auto_max"]
    header += [
        f"{q}_{end}" for q in about["by_hand"] for end in ("by_hand", "items")[: 1 + (q in rubrics)]
    ]
    rows = []
    for record in records:
        student, counts = cell(record["student"]), marks(record, points)
        row = [student, record["status"], cell(_notes(record))]
        for question, raw in points_of_tests(record, points).items():
            row.append(raw)
            if question in changed:
                row.append(_number(counts[question]) if question in record["override"] else "")
        row += [_number(counts["auto"]), sum(points.values())]
        for question in about["by_hand"]:
            given = by_hand.get((student, question), feedback.Hand(None, 0, ""))
            row.append("" if given.mark is None else feedback.number(given.mark))
            if question in rubrics:
                row.append(" | ".join(feedback.number(item.got) for item in given.items))
        rows.append(row)
    path, last = out / "gradebook.csv", out / ".gradebook.csv"
    notes = [note] if (note := edits.note_on(path, last)) else []
    for one in (last, path):
        table(one, header, rows)
    for record in records:
        raw = points_of_tests(record, points)
        notes += [
            f"{overrides.NAME} gives {cell(record['student'])} less than the tests in {question}: "
            f"{feedback.number(override.points)}, not {raw[question]}"
            for question, override in record["override"].items()
            if raw[question] != "" and override.points < raw[question]
        ]
    return notes


def _number(value) -> str:
    return "" if value == "" else feedback.number(value)


def _notes(record: dict) -> str:
    given = [
        f"{question}: {feedback.number(points)} by {overrides.NAME}: {reason}"
        for question, (points, reason) in record["override"].items()
    ]
    return "; ".join([record["problem"], *given, *record["flags"]]).strip("; ")


def _hand_marks(out: Path, texts: list[list[str]]) -> tuple[list[written.HandMark], list[str]]:
    """The rows of written.csv with the marks that are carried over, and what was put aside."""
    kept, lost, other = written.merge(out / "written.csv", texts)
    notes = [f"the rubric of {question} changed after answers were marked" for question in other]
    if lost:
        aside = written.put_aside(out / "written.csv")
        notes.append(
            f"an answer changed after it was marked, or you added columns: see your {aside.name}"
        )
    rows = []
    for student, question, answer, words in texts:
        fresh = written.HandMark(student, question, "", "", answer, rubric=words)
        old = kept.get((student, question), fresh)
        rows.append(old._replace(answer=answer, rubric=words))
    return rows, notes


def stories(about: dict, records: list[dict], by_hand: dict) -> list[feedback.Story]:
    """What each student is told.

    Args:
        by_hand: what a person gave each written answer, by student and question.
    """
    found = []
    for record in records:
        got = marks(record, about["points"])
        del got["auto"]
        hands = {
            q: by_hand.get((cell(record["student"]), q), feedback.Hand(None, most, ""))
            for q, most in about["by_hand"].items()
        }
        points, raw = about["points"], points_of_tests(record, about["points"])
        found.append(feedback.Story(record, about["exercise"], got, points, hands, raw=raw))
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
