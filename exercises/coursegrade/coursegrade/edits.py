"""An edit of gradebook.csv counts nothing: it is noticed, said, and kept beside the new table."""

from __future__ import annotations

from pathlib import Path

from . import tables, written

MOST = 10  # changes that are named
LONG = 40  # characters of a cell that are shown


def note_on(path: Path, last: Path) -> str:
    """What a person changed in a table, in a line, and where their table is kept; or "".

    Args:
        last: what was written to `path`; a spreadsheet may have saved it in another form since.
    """
    if not (path.is_file() and last.is_file()):
        return ""
    try:
        changes = _changes(*(tables.read(p, lambda h: "student" in h, "") for p in (last, path)))
    except ValueError:
        changes = ["it can't be read any more"]
    if not changes:
        return ""
    more = f" and {len(changes) - MOST} more" if len(changes) > MOST else ""
    return (
        f"{path.name} was edited, which counts nothing ({'; '.join(changes[:MOST])}{more}): points "
        "of a coded question belong in overrides.csv, of a written one in written.csv; "
        f"your table is kept as {written.put_aside(path).name}"
    )


def _changes(before: tables.Table, after: tables.Table) -> list[str]:
    new, places = _by_student(after), {name: i for i, name in enumerate(after.header)}
    found = [f"a new column {name!r}" for name in places if name not in before.header]
    for student, rows in _by_student(before).items():
        now = new.pop(student, [])
        found += [f"{student}: a row is gone"] * (len(now) < len(rows))
        found += [f"{student}: a new row"] * (len(now) > len(rows))
        for old, row in zip(rows, now, strict=False):
            for name, was in zip(before.header, old, strict=False):
                place = places.get(name, len(row))
                text = row[place] if place < len(row) else ""
                if _plain(was) != _plain(text):
                    was, text = (words[:LONG] or "empty" for words in (was, text))
                    found.append(f"{student}, {name}: {was} became {text}")
    return found + [f"{student}: a new row" for student in new]


def _by_student(table: tables.Table) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    place = table.header.index("student")
    for row in table.rows[1:]:
        texts = [cell.text for cell in row]
        if any(map(str.strip, texts)):
            found.setdefault(_plain(texts[place]) if place < len(texts) else "", []).append(texts)
    return found


def _plain(text: str) -> str:
    """A cell's text without what a spreadsheet changes: spaces, a decimal comma."""
    line = " ".join(text.split())
    return line.replace(",", ".") if written.NUMBER.fullmatch(line) else line
