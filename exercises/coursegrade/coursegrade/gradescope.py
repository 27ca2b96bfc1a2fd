"""Results as Gradescope's autograders write them: a results.json for each hand-in.

The format is that of Gradescope's "Autograder Specifications": `score`, `output`, `visibility`,
and `tests` with `name`, `score`, `max_score`, `status` and `output`. It has no way to say that a
mark is not known: then no file is written, and that is reported.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from . import late, returns, safe, written
from .totals import Total, results, totals
from .totals import most as total_most


def result(total: Total, by_hand: dict[str, tuple[Decimal, int]]) -> dict:
    """One hand-in's results; of a hidden test students see what the feedback shows them.

    Args:
        by_hand: the mark and the most of each written question.
    """
    tests = [
        {
            "number": row["question"].upper(),
            "name": safe.clean(row["hint"] or row["test"]),
            "score": row["points"] * row["ok"],
            "max_score": row["points"],
            "status": "passed" if row["ok"] else "failed",
            "output": safe.clean(row["message"]),
            "visibility": "visible",
        }
        for row in total.result["rows"]
    ]
    for question, (mark, most) in by_hand.items():
        tests.append(
            {
                **{"number": question.upper(), "name": "written answer, marked by hand"},
                **{"score": _number(mark), "max_score": most, "visibility": "visible"},
            }
        )
    cells = total.result["cells"].items()
    output = [f"cell {number}: {safe.clean(words)}" for number, words in cells]
    if total.raw is not None and total.raw != total.points:
        lost = f"{_number(total.raw - total.points)} of {_number(total.raw)} points are taken off"
        output.insert(0, f"It came {late.in_words(total.late)} late: {lost}.")
    return {
        **{"score": _number(total.points), "output": "\n".join(output), "output_format": "text"},
        **{"visibility": "visible", "stdout_visibility": "hidden", "tests": tests},
    }


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
    if policy:
        found = late.apply(policy, found, total_most(content, only_auto), None)
    most = {} if only_auto else content["by_hand"]
    given = written.points(written.read(Path(folder) / "written.csv"), most) if most else {}
    texts, notes = {}, []
    for total in found:
        student = total.result["student"]
        path = Path(out) / safe.file_name(student) / "results.json"
        if path.exists():
            raise ValueError(f"GRADESCOPE: {path} is there already and is not overwritten")
        if total.points is None:
            notes.append(f"no file: {student} ({total.why_not})")
            continue
        hand = {q: (given[safe.cell(student), q], n) for q, n in most.items()}
        texts[path] = json.dumps(result(total, hand), indent=1)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    told = returns.stories(folder, content, found, only_auto)
    notes += returns.write(folder, content, found, told)
    return list(texts), notes
