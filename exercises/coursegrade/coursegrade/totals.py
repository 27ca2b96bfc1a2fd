"""Each hand-in's points in all: those of results.json, and those by hand of written.csv."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from . import overrides, reports, safe, written


class Total(NamedTuple):
    """What a hand-in is worth in all; `points` is None where that is not known."""

    result: dict
    points: Decimal | None
    why_not: str
    raw: Decimal | None = None  # before anything was taken off for being late
    late: int = 0  # seconds, where a policy asked for them
    extension: str = ""  # what a policy gives this student, in words
    comment: str = ""  # in HTML, for a column of comments


def results(folder) -> dict:
    """What `make grade` wrote into a folder, with the instructor's overrides.

    Raises:
        ValueError: there is none, or an older version wrote it, or a row of overrides.csv is wrong.
    """
    path = Path(folder) / "results.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ValueError(f"RESULTS must be a folder that make grade wrote, got {folder}") from None
    known = isinstance(content, dict) and {"title", "by_hand", "points"} <= set(content)
    if not known or any("source" not in result for result in content["results"]):
        raise ValueError(f"{path} was written by an older version: run make grade once more")
    content["results"], wrong = overrides.apply(folder, content, content["results"])
    if wrong:
        raise ValueError("\n".join(wrong))
    return content


def totals(folder, only_auto: bool = False) -> list[Total]:
    """Each hand-in's points in all, automatic ones and those by hand.

    Args:
        only_auto: leave the written questions out.

    Raises:
        ValueError: a mark in written.csv is not one, or is for nobody who handed in.
    """
    content = results(folder)
    given, begun = {}, set()
    if not only_auto and content["by_hand"]:
        rows = written.read(Path(folder) / "written.csv")
        given = written.points(rows, content["by_hand"], content.get("rubrics"))
        begun = {(row.student, row.question) for row in rows if row.marked}
    names = [safe.cell(result["student"]) for result in content["results"]]
    strangers = sorted({student for student, _ in given} - set(names))
    if strangers:
        raise ValueError(f"written.csv marks who handed nothing in: {', '.join(strangers)}")
    questions = [] if only_auto else list(content["by_hand"])
    found = []
    for result, name in zip(content["results"], names, strict=True):
        auto = reports.marks(result, content["points"])["auto"]
        missing = [
            q + " (not every item has a number)" * ((name, q) in begun)
            for q in questions
            if (name, q) not in given
        ]
        why = f"{result['status']}: {result['problem']}" if auto == "" else ""
        if not why and missing:
            why = f"no mark in written.csv for {', '.join(missing)}"
        if not why and given and names.count(name) > 1:
            why = "written.csv has two students of this name"
        points = None if why else auto + sum(given[name, question] for question in questions)
        points = None if why else Decimal(points)
        found.append(Total(result, points, why, points))
    return found


def most(content: dict, only_auto: bool = False) -> int:
    """The most that a hand-in can get."""
    return sum(content["points"].values()) + (0 if only_auto else sum(content["by_hand"].values()))
