"""What a student wrote, made fit for a terminal, a table, a page and a file's name."""

from __future__ import annotations

import hashlib
import re

# A formula begins with one of these, also in wide and small forms, where a cell does: that is after
# each `;`, tab and line break for a reader that splits there. What comes before it may be skipped.
BEGINS = "[=＝﹦+＋﹢\\-－﹣@＠﹫|%]"
SKIPPED = r'(?:[^\S\t\r\n\u2028\u2029]|["\u00ad\u200b-\u200f\u2060\ufeff])*'
PIECE, RUNS = r"(?:^|(?<=[;\t\r\n\u2028\u2029]))", rf"(?=[\t\r]|{SKIPPED}{BEGINS})"
FORMULA, QUOTED = re.compile(PIECE + RUNS), re.compile(f"{PIECE}'{RUNS}")
NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
STRANGE = re.compile(r"[^\x20-\x7e\n\u00a0-\u1fff\u2030-\ud7ff\uf900-\ufaff]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text) -> str:
    """Text that a terminal and a page can show: no escape sequences, no direction marks."""
    return STRANGE.sub("?", ESCAPES.sub("", str(text)))


def every(text) -> str:
    """Every character that was written; only control characters go."""
    return CONTROL.sub("?", ESCAPES.sub("", str(text).replace("\r\n", "\n")))


def cell(text) -> str:
    """A table's cell in one line; what a spreadsheet would take for a formula gets a quote."""
    line = clean(text).replace("\n", " ")
    return line if NUMBER.fullmatch(line) else no_formula(line)


def whole(text) -> str:
    """A table's cell with every character that was written."""
    return no_formula(every(text))


def no_formula(text: str) -> str:
    """A quote before all that some spreadsheet would run; the same if it was there already."""
    return FORMULA.sub("'", text)


def as_text(text: str) -> str:
    """What a person typed into a cell: the quotes that `no_formula` put into it are gone."""
    return QUOTED.sub("", text)


def file_name(student: str) -> str:
    """A safe file name, different for different students."""
    safe = re.sub(r"[^\w.-]+", "_", clean(student)).strip("._")[:80] or "student"
    short = hashlib.sha256(student.encode()).hexdigest()[:6]
    return safe if safe == student else f"{safe}-{short}"
