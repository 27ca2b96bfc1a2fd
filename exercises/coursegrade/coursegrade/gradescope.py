"""Results as Gradescope's autograders write them: a results.json for each hand-in.

The format is that of Gradescope's "Autograder Specifications": `score`, `output`, `visibility`,
and `tests` with `name`, `score`, `max_score`, `status` and `output`. It has no way to say that a
mark is not known: then no file is written, and that is reported.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from . import feedback, late, returns, safe
from .totals import Total, results, totals
from .totals import most as total_most


def result(total: Total, by_hand: dict[str, feedback.Hand], points: dict[str, int]) -> dict:
    """One hand-in's results; of a hidden test students see what the feedback shows them.

    Args:
        points: the most of each coded question. Where a person gave other points than the tests,
            these have no scores, so that all scores still sum to the total.
    """
    given = total.result.get("override", {})
    tests = [
        {
            "number": row["question"].upper(),
            "name": safe.clean(row["hint"] or row["test"]),
            **_score(row["points"] * row["ok"], row["points"], row["question"] not in given),
            "status": "passed" if row["ok"] else "failed",
            "output": safe.clean(row["message"]),
            "visibility": "visible",
        }
        for row in total.result["rows"]
    ]
    hands = [(q, one.points, points[q], [one.reason]) for q, one in given.items()]
    hands += [
        (q, hand.mark, hand.most, [*map(feedback.item, hand.items), hand.comment])
        for q, hand in by_hand.items()
    ]
    for question, mark, most, words in hands:
        what = "points changed by hand" if question in given else "written answer, marked by hand"
        test = {"number": question.upper(), "name": what, **_score(mark, most)}
        said = safe.every("\n".join(filter(None, words)))
        tests.append(test | {"output": said, "visibility": "visible"})
    cells = total.result["cells"].items()
    output = [f"cell {number}: {safe.clean(words)}" for number, words in cells]
    if total.raw is not None and total.raw != total.points:
        lost = f"{_number(total.raw - total.points)} of {_number(total.raw)} points are taken off"
        words = f" after an extension ({total.extension})" if total.extension else ""
        output.insert(0, f"It came {late.in_words(total.late)} late{words}: {lost}.")
    return {
        **{"score": _number(total.points), "output": "\n".join(output), "output_format": "text"},
        **{"visibility": "visible", "stdout_visibility": "hidden", "tests": tests},
    }


def _score(score, most: int, counts: bool = True) -> dict:
    return {"score": _number(Decimal(score)), "max_score": most} if counts else {}


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def write(
    folder, out, only_auto: bool = False, policy: late.Policy | None = None
) -> tuple[list[Path], list[str]]:
    """Write ``OUT/STUDENT/results.json`` for each hand-in; returns the files and what is missing.

    Raises:
        ValueError: as `totals.totals`; or a file is there already.
    """
    content, found = results(folder), totals(folder, only_auto)
    texts, notes = {}, []
    if policy:
        found = late.apply(policy, found, total_most(content, only_auto), None)
        notes = late.nobodys(policy, found)
    told = returns.stories(folder, content, found, only_auto)
    for total, story in zip(found, told, strict=True):
        student = total.result["student"]
        path = Path(out) / safe.file_name(student) / "results.json"
        if path.exists():
            raise ValueError(f"GRADESCOPE: {path} is there already and is not overwritten")
        if total.points is None:
            notes.append(f"no file: {student} ({total.why_not})")
            continue
        texts[path] = json.dumps(result(total, story.by_hand, content["points"]), indent=1)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    notes += returns.write(folder, content, found, told)
    return list(texts), notes
