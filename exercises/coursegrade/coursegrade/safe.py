"""What a student wrote, made fit for a terminal, a table, a page and a file's name."""

from __future__ import annotations

import hashlib
import re

FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")
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
    return _no_formula(clean(text).replace("\n", " "))


def whole(text) -> str:
    """A table's cell with every character that was written."""
    return _no_formula(every(text))


def typed(text: str) -> str:
    """What a person typed into a cell: the quote that `whole` put before it is gone."""
    return text[1:] if text.startswith("'") and text[1:].lstrip().startswith(FORMULA) else text


def _no_formula(text: str) -> str:
    number = re.fullmatch(r"-?\d+(\.\d+)?", text)
    return f"'{text}" if text.lstrip().startswith(FORMULA) and not number else text


def file_name(student: str) -> str:
    """A safe file name, different for different students."""
    safe = re.sub(r"[^\w.-]+", "_", clean(student)).strip("._")[:80] or "student"
    short = hashlib.sha256(student.encode()).hexdigest()[:6]
    return safe if safe == student else f"{safe}-{short}"
