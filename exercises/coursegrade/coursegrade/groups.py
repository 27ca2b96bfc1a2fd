"""Who is in whose group: the table of a group set, as Canvas has it ("group categories" there).

Canvas's download has one file for a group, under the group's name and the number of one member.
"""

from __future__ import annotations

import unicodedata

from . import tables

NEEDED = {"canvas_user_id", "group_name"}


def word(name: str) -> str:
    """A name as Canvas's file names have it, less what a computer may have changed on the way."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", name).casefold()))


class Groups:
    """The groups of a set.

    Raises:
        ValueError: the file is no table of a group set.
    """

    def __init__(self, path):
        table = tables.read(path, lambda header: set(_low(header)) >= NEEDED, "Canvas's group set")
        header = _low(table.header)
        rows = [
            dict(zip(header, (cell.text.strip() for cell in row), strict=False))
            for row in table.rows[1:]
        ]
        self._rows = [row for row in rows if row.get("canvas_user_id") and row.get("group_name")]

    def members(self, number: str, name: str) -> set[str]:
        """The users of the group of this name that user `number` is in; none if there is none."""
        own = {
            _key(row)
            for row in self._rows
            if row["canvas_user_id"] == number and word(row["group_name"]) == word(name)
        }
        return {row["canvas_user_id"] for row in self._rows if len(own) == 1 and _key(row) in own}


def _low(header: list[str]) -> list[str]:
    return [name.strip().lower() for name in header]


def _key(row: dict[str, str]) -> tuple[str, str]:
    return row["group_name"], row.get("canvas_group_id", "")
