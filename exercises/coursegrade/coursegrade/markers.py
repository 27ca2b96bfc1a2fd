"""written.csv for several markers: a table each, and all of them back into one.

A mark is never chosen between two people: where two tables differ, nothing is merged, and each
difference is said.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

from . import reports, totals, written
from .feedback import number
from .written import HandMark

NAME = re.compile(r"(?!old(-\d+)?$)\w[\w.-]*", re.IGNORECASE)  # written-old.csv is another thing
MOST = 10  # answers that a line names


def split(folder, markers: list[str], by: str = "student", common: int = 0) -> list[str]:
    """Write ``written-NAME.csv`` for each marker; what each got is returned, in words.

    Only answers are dealt out that have no mark and stand in no marker's table. Those that all mark
    stand first.

    Args:
        by: whether all answers of one "student", or all to one "question", go to one marker.
        common: how many answers all mark.

    Raises:
        ValueError: a name is none, a table is there already, or there are too few answers.
    """
    folder, content = Path(folder), totals.results(folder)
    paths = {name: folder / f"written-{name}.csv" for name in markers}
    if len({name.casefold() for name in markers}) < max(2, len(markers)):
        raise ValueError("MARKERS must be two names or more, such as ann,ben, each another one")
    for name, path in paths.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} can't be a marker's name in a file's name")
        if path.exists():
            raise ValueError(f"{path} is there already and is not overwritten: merge it, move it")
    rows = written.read(folder / "written.csv")
    marks = written.points(rows, content["by_hand"], content.get("rubrics"))
    rows = [row for row in rows if row.question in content["by_hand"]]
    dealt = {(row.student, row.question) for some in _parts(folder).values() for row in some}
    rows = [row for row in rows if (row.student, row.question) not in {*marks, *dealt}]
    shared = _common(rows, common)
    rest: dict[str, list[HandMark]] = {}
    for row in rows:
        if row not in shared:
            rest.setdefault(getattr(row, by), []).append(row)
    if len(rest) < len(markers) and not common:
        raise ValueError(f"{len(markers)} markers, and {len(rest)} {by}s with answers to mark")
    hands: dict[str, list[HandMark]] = {name: [] for name in markers}
    for group in sorted(rest.values(), key=len, reverse=True):
        min(hands.values(), key=len).extend(group)
    for name, some in hands.items():
        reports.written_table(paths[name], content, shared + sorted(some, key=rows.index))
    also = f", the first {common} are for all" if common else ""
    return [f"{paths[name]}: {common + len(some)} answers{also}" for name, some in hands.items()]


def _common(rows: list[HandMark], n: int) -> list[HandMark]:
    """Answers for all, evenly from all questions and all of the class; empty ones teach nothing."""
    some = sorted((row for row in rows if row.answer.strip()), key=lambda row: row.question)
    if not 0 <= n <= len(some):
        raise ValueError(
            f"COMMON must be from 0 to {len(some)}, the answers that are to mark, got {n}"
        )
    return [some[(2 * i + 1) * len(some) // (2 * n)] for i in range(n)]


def merge(folder) -> list[str]:
    """Put the marks and comments of all ``written-NAME.csv`` into written.csv.

    Returned is, in words, how marks of common answers compare, and what is still unmarked.

    Raises:
        ValueError: two tables differ, or a mark is none: nothing is written then.
    """
    folder, content = Path(folder), totals.results(folder)
    most, rubrics = content["by_hand"], content.get("rubrics", {})
    path, parts = folder / "written.csv", _parts(folder)
    if not parts:
        raise ValueError(f"{folder} has no written-NAME.csv: make split writes them")
    base = written.read(path)
    known = {(row.student, row.question): row for row in base}
    wrong, given = [], {}
    for name, rows in {path.name: base, **parts}.items():
        given[name], errors = written.hands(rows, most, rubrics)
        strange = [row for row in rows if (row.student, row.question) not in known]
        errors += [f"line {row.line}: {row.student} has no {row.question}" for row in strange]
        wrong += [f"{name}: {words}" for words in errors]
    _refuse(wrong)
    said, merged = _compared(parts, given), []
    for key, row in known.items():
        same = {path.name: row}
        for name, rows in parts.items():
            for one in (x for x in rows if (x.student, x.question) == key):
                if written.alike(one.answer, row.answer):
                    same[name] = one
                elif one.marked or one.comment:
                    said.append(f"{name}: line {one.line}: left out, the answer is another one now")
        try:
            merged.append(_merged(same, given))
            if merged[-1].marked:
                written.hand(merged[-1], most, rubrics)
        except ValueError as problem:
            wrong.append(f"{row.student}, {row.question}: {problem}")
    _refuse(wrong, said)
    if any(row.more for row in base):
        said.append(f"you added columns: see your {written.put_aside(path).name}")
    reports.written_table(path, content, merged)
    marks = written.points(merged, most, rubrics)
    return said + _unmarked([key for key in known if key[1] in most and key not in marks], parts)


def _refuse(wrong: list[str], said: list[str] | None = None) -> None:
    if wrong:
        raise ValueError("\n  ".join(["nothing is merged:", *(said or []), *wrong]))


def _parts(folder: Path) -> dict[str, list[HandMark]]:
    """The markers' tables by the names of their files."""
    return {
        path.name: written.read(path)
        for path in sorted(folder.glob("written-*.csv"))
        if NAME.fullmatch(path.stem.removeprefix("written-"))
    }


def _merged(same: dict[str, HandMark], given: dict) -> HandMark:
    """One row of several; the first is that of written.csv.

    Raises:
        ValueError: they differ.
    """
    row, *_ = same.values()
    key = row.student, row.question
    hands = {name: given[name].get(key) for name in same}
    marks = {name: hand.mark for name, hand in hands.items() if hand and hand.mark is not None}
    if len(set(marks.values())) > 1:
        raise ValueError(", ".join(f"{number(mark)} in {name}" for name, mark in marks.items()))
    items = []
    for n in range(max(len(one.items) for one in same.values())):
        texts = {name: one.items[n] for name, one in same.items() if one.items[n:] and one.items[n]}
        if len({Decimal(text.replace(",", ".")) for text in texts.values()}) > 1:
            told = ", ".join(f"{text} in {name}" for name, text in texts.items())
            raise ValueError(f"item {n + 1}: {told}")
        items.append(next(iter(texts.values()), ""))
    comment = row.comment
    for one in same.values():
        if one.comment and one.comment not in comment:
            comment = "\n\n".join(filter(None, [comment, one.comment]))
    mark = next((one.mark for one in same.values() if one.mark), "")
    return row._replace(mark=mark, items=tuple(items), comment=comment)


def _compared(parts: dict[str, list[HandMark]], given: dict) -> list[str]:
    """How the marks of answers that stand in several tables agree."""
    holders: dict[tuple[str, str], list[str]] = {}
    for name, rows in parts.items():
        for row in rows:
            holders.setdefault((row.student, row.question), []).append(name)
    common = {key: names for key, names in holders.items() if len(names) > 1}
    marks = {}
    for key, names in common.items():
        some = {name: given[name][key].mark for name in names if key in given[name]}
        if len(some) == len(names) and None not in some.values():
            marks[key] = some
    if not marks:
        return [f"{len(common)} common answers, none is marked by all yet"] if common else []
    alike = sum(len(set(some.values())) == 1 for some in marks.values())
    means = []
    for name in parts:
        mine = [some[name] for some in marks.values() if name in some]
        means += [f"{sum(mine) / len(mine):.2f} in {name}"] if mine else []
    return [
        f"{len(common)} common answers, {len(marks)} marked by all, {alike} of them alike; "
        f"on average {', '.join(means)}"
    ]


def _unmarked(left: list[tuple[str, str]], parts: dict[str, list[HandMark]]) -> list[str]:
    said, left = [], sorted(left)
    holders = {name: {(row.student, row.question) for row in rows} for name, rows in parts.items()}
    holders["no marker's table"] = set(left).difference(*holders.values())
    for name, keys in holders.items():
        some = [
            f"{student} {question}" for student, question in left if (student, question) in keys
        ]
        more = f" and {len(some) - MOST} more" if len(some) > MOST else ""
        said += [f"unmarked in {name}: {', '.join(some[:MOST])}{more}"] if some else []
    return said or ["all answers are marked"]
