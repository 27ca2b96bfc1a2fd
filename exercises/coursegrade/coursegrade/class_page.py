"""A page on the class: how the points are spread, what each question and test gave, and why.

One file, without scripts and addresses, for the instructor alone: it names students.
"""

from __future__ import annotations

import html
import statistics
from pathlib import Path

from . import mutants, reports, totals
from .exercise import Exercise
from .feedback import number
from .notebook import NOT_YET
from .safe import clean

BARS = 12  # at most, in the histogram
STYLE = """body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:left;vertical-align:top}
th{border-bottom:1px solid}tr+tr td{border-top:1px solid #ddd}td.n,th.n{text-align:right}
td.n,summary{white-space:nowrap}
svg{max-width:100%}rect{fill:#3b6ea5}text{font:13px sans-serif}"""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}: the class</title>
<style>{style}</style></head>
<body>
{body}
</body></html>
"""


def write(exercise: Exercise, folder) -> Path:
    """Write ``class.html`` into the folder that `make grade` wrote.

    Raises:
        ValueError: the folder holds no results, or another exercise's or form's.
    """
    folder, content = Path(folder), totals.results(folder)
    if content["exercise"] != exercise.name:
        raise ValueError(f"RESULTS holds {content['exercise']}, and EX is {exercise.name}")
    if content.get("form", "") != exercise.form:
        raise ValueError(f"RESULTS and EX are two forms of {exercise.name}: give the variant's EX")
    table = mutants.failure_table(exercise, content["salt"], folder)
    path = folder / "class.html"
    reports.put(path, page(content, totals.totals(folder), table))
    return path


def page(content: dict, found: list[totals.Total], table: dict[str, list[str]]) -> str:
    """The page.

    Args:
        content: of results.json.
        found: what each hand-in is worth in all.
        table: the tests that each mutant fails.
    """
    points = content["points"]
    marked = [one for one in content["results"] if reports.marks(one, points)["auto"] != ""]
    body = [f"<h1>{_text(content['title'])}: the class</h1>"]
    body.append(f"<p>{len(marked)} of {len(content['results'])} hand-ins have marks.</p>")
    auto = [float(reports.marks(record, points)["auto"]) for record in marked]
    body += _spread("Automatic part", auto, sum(points.values()))
    whole = [float(total.points) for total in found if total.points is not None]
    if content["by_hand"]:
        body += _spread("With the marks by hand", whole, totals.most(content))
    body += _questions(content, marked)
    body += _tests(marked)
    body += _resembled(marked, table)
    body += _changed(content)
    body += _unmarked(content, found)
    return PAGE.format(title=_text(content["exercise"]), style=STYLE, body="\n".join(body))


def _text(text) -> str:
    return html.escape(clean(text))


def _rows(header: list[str], rows: list[list], right: set[int]) -> str:
    """A table; cells are HTML already."""

    def line(cells, tag):
        kind = [' class="n"' if i in right else "" for i in range(len(header))]
        inside = "".join(f"<{tag}{k}>{c}</{tag}>" for k, c in zip(kind, cells, strict=True))
        return f"<tr>{inside}</tr>"

    return "<table>" + "\n".join([line(header, "th"), *(line(r, "td") for r in rows)]) + "</table>"


def _spread(title: str, values: list[float], most: int) -> list[str]:
    """Five numbers and a histogram."""
    if not values:
        return [f"<h2>{title}</h2>", "<p>Nobody has marks yet.</p>"]
    cuts = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    five = [min(values), *cuts, max(values)]
    words = "lowest, lower quarter, middle, upper quarter, highest"
    said = ", ".join(f"{value:g}" for value in five)
    return [
        f"<h2>{title}</h2>",
        f"<p>{len(values)} hand-ins, of {most} points: {said} ({words}); "
        f"mean {statistics.fmean(values):.1f}.</p>",
        _histogram(values, most),
    ]


def _histogram(values: list[float], most: int) -> str:
    width = -(-(most + 1) // BARS)  # points in a bar, so that no bar has a part of one
    counts = [0] * -(-(most + 1) // width)
    for value in values:
        counts[min(int(value), most) // width] += 1
    tall = max(counts)
    bars = []
    for i, n in enumerate(counts):
        last = min((i + 1) * width - 1, most)
        label = f"{i * width}" if width == 1 else f"{i * width}–{last}"
        high = 120 * n / tall
        bars.append(
            f'<rect x="{i * 56 + 4}" y="{140 - high:.1f}" width="48" height="{high:.1f}"/>'
            f'<text x="{i * 56 + 28}" y="{134 - high:.1f}" text-anchor="middle">{n or ""}</text>'
            f'<text x="{i * 56 + 28}" y="156" text-anchor="middle">{label}</text>'
        )
    said = ", ".join(f"{n} from {i * width}" for i, n in enumerate(counts) if n)
    return (
        f'<svg viewBox="0 0 {56 * len(counts)} 162" width="{56 * len(counts)}" role="img" '
        f'aria-label="students by points: {said}">{"".join(bars)}</svg>'
    )


def _questions(content: dict, marked: list[dict]) -> list[str]:
    rows = []
    for question, most in content["points"].items():
        got = [reports.marks(record, content["points"])[question] for record in marked]
        if got:
            full, none = got.count(most) / len(got), got.count(0) / len(got)
            mean = f"{statistics.fmean(got):.1f}"
            rows.append([question.upper(), most, mean, f"{full:.0%}", f"{none:.0%}"])
    header = ["question", "of", "mean", "all points", "no points"]
    return ["<h2>Questions</h2>", _rows(header, rows, {1, 2, 3, 4})]


def _tests(marked: list[dict]) -> list[str]:
    """Each test, and who failed it."""
    tests: dict[str, list] = {}
    for record in marked:
        for row in record["rows"]:
            failed = tests.setdefault(row["test"], [row, [], 0])
            failed[2] += 1
            if mutants.fails(row):
                failed[1].append((record["student"], row["message"] == NOT_YET))
    rows = []
    for name, (row, failed, n) in sorted(tests.items(), key=lambda item: item[1][0]["question"]):
        who = ", ".join(_text(student) + (" (no answer)" if no else "") for student, no in failed)
        names = f"<details><summary>who</summary>{who}</details>" if failed else ""
        worth = [row["question"].upper(), f"<code>{_text(name)}</code><br>{_text(row['hint'])}"]
        rows.append([*worth, row["points"], f"{len(failed)} of {n}", names])
    header = ["question", "test", "points", "failed", ""]
    return ["<h2>Tests</h2>", _rows(header, rows, {2, 3})]


def _resembled(marked: list[dict], table: dict[str, list[str]]) -> list[str]:
    """The typical mistakes, by how many hand-ins fail the same tests."""
    seen: dict[tuple, tuple[list, list]] = {}
    for record in marked:
        answered = {row["question"] for row in record["rows"] if row["message"] != NOT_YET}
        for one in mutants.resemblances(record["rows"], table):
            if one.question in answered:
                same, near = seen.setdefault((one.question, one.names), ([], []))
                (same if one.same else near).append(_text(record["student"]))
    rows = []
    for (question, names), (same, near) in sorted(
        seen.items(), key=lambda item: (item[0][0], -sum(map(len, item[1])))
    ):
        mistake = " or ".join(_text(name) for name in names)
        rows.append([question.upper(), mistake, ", ".join(same), ", ".join(near)])
    words = (
        "The tests that a hand-in fails are compared with those that typical wrong answers fail, "
        "in each question that has an answer. It is a guess at what went wrong, and no mark."
    )
    header = ["question", "wrong answer", "fail the same tests", "nearest to it"]
    return ["<h2>What they resemble</h2>", f"<p>{words}</p>", _rows(header, rows, set())]


def _changed(content: dict) -> list[str]:
    """What the instructor gave in place of the tests' points."""
    rows = []
    for record in content["results"]:
        raw = reports.points_of_tests(record, content["points"])
        for question, (points, reason) in record.get("override", {}).items():
            row = [_text(record["student"]), question.upper(), raw[question], number(points)]
            rows.append([*row, _text(reason)])
    header = ["student", "question", "by the tests", "by you", "reason"]
    return ["<h2>Changed by you</h2>", _rows(header, rows, {2, 3})] if rows else []


def _unmarked(content: dict, found: list[totals.Total]) -> list[str]:
    rows = [[_text(t.result["student"]), _text(t.why_not)] for t in found if t.points is None]
    look = [
        [_text(record["student"]), "; ".join(map(_text, record["flags"]))]
        for record in content["results"]
        if record["flags"]
    ]
    parts = [("Without a total", "why", rows), ("To be looked at", "what was noticed", look)]
    return [
        piece
        for title, column, some in parts
        if some
        for piece in (f"<h2>{title}</h2>", _rows(["student", column], some, set()))
    ]
