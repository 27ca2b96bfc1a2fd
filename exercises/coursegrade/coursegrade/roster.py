"""The instructor's own export: which students it has, and which column gets the marks.

Three shapes are known by their headers: Canvas's gradebook export, Moodle's grade export, and the
grading worksheet of a Moodle assignment. Hand-ins of Canvas carry the number in Canvas's column ID,
those of Moodle the number in the worksheet's column Identifier; where a shape has no such number,
names decide. What could be two students is nobody's.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from . import handins, tables
from .groups import Groups, word

SURNAMES = ("surname", "last name", "lastname")
FIRST_NAMES = ("first name", "firstname")
DECORATION = re.compile(r"^(?:assignment|assign): *| *\((?:real|\d+)\)$", re.IGNORECASE)
LATE = re.compile(r" - ([^-]* late)\b")
NO_POINTS = re.compile(r"\((?:percentage|letter)\)$", re.IGNORECASE)


class Shape(NamedTuple):
    """One of the exports that we know."""

    name: str
    source: str  # whose hand-ins carry the number in `number`
    number: str  # the column of that number, "" where there is none
    needed: tuple[tuple[str, ...], ...]  # of each group one column, in lower case
    own: frozenset[str]  # columns that never hold marks


CANVAS = Shape(
    "Canvas's gradebook export",
    "canvas",
    "id",
    (("student", "lastname"), ("id",), ("section",)),
    frozenset(
        {"student", "lastname", "firstname", "id", "sis user id", "sis login id", "section"}
        | {"integration id", "root account", "email"}
    ),
)
WORKSHEET = Shape(
    "Moodle's grading worksheet",
    "moodle",
    "identifier",
    (("identifier",), ("grade",), ("maximum grade", "grade can be changed")),
    frozenset({"identifier", "full name", "id number", "email address", "status", "maximum grade"})
    | {"grade can be changed", "feedback comments", "online text", "group"},
)
MOODLE = Shape(
    "Moodle's grade export",
    "",
    "",
    (FIRST_NAMES, SURNAMES),
    frozenset({*FIRST_NAMES, *SURNAMES, "id number", "institution", "department", "username"})
    | {"email address", "last downloaded from this course", "group", "groups"},
)
SHAPES = (CANVAS, WORKSHEET, MOODLE)
IDENTIFIERS = ("sis user id", "sis login id", "id", "integration id", "id number", "username")
IDENTIFIERS += ("email address", "email")


class Person(NamedTuple):
    """A student of the roster, by the number of the row."""

    row: int
    label: str
    number: str
    names: frozenset[str]
    identifiers: frozenset[str]

    def is_called(self, name: str) -> bool:
        """Whether Canvas's file names have `name` for this person, surname first or last."""
        wanted = word(name)
        own = map(word, self.names)
        return any(len(one) == len(wanted) and wanted in one + one for one in own)


class Owners(NamedTuple):
    """Whose a hand-in is: the mark of each of `people`, unless `why` says what is not certain."""

    people: list[Person]
    why: str = ""
    note: str = ""  # what a person should know even so


def shape_of(header: list[str]) -> Shape | None:
    """The export that has this header, in any order of columns."""
    names = {name.strip().lower() for name in header}
    for shape in SHAPES:
        if all(names & set(group) for group in shape.needed):
            return shape
    return None


def plain(name: str) -> str:
    """A name as Moodle's file names have it: case, spaces and some marks don't count."""
    kept = re.sub(r"""[&<>"`|':\\/\x00-\x1f]""", "", unicodedata.normalize("NFC", name))
    return " ".join(kept.replace("_", " ").casefold().split())


class Roster:
    """An export, its students, and its columns.

    Args:
        groups: who is in whose group, where Canvas has one hand-in for a group.

    Raises:
        ValueError: the table is not one that we know.
    """

    def __init__(self, table: tables.Table, groups: Groups | None = None):
        self.table, self.shape, self._groups = table, shape_of(table.header), groups
        if self.shape is None:
            raise ValueError(f"no export that we know has the columns {table.header}")
        self._columns = {}
        for place, name in enumerate(table.header):
            self._columns.setdefault(name.strip().lower(), place)
        self.people = [
            self._person(number)
            for number, row in enumerate(table.rows)
            if number and self._is(row)
        ]

    def text(self, row: int, *names: str) -> str:
        """What stands in the first of these columns that there is."""
        for name in names:
            place = self._columns.get(name)
            if place is not None and place < len(self.table.rows[row]):
                return self.table.rows[row][place].text.strip()
        return ""

    def comments(self) -> int | None:
        """The place of Moodle's column "Feedback comments", if the worksheet has it."""
        return self._columns.get("feedback comments") if self.shape is WORKSHEET else None

    def late(self, row: int) -> str:
        """How late a hand-in was, as Moodle's worksheet says in English, or ""."""
        found = LATE.search(self.text(row, "status")) if self.shape is WORKSHEET else None
        return found[1] if found else ""

    def extended(self, row: int) -> bool:
        """Whether Moodle granted an extension: it then tells how late one was after that."""
        return "extension granted" in self.text(row, "status").lower()

    def _is(self, row) -> bool:
        """Whether a row is a student's: Canvas has rows of points and of posting above them."""
        if not any(cell.text.strip() for cell in row):
            return False
        place = self._columns.get(self.shape.number)
        return place is None or (place < len(row) and bool(row[place].text.strip()))

    def _person(self, row: int) -> Person:
        first, last = self.text(row, *FIRST_NAMES), self.text(row, *SURNAMES)
        whole = self.text(row, "student", "full name")
        if whole.count(",") == 1 and self.shape is CANVAS:
            last, first = (part.strip() for part in whole.split(","))
        names = {plain(name) for name in (whole, f"{first} {last}", f"{last} {first}")}
        identifiers = {self.text(row, name).casefold() for name in IDENTIFIERS}
        number = self.text(row, self.shape.number) if self.shape.number else ""
        number = number.split()[-1] if self.shape is WORKSHEET and number else number
        label = whole or f"{first} {last}".strip() or number
        return Person(row, label, number, frozenset(names - {""}), frozenset(identifiers - {""}))

    def owners(self, result: dict) -> Owners:
        """Whose a hand-in is, as far as it is certain; `result` as in `find`, with the `file`."""
        if self.shape is CANVAS and result["source"] == "canvas":
            return self._of_canvas(result)
        people = self.find(result)
        labels = "; ".join(person.label for person in people)
        return Owners(people, f"may be any of {labels}" if len(people) > 1 else "")

    def _of_canvas(self, result: dict) -> Owners:
        """By Canvas's number; where it is not certain which number that is, the name decides."""
        wrote = handins.canvas(result.get("file", ""))
        wrote = wrote or [handins.Named(result["name"], result["id"], "", False)]
        people, fitting = [], []
        for name, number, *_ in wrote:
            of_number = [person for person in self.people if person.number == number]
            people += of_number
            fitting += [[person] for person in of_number if person.is_called(name)]
            if self._groups and (members := self._groups.members(number, name)):
                fitting.append([person for person in self.people if person.number in members])
        if len(fitting) == 1:
            return Owners(fitting[0])
        labels = " or ".join(person.label for person in people)
        why = f"has the number of {labels} and another name; if it is a group's, GROUPS= is needed"
        if len(wrote) == len(people) == 1 and not self._groups and wrote[0].name != "anon":
            return Owners(people, note=f"{result['student']} {why}")
        return Owners(people, why)

    def find(self, result: dict) -> list[Person]:
        """Whose a hand-in may be: one student, or nobody, or several that can't be told apart.

        Args:
            result: a record of results.json: `source`, `id` and `name` of the hand-in.
        """
        if self.shape.number and result["source"] == self.shape.source:
            return [person for person in self.people if person.number == result["id"]]
        name = plain(result["name"])
        found = [person for person in self.people if name in person.names]
        if result["source"] in ("folder", "gradescope"):
            own = result["id" if result["source"] == "gradescope" else "name"].strip().casefold()
            found += [p for p in self.people if own in p.identifiers and p not in found]
        return found

    def column(self, wanted: str, guesses: tuple[str, ...]) -> int:
        """The place of the column that gets the marks: it is there already, none is made.

        Args:
            wanted: its name, in full or without Canvas's number or Moodle's "(Real)"; or "".
            guesses: names to look for without `wanted`.

        Raises:
            ValueError: no column, or more than one, has the name; or it can hold no points.
        """
        if not wanted and self.shape is WORKSHEET:
            wanted = "Grade"
        header = self.table.header
        free = [i for i, name in enumerate(header) if name.strip() and not self._holds_no_marks(i)]
        named = [i for i in free if header[i].strip() == wanted.strip()] if wanted else []
        names = {name.strip().casefold() for name in ([wanted] if wanted else guesses)}
        hits = named or [i for i in free if _bare(header[i]) in names]
        if len(hits) == 1:
            return hits[0]
        what = f"called {wanted!r}" if wanted else f"for this exercise ({', '.join(guesses)})"
        many = "more than one column is" if hits else "no column that can take points is"
        choice = "\n  ".join(header[i] for i in free) or "(none)"
        raise ValueError(f"{many} {what}. Name one with COLUMN=...; there are:\n  {choice}")

    def _holds_no_marks(self, place: int) -> bool:
        name = self.table.header[place].strip()
        if name.lower() in self.shape.own or NO_POINTS.search(name):
            return True
        if name.lower().startswith(("last modified", "feedback:")):
            return True
        possible = self.possible(place)
        return self.shape is CANVAS and possible.startswith("(")  # "(read only)", in any language

    def possible(self, place: int) -> str:
        """What the export says that the column's most is, or ""."""
        for row in self.table.rows[1:]:
            said = {cell.text.strip().lower() for cell in row}
            if self.shape is CANVAS and "points possible" in said and place < len(row):
                return row[place].text.strip()
        if self.shape is WORKSHEET and self.people:
            return self.text(self.people[0].row, "maximum grade")
        return ""


def _bare(name: str) -> str:
    return DECORATION.sub("", name.strip()).strip().casefold()


def read(path, groups=None) -> Roster:
    """The roster in a file.

    Args:
        groups: the file of Canvas's group set, if there is one.

    Raises:
        ValueError: it is no export that we know; the message says what is needed.
    """
    shapes = ", ".join(shape.name for shape in SHAPES)
    known = tables.read(
        path,
        lambda header: shape_of(header) is not None,
        f"an export that we know ({shapes}; in English)",
    )
    if groups and shape_of(known.header) is not CANVAS:
        raise ValueError(f"GROUPS goes with Canvas's export, and {path} is another one")
    return Roster(known, Groups(groups) if groups else None)
