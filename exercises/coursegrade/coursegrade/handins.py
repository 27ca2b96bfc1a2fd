"""Find the hand-ins of a folder: one a student, or what Moodle, Canvas or Gradescope download."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from .notebook import Unreadable

MAX_SIZE = 64 << 20  # bytes
MOODLE = re.compile(r"^(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.*))?$")
CANVAS = re.compile(
    r"^(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)$", re.IGNORECASE
)
KINDS = {".ipynb": "notebook", ".ipynb.txt": "notebook", ".ipynb.json": "notebook"}
KINDS |= {".zip": "archive", ".py": "script"}
GRADESCOPE = "submission_metadata.yml"


class HandIn(NamedTuple):
    """What one student handed in."""

    student: str  # unique in the folder
    name: str
    id: str  # Moodle's participant, Canvas's user, Gradescope's sid; "" where none is told
    late: bool
    source: str  # "moodle", "canvas", "gradescope" or "folder": who gave the names
    files: tuple[Path, ...]  # of the best kind there is, be they readable or not
    others: tuple[str, ...]  # names of what else there was
    at: str = ""  # when it came, as Gradescope writes it


def kind(name: str) -> str:
    """What a file seems to be by its name: a notebook, an archive, a script, or ""."""
    name = name.lower()
    return next((kind for end, kind in KINDS.items() if name.endswith(end)), "")


def choose(kinds: dict) -> list:
    """Of files and their kinds: the notebooks, or else the archives, or else the scripts."""
    for wanted in ("notebook", "archive", "script"):
        if found := [file for file, kind in kinds.items() if kind == wanted]:
            return found
    return []


def readable(name: str) -> str:
    """A name that can be written down; bytes that are no UTF-8 become numbers."""
    return name.encode("utf-8", "backslashreplace").decode()


def find(folder) -> tuple[list[HandIn], list[str]]:
    """Every hand-in of a folder, sorted by student; and the names of files that are nobody's.

    Raises:
        ValueError: the folder does not exist, or is a file.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"SUBMISSIONS must be a folder, got {folder}")
    people = _submitters(folder / GRADESCOPE)
    seen: dict[str, tuple[HandIn, list[Path]]] = {}
    nobodys = []
    for path in sorted(folder.iterdir()):
        if _skipped(path) or path.name == GRADESCOPE:
            continue
        files = _files(path) if path.is_dir() and not path.is_symlink() else [path]
        for one in people.get(path.name) or [_owner(path)]:
            if one.source == "folder" and not (path.is_dir() or kind(path.name)):
                nobodys.append(readable(path.name))
                continue
            before, all_files = seen.setdefault(one.student, (one, []))
            seen[one.student] = before._replace(late=before.late or one.late), all_files
            all_files += files
    return [_with_files(*seen[student], folder) for student in sorted(seen)], nobodys


def of_one(folder: Path, student: str) -> HandIn:
    """The hand-in of a folder that is one student's."""
    one = HandIn(student, student, "", False, "folder", (), ())
    return _with_files(one, _files(folder), folder)


def _owner(path: Path) -> HandIn:
    """Whose a folder or a file is, by its name."""
    moodle = MOODLE.match(path.name)
    canvas = None if path.is_dir() or moodle else CANVAS.match(path.name)
    match, name = moodle or canvas, path.name
    for end in () if path.is_dir() else KINDS:
        if path.name.lower().endswith(end):
            name = path.name[: -len(end)]
    if not match:
        return HandIn(readable(name), readable(name), "", False, "folder", (), ())
    student = readable(f"{match['name']}_{match['id']}")
    late = bool(canvas and canvas["late"])
    source = "moodle" if moodle else "canvas"
    return HandIn(student, readable(match["name"]), match["id"], late, source, (), ())


def _with_files(one: HandIn, files: list[Path], folder: Path) -> HandIn:
    chosen = choose({path: kind(path.name) for path in files})
    others = [readable(str(path.relative_to(folder))) for path in files if path not in chosen]
    return one._replace(files=tuple(chosen), others=tuple(others))


def _skipped(path: Path) -> bool:
    return path.name.startswith((".", "__MACOSX"))


def _files(folder: Path) -> list[Path]:
    """What is in a student's folder and below; links are not followed, only reported."""
    found = []
    for path in sorted(folder.iterdir()):
        if not _skipped(path):
            found += _files(path) if path.is_dir() and not path.is_symlink() else [path]
    return found


def _submitters(path: Path) -> dict[str, list[HandIn]]:
    """By folder, who handed it in: a few lines of Gradescope's file, which is Ruby's own YAML."""
    found: dict[str, list[HandIn]] = {}
    if not path.is_file():
        return found
    folder, naming = "", False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.strip().removeprefix("- ").partition(": ")
        value = value.strip("'\"")
        if line[:1] not in ("", " ", "-", "#"):
            folder = key.rstrip(":")
            found[folder] = []
        elif line.startswith("  :"):
            naming = key == ":submitters:"
            if key == ":created_at":
                found[folder] = [one._replace(at=value) for one in found.get(folder, [])]
        elif naming and folder and key == ":name":
            student = f"{value}_{folder.rpartition('_')[2]}"
            found[folder].append(HandIn(student, value, "", False, "gradescope", (), ()))
        elif naming and folder and key in (":sid", ":email") and found[folder]:
            last = found[folder][-1]
            found[folder][-1] = last._replace(id=last.id or value)
    return found


def read_bytes(path: Path) -> bytes:
    """The bytes of a plain file; a link, a pipe or anything large is refused without waiting."""
    try:
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError as problem:
        why = "it is a link" if path.is_symlink() else str(problem.strerror)
        raise Unreadable(f"the file cannot be opened: {why}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not a regular file")
        if status.st_size > MAX_SIZE:
            raise Unreadable(f"the file is larger than {MAX_SIZE >> 20} MB")
        return file.read(MAX_SIZE + 1)
