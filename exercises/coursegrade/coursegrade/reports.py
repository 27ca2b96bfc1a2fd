"""What comes out: gradebook.csv, written.csv, results.json, and feedback for each student.

Whatever a student wrote is cleaned here: no control characters, no HTML, no spreadsheet formula.
"""

from __future__ import annotations

import csv
import hashlib
import html
import json
import os
import re
from pathlib import Path

from . import written
from .grade_one import FAULT, UNREADABLE

BLANK = {UNREADABLE, FAULT}
FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
STRANGE = re.compile(r"[^\x20-\x7e\n\u00a0-\u1fff\u2030-\ud7ff\uf900-\ufaff]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px/1.5 sans-serif;max-width:45em;margin:2em auto;padding:0 1em}}
td,th{{padding:.2em .6em;text-align:left;vertical-align:top}}</style></head>
<body>
{body}
</body></html>
"""


def clean(text) -> str:
    """Text that a terminal and a page can show: no escape sequences, no direction marks."""
    return STRANGE.sub("?", ESCAPES.sub("", str(text)))


def cell(text) -> str:
    """A table's cell in one line; what a spreadsheet would take for a formula gets a quote."""
    return _no_formula(clean(text).replace("\n", " "))


def whole(text) -> str:
    """A table's cell with every character that was written; only control characters go."""
    return _no_formula(CONTROL.sub("?", ESCAPES.sub("", str(text).replace("\r\n", "\n"))))


def _no_formula(text: str) -> str:
    number = re.fullmatch(r"-?\d+(\.\d+)?", text)
    return f"'{text}" if text.lstrip().startswith(FORMULA) and not number else text


def marks(record: dict, points: dict[str, int]) -> dict[str, int | str]:
    """Points by question and in all; blank, never zero, where nothing could be marked."""
    if record["status"] in BLANK:
        return {**dict.fromkeys(points, ""), "auto": ""}
    got = dict.fromkeys(points, 0)
    for row in record["rows"]:
        got[row["question"]] += row["points"] * row["ok"]
    return {**got, "auto": sum(got.values())}


def _write(path: Path, text: str) -> None:
    """All or nothing: an interrupted run leaves no half file."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="")
    os.replace(part, path)


def _csv(path: Path, header: list, rows: list[list], encoding: str = "utf-8") -> None:
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([header, *rows])
    os.replace(part, path)


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
        rows.append(line + [by_hand.get((student, question), "") for question in about["by_hand"]])
    texts = [
        [who, question, by_hand.get((who, question), ""), text] for who, question, text in texts
    ]
    _csv(out / "gradebook.csv", header, rows)
    _csv(out / "written.csv", written.COLUMNS, texts, "utf-8-sig")  # else Excel spoils "José"
    _write(out / "results.json", json.dumps({**about, "results": records}, indent=1))
    _feedback(out / "feedback", records, about["exercise"], points)
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
    return {key: cell(mark) for key, mark in by_hand.items()}, notes


def _feedback(folder: Path, records: list[dict], name: str, points: dict[str, int]) -> None:
    folder.mkdir(exist_ok=True)
    kept = set()
    for record in records:
        for suffix, make in ((".md", markdown), (".html", page)):
            path = folder / (file_name(record["student"]) + suffix)
            _write(path, make(record, name, points))
            kept.add(path)
    for path in folder.iterdir():
        if path not in kept and path.suffix in (".md", ".html"):
            path.unlink()


def file_name(student: str) -> str:
    """A safe file name, different for different students."""
    safe = re.sub(r"[^\w.-]+", "_", clean(student)).strip("._")[:80] or "student"
    short = hashlib.sha256(student.encode()).hexdigest()[:6]
    return safe if safe == student else f"{safe}-{short}"


def _lines(record: dict, points: dict[str, int]):
    """The story of a hand-in as (kind, text): a reader's words, whatever form they get."""
    if record["status"] == UNREADABLE:
        yield "p", f"Your hand-in could not be read: {record['problem']}. Please hand it in again."
        return
    if record["status"] == FAULT:
        yield "p", "Our grader had a fault. You have no marks yet; you need do nothing."
        return
    got = marks(record, points)
    yield "p", f"Automatic part: {got['auto']} of {sum(points.values())} points."
    if record["answers"]:
        yield "p", "Written answers are marked by hand."
    for number, words in record["cells"].items():
        yield "cell", f"cell {number}: {words}"
    for flag in record["flags"]:
        yield "note", f"for your marker: {flag}"
    for question, most in points.items():
        yield "h", f"{question.upper()}: {got[question]} of {most}"
        for row in record["rows"]:
            if row["question"] == question:
                yield "ok" if row["ok"] else "no", _result(row)


def _result(row: dict) -> str:
    name = row["hint"] or row["test"]
    worth = f"{row['points']} point{'s' * (row['points'] != 1)}"
    return f"{name} ({worth})" + ("" if row["ok"] else f" [{row['message']}]")


def markdown(record: dict, name: str, points: dict[str, int]) -> str:
    """Feedback in Markdown; what a student wrote can't become markup."""
    form = {"p": "{}\n", "h": "\n## {}\n", "cell": "- {}", "note": "- {}"}
    form |= {"ok": "- ✓ {}", "no": "- ✗ {}"}
    lines = [f"# {name}: {_plain(record['student'])}\n"]
    lines += [form[kind].format(_plain(text)) for kind, text in _lines(record, points)]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    line = html.escape(clean(text).replace("\n", " "), quote=False)
    return re.sub(r"([\\`*_\[\]()#!|~])", r"\\\1", line)


def page(record: dict, name: str, points: dict[str, int]) -> str:
    """Feedback as a page; everything is escaped, and no script or address is in it."""
    form = {"p": "<p>{}</p>", "h": "<h2>{}</h2>", "cell": "<p>{}</p>", "note": "<p>{}</p>"}
    form |= {"ok": "<p>✓ {}</p>", "no": "<p>✗ {}</p>"}
    title = html.escape(f"{name}: {clean(record['student'])}")
    lines = [f"<h1>{title}</h1>"]
    lines += [form[kind].format(html.escape(clean(text))) for kind, text in _lines(record, points)]
    return PAGE.format(title=title, body="\n".join(lines))
