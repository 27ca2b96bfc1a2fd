"""Read a table that someone else wrote, and change single cells of it: every other byte stays.

Python's `csv` would write its own quotes, line ends and encoding; an export that goes back to where
it came from keeps those it has. What is read agrees with `csv.reader`.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import NamedTuple

DELIMITERS = ",;\t:"  # what Moodle offers; Canvas has the comma and the semicolon
BOMS = {  # longest first: UTF-32 is written by nobody
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
QUOTED = re.compile(r'"[^"]*(?:""[^"]*)*"(?!")')


class Cell(NamedTuple):
    """A cell's text, and where it stands in the file."""

    text: str
    start: int
    end: int


class Table:
    """The cells of a CSV file.

    Args:
        raw: the file's bytes. UTF-8 or UTF-16 with a byte-order mark, UTF-8 or else Windows-1252
            without.
        known: says of a header's cells whether this is the table that is wanted.

    Raises:
        ValueError: the bytes are no text, a quote is never closed, or `known` accepts the header
            with no delimiter.
    """

    def __init__(self, raw: bytes, known):
        self._bom = next((bom for bom in BOMS if raw.startswith(bom)), b"")
        self._text, self._encoding = _decoded(raw[len(self._bom) :], BOMS.get(self._bom))
        for delimiter in DELIMITERS:
            self.delimiter = delimiter
            if known([cell.text for cell in next(_rows(self._text, delimiter), [])]):
                break
        else:
            raise ValueError("its first line is not the header that is needed")
        self.rows: list[list[Cell]] = list(_rows(self._text, self.delimiter))

    @property
    def header(self) -> list[str]:
        """The texts of the first row."""
        return [cell.text for cell in self.rows[0]]

    def with_cells(self, changes: dict[tuple[int, int], str]) -> bytes:
        """The file's bytes with new texts at (row, column).

        Raises:
            IndexError: there is no such cell: none is ever added.
        """
        parts, place = [], 0
        for row, column in sorted(changes):
            cell = self.rows[row][column]
            quoted = self._text.startswith('"', cell.start, cell.end)
            parts += [self._text[place : cell.start], self._raw(changes[row, column], quoted)]
            place = cell.end
        parts.append(self._text[place:])
        return self._bom + "".join(parts).encode(self._encoding)

    def _raw(self, text: str, quoted: bool) -> str:
        if quoted or any(character in text for character in f'{self.delimiter}"\r\n'):
            doubled = text.replace('"', '""')
            return f'"{doubled}"'
        return text


def _decoded(raw: bytes, encoding: str | None) -> tuple[str, str]:
    for name in [encoding] if encoding else ["utf-8", "cp1252"]:
        try:
            return raw.decode(name), name
        except UnicodeDecodeError:
            continue
    raise ValueError("it is not text in UTF-8, UTF-16 or Windows-1252")


def _rows(text: str, delimiter: str):
    """Each row as a list of cells; a line without anything is a row without cells."""
    rest = rf"[^{delimiter}\r\n]*"
    cell = re.compile(rf'{QUOTED.pattern}{rest}|(?!"){rest}|')
    place, row = 0, []
    while place < len(text) or row:
        match = cell.match(text, place)
        row.append(Cell(_plain(match[0]), place, match.end()))
        place = match.end()
        if text.startswith(delimiter, place):
            place += 1
            continue
        if place < len(text) and text[place] not in "\r\n":
            raise ValueError("a quote is opened and never closed: the file is cut short")
        place += 2 if text.startswith("\r\n", place) else 1
        yield row if len(row) > 1 or row[0].start < row[0].end else []
        row = []


def _plain(raw: str) -> str:
    if not raw.startswith('"'):
        return raw
    end = QUOTED.match(raw).end()
    return raw[1 : end - 1].replace('""', '"') + raw[end:]


def read(path, known, what: str) -> Table:
    """The table in a file; `what` names it in errors."""
    try:
        return Table(Path(path).read_bytes(), known)
    except ValueError as problem:
        raise ValueError(f"{path} is not {what}: {problem}") from None


def free(path: Path) -> Path:
    """The path, or the first of its kind with a number that is not taken."""
    number, wanted = 2, path
    while path.exists() or path.is_symlink():
        path = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
        number += 1
    return path
