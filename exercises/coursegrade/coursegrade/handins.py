"""Find the hand-ins of a folder: one folder a student, or what Moodle and Canvas download."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

MOODLE = re.compile(r"^(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.*))?$")
CANVAS = re.compile(
    r"^(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)$", re.IGNORECASE
)


class HandIn(NamedTuple):
    """What one student handed in; `files` holds what looks like a notebook, be it one or not."""

    student: str  # unique in the folder
    name: str
    id: str  # Moodle's participant or Canvas's user, "" where the folder tells none
    late: bool
    source: str  # "moodle", "canvas", or "folder": who gave the names
    files: tuple[Path, ...]


def find(folder) -> list[HandIn]:
    """Every hand-in of a folder, sorted by student.

    Raises:
        ValueError: the folder does not exist, or is a file.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"SUBMISSIONS must be a folder, got {folder}")
    found: dict[str, HandIn] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__MACOSX")):
            continue
        is_folder = path.is_dir() and not path.is_symlink()
        if not is_folder and path.suffix != ".ipynb":
            if not (path.is_symlink() and path.is_dir()):
                continue  # a PDF, a spreadsheet
        moodle = MOODLE.match(path.name)
        canvas = None if is_folder or moodle else CANVAS.match(path.name)
        match, name = moodle or canvas, path.name if path.is_dir() else path.stem
        student = f"{match['name']}_{match['id']}" if match else name
        files = _notebooks(path) if is_folder else (path,)
        before = found.get(student)
        found[student] = HandIn(
            student,
            match["name"] if match else name,
            match["id"] if match else "",
            bool(canvas and canvas["late"]) or bool(before and before.late),
            "moodle" if moodle else "canvas" if canvas else "folder",
            (*(before.files if before else ()), *files),
        )
    return sorted(found.values())


def _notebooks(folder: Path) -> tuple[Path, ...]:
    """Notebooks in a student's folder and below; links are not followed, only reported."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__MACOSX")):
            continue
        if path.is_dir() and not path.is_symlink():
            found += _notebooks(path)
        elif path.suffix == ".ipynb":
            found.append(path)
    return tuple(found)
