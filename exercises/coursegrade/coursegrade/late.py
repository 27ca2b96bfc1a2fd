"""What a late hand-in loses: the rule, and what no download tells, in one file of TOML.

How late a hand-in was is told by Moodle's grading worksheet. Gradescope's metadata say when it
came, so that `due` is needed. Canvas's file names say "late" and not how late. What is not told is
looked up in the table `lateness`, and what stands in it counts before all else. All of these count
from the assignment's deadline; who has more time by the table `due_dates` is late from then on.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from .safe import cell
from .totals import Total

DAY = 86400
UNITS = {"year": 365 * DAY, "week": 7 * DAY, "day": DAY, "hour": 3600, "min": 60, "sec": 1}
SPAN = re.compile(r"(\d{1,6}) (year|week|day|hour|min|sec)(?:ute|ond)?s?\b,?\s*")
MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:?\d\d)")
KEYS = {"percent_a_day", "cap", "grace", "due", "due_dates", "lateness"}


class Policy(NamedTuple):
    """The rule. Per cents are of the assignment's points; a day that has begun is a day."""

    percent_a_day: Decimal
    cap: Decimal  # per cent, at most
    grace: int  # seconds: so late costs nothing; beyond it, days count from the deadline
    due: datetime | None
    lateness: dict[str, int] | None  # seconds, by student as gradebook.csv has them
    due_dates: dict[str, datetime | int] = {}  # noqa: RUF012 (a tuple): a moment, or seconds more

    def lost(self, seconds: int, most: int) -> Decimal:
        """The points that so late a hand-in loses, of `most`."""
        if seconds <= self.grace:
            return Decimal(0)
        return most * min(self.percent_a_day * math.ceil(seconds / DAY), self.cap) / 100

    def extension(self, student: str) -> int:
        """The seconds by which a student's deadline is later than that of all.

        Raises:
            ValueError: the student has a moment, and the moment of all is not known.
        """
        own = self.due_dates.get(student, 0)
        if isinstance(own, int):
            return own
        if self.due is None:
            raise ValueError(
                f"LATE: only how late {student} was is known: write how much more time due_dates "
                "gives, such as '3 days', or the deadline of all as due"
            )
        return int((own - self.due).total_seconds())


def seconds(text: str) -> int:
    """A span of time in words, such as "1 day 3 hours" or Moodle's "2 days 5 mins late".

    Raises:
        ValueError: it is none.
    """
    words = str(text).strip().removesuffix("late").strip()
    found = SPAN.findall(words)
    if words in ("0", "now"):
        return 0
    if not found or SPAN.sub("", words):
        raise ValueError(f"a span of time is written as '1 day 3 hours', or '0', got {text!r}")
    return sum(int(n) * UNITS[unit] for n, unit in found)


def in_words(span: int) -> str:
    """A span of time with its two largest units."""
    words = []
    for unit, size in UNITS.items():
        if unit == "week":
            continue
        n, span = divmod(span, size)
        words += [f"{n} {unit}{'s' * (n != 1)}"] if n else []
    return " ".join(words[:2])


def read(path) -> Policy:
    """The policy in a file.

    Raises:
        ValueError: the file is not there, or something in it is not what it should be.
    """
    import tomllib  # Python 3.11

    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ValueError(f"LATE: {path} is no file of TOML: {problem}") from None
    try:
        return _policy(content)
    except ValueError as problem:
        raise ValueError(f"LATE: {path}: {problem}") from None


def _policy(content: dict) -> Policy:
    if extra := set(content) - KEYS:
        raise ValueError(f"unknown: {', '.join(sorted(extra))}; known: {', '.join(sorted(KEYS))}")
    if "percent_a_day" not in content:
        raise ValueError("percent_a_day is needed")
    percents = {"percent_a_day": content["percent_a_day"], "cap": content.get("cap", 100)}
    for key, value in percents.items():
        number = type(value) is int or (type(value) is Decimal and value.is_finite())
        if not number or not 0 <= value <= 100:
            raise ValueError(f"{key} must be a number from 0 to 100, got {value!r}")
    due = content.get("due")
    if due is not None and getattr(due, "tzinfo", None) is None:
        raise ValueError(
            f"due must be a moment with an offset, 2026-10-14T23:59:00+02:00, got {due}"
        )
    own = content.get("due_dates", {})
    if not isinstance(own, dict):
        raise ValueError(f"due_dates must be a table, got {own!r}")
    told = content.get("lateness")
    if not isinstance(told, dict | None):
        raise ValueError(f"lateness must be a table, got {told!r}")
    return Policy(
        **{key: Decimal(value) for key, value in percents.items()},
        grace=seconds(content.get("grace", "0")),
        due=due,
        lateness=None if told is None else {who: seconds(text) for who, text in told.items()},
        due_dates={who: _own(who, value, due) for who, value in own.items()},
    )


def _own(who: str, value, due: datetime | None) -> datetime | int:
    """A student's own due date, or how much more time there is."""
    if isinstance(value, str) and SPAN.match(value.strip()):
        return seconds(value)
    if getattr(value, "tzinfo", None) is None:
        raise ValueError(
            f"due_dates of {who} must be a moment with an offset and without quotes, "
            f"2026-10-17T23:59:00+02:00, or how much more time, '3 days', got {value}"
        )
    if due and value < due:
        raise ValueError(f"due_dates of {who} is {value}, before due, {due}")
    return value


def nobodys(policy: Policy, found: list[Total]) -> list[str]:
    """Whose own due date finds no hand-in: there may be none yet, or the name is another one."""
    names = {cell(total.result["student"]) for total in found}
    return [f"due_dates: no hand-in of {who}" for who in policy.due_dates if who not in names]


def apply(
    policy: Policy, found: list[Total], most: int, told: dict[str, str] | None
) -> list[Total]:
    """Take off what was late; a hand-in of which it is not known has no points, for now.

    Args:
        found: the totals before.
        most: the assignment's points.
        told: by student, how late they were in the roster's words; None where it tells nothing.

    Raises:
        ValueError: nothing tells who was late, or the table names who handed nothing in.
    """
    names = {cell(total.result["student"]) for total in found}
    if strangers := sorted(set(policy.lateness or ()) - names):
        raise ValueError(f"LATE: lateness of who handed nothing in: {', '.join(strangers)}")
    late = []
    for total in found:
        span = _span(policy, total.result, told)
        total = total._replace(late=span or 0, extension=_in_words(policy, total.result))
        if total.points is None:
            late.append(total)
        elif span is None:
            why = "nothing says how late it was: write it into the table lateness"
            late.append(total._replace(points=None, why_not=why))
        else:
            points = max(Decimal(0), total.points - policy.lost(span, most))
            late.append(total._replace(points=points))
    return late


def _in_words(policy: Policy, result: dict) -> str:
    own = policy.due_dates.get(cell(result["student"]), 0)
    return in_words(own) if isinstance(own, int) else str(own)


def _span(policy: Policy, result: dict, told: dict[str, str] | None) -> int | None:
    """How late a hand-in was, in seconds, or None where only that it was late is known."""
    student = cell(result["student"])
    if result["source"] == "gradescope" and student not in (policy.lateness or ()):
        own = policy.due_dates.get(student, 0)
        due, more = (policy.due, own) if isinstance(own, int) else (own, 0)
        if due:
            when = moment(result.get("at", ""))
            return when and max(0, int((when - due).total_seconds()) - more)
    span = _after_the_deadline(policy, result, told)
    return max(0, span - policy.extension(student)) if span else span


def _after_the_deadline(policy: Policy, result: dict, told: dict[str, str] | None) -> int | None:
    """The same where the moment is not known, and counted from the deadline of all."""
    student = cell(result["student"])
    if policy.lateness and student in policy.lateness:
        return policy.lateness[student]
    if result["source"] == "moodle" and told is not None:
        said = told.get(result["student"])  # None: it is nobody's of the roster
        return None if said is None else seconds(said or "0")
    if result["source"] == "canvas":
        return None if "late" in result["flags"] else 0
    if policy.lateness is None:
        needed = {
            "moodle": "the grading worksheet as ROSTER, or the table lateness",
            "gradescope": "due, or the table lateness",
        }.get(result["source"], "the table lateness, empty if nobody was late")
        raise ValueError(f"LATE: nothing says how late {student} was; what is needed is {needed}")
    return 0


def moment(text: str) -> datetime | None:
    """A moment as Gradescope's metadata have it, or None."""
    match = MOMENT.fullmatch(text)
    try:
        return match and datetime.fromisoformat("{}T{}{}".format(*match.groups()))
    except ValueError:
        return None
