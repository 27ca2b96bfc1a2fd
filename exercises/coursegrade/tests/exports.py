"""Exports as Canvas and Moodle write them, and results as `make grade` leaves them."""

import csv
import io
from pathlib import Path

from coursegrade import reports
from coursegrade.exercise import Exercise
from coursegrade.task import GRADED

EXERCISE = Exercise(Path(__file__).resolve().parents[2] / "01_cues")
MOST = sum(EXERCISE.points().values())
CANVAS = """\
"Student","ID","SIS User ID","SIS Login ID","Section","Exercises 1 (901)","Exercises 2 (902)","Final Score"
,,,,,"    Manual Posting",,
"    Points Possible","","","","","32.00","20.00","(read only)"
"Lovelace, Ada","55","S1","ada","A and B","","7.00","35.00"
"Turing, Alan M.","56","S2","alan","A","3.00","","0.00"
"Hopper, Grace","57","S3","grace","A","EX","","0.00"
"Noether, Emmy","58","S4","emmy","B","","",""
"Student, Test","99","","","A","","",""
"""
MOODLE = """\
"First name",Surname,"ID number",Institution,Department,"Email address","Assignment: Exercises 1 (Real)","Assignment: Exercises 1 (Percentage)","Course total (Real)","Last downloaded from this course"
Ada,Lovelace,S1,,,ada@example.org,-,-,-,1790000000
Alan,"O'Turing",S2,,,alan@example.org,12.00,37.50,12.00,1790000000
Grace,Hopper,S3,,,grace@example.org,-,-,-,1790000000
Grace,Hopper,S4,,,hopper@example.org,-,-,-,1790000000
"""
WORKSHEET = '''\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed","Last modified (grade)","Feedback comments"
"Participant 123","Ada Lovelace",ada@example.org,Submitted,,"32,00",Yes,-,
"Participant 77","Alan Turing",alan@example.org,Submitted,"3,00","32,00",No,-,
"Participant 78","Grace Hopper",grace@example.org,Submitted,,"32,00",Yes,-,"good, ""so far"""
'''


def record(name, points=MOST, source="folder", id="", status=GRADED, answers=None):
    """A record as results.json holds it, with one row of the points that were got."""
    rows = [{"question": "q1", "points": points, "ok": True, "hidden": True, "test": "t"}]
    rows[0] |= {"hint": "A hint.", "message": ""}
    return {
        **{"student": f"{name}_{id}" if id else name, "status": status, "problem": ""},
        **{"flags": [], "cells": {}, "rows": [] if status in reports.BLANK else rows},
        **{"answers": {"q5": "Because."} if answers is None else answers, "seconds": 0.1},
        **{"name": name, "id": id, "source": source, "file": f"{name}_{id}_90{id}_a.ipynb"},
    }


def write_results(out, *records, **more):
    about = {"exercise": EXERCISE.name, "title": EXERCISE.title(), "salt": "a"}
    about |= {"points": EXERCISE.points(), "by_hand": {"q5": 4}} | more
    out.mkdir(exist_ok=True)
    return reports.write(out, about, sorted(records, key=lambda r: r["student"]))


def table(path, **how):
    """The rows of a table as dictionaries."""
    text = path.read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), **how))


def change(path, edit, encoding="utf-8-sig", delimiter=","):
    """What a person does to a table in a spreadsheet, which saves it in its own form."""
    rows = table(path)
    for row in rows:
        edit(row)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, rows[0], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding, "replace"))


def mark_by_hand(out, comment="", **marks):
    """What a marker does to written.csv."""
    path = out / "written.csv"
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    for row in rows[1:]:
        name = row[0].split("_")[0].split()[0].lower()
        row[2], row[3] = marks.get(name, row[2]), comment if name in marks else row[3]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
