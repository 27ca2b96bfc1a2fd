"""Find the hand-ins of a folder: one a student, or what Moodle, Canvas or Gradescope download."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from .notebook import Unreadable

MAX_SIZE = 64 << 20  # bytes
MAX_DEPTH, MAX_FILES = 30, 10_000  # of one student's folder
# The platform writes first, and what the student called the file comes last. Moodle's own part has
# no `_` in a name (`download_submissions`), Canvas's may have some (`content_zipper.rb`).
MOODLE = re.compile(r"(?P<name>[^_]+)_(?P<id>[0-9]+)_assignsubmission_[a-z0-9]+(?:_.*)?", re.DOTALL)
CANVAS = re.compile(
    r"(?P<name>.*?)(?P<late>_LATE)?_(?P<id>[0-9]+)_(?P<upload>[0-9]+)_(?P<file>.+)",
    re.DOTALL | re.IGNORECASE,
)
ANONYMOUS = re.compile(  # a code; a number alone may also be that of a student called so
    r"(?P<late>LATE_)?anon_(?P<later>LATE_)?(?P<code>(?!LATE_)[0-9]*[A-Za-z][A-Za-z0-9]*)"
    r"_(?P<upload>[0-9]+)_.+",
    re.DOTALL,
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
    problem: str = ""  # why its folder could not be read


class Named(NamedTuple):
    """What Canvas wrote before the name of a file."""

    name: str  # of a student or a group, or "anon_" and a code
    id: str  # of the student, or of one of the group; "" where it is anonymous
    upload: str
    late: bool


def canvas(file: str) -> list[Named]:
    """What Canvas may have meant with a file's name, the likeliest first; none for another's.

    There are two where the file begins with a number, as 01_cues.ipynb does: it may be that the
    name before ends with one, and all numbers are one place further. More is impossible, because
    Canvas takes numbers between two `_` out of names.
    """
    if match := ANONYMOUS.fullmatch(file):
        late = bool(match["late"] or match["later"])
        return [Named(f"anon_{match['code']}", "", match["upload"], late)]
    match = CANVAS.fullmatch(file)
    if not match:
        return []
    found = [Named(match["name"], match["id"], match["upload"], bool(match["late"]))]
    if not match["late"] and (more := re.match(r"([0-9]+)_.", match["file"])):
        found.append(Named(f"{match['name']}_{match['id']}", match["upload"], more[1], False))
    return found


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
        if _skipped(path.name) or path.name == GRADESCOPE:
            continue
        files, problem = _files(path) if _is_folder(path) else ([path], "")
        for one in people.get(path.name) or [_owner(path)]:
            if one.source == "folder" and not (path.is_dir() or kind(path.name)):
                nobodys.append(readable(path.name))
                continue
            before, all_files = seen.setdefault(one.student, (one, []))
            late, why = before.late or one.late, before.problem or problem
            seen[one.student] = before._replace(late=late, problem=why), all_files
            all_files += files
    return [_with_files(*seen[student], folder) for student in sorted(seen)], nobodys


def of_one(folder: Path, student: str) -> HandIn:
    """The hand-in of a folder that is one student's."""
    files, problem = _files(folder)
    one = HandIn(student, student, "", False, "folder", (), (), problem=problem)
    return _with_files(one, files, folder)


def _owner(path: Path) -> HandIn:
    """Whose a folder or a file is, by what the platform wrote first in its name."""
    if moodle := MOODLE.fullmatch(path.name):
        return _named(moodle["name"], moodle["id"], False, "moodle")
    if not path.is_dir() and (of_canvas := canvas(path.name)):
        return _named(of_canvas[0].name, of_canvas[0].id, of_canvas[0].late, "canvas")
    name = path.name
    for end in () if path.is_dir() else KINDS:
        if path.name.lower().endswith(end):
            name = path.name[: -len(end)]
    return _named(name, "", False, "folder")


def _named(name: str, number: str, late: bool, source: str) -> HandIn:
    student = readable(f"{name}_{number}" if number else name)
    return HandIn(student, readable(name), number, late, source, (), ())


def _with_files(one: HandIn, files: list[Path], folder: Path) -> HandIn:
    chosen = choose({path: kind(path.name) for path in files})
    rest = sorted(set(files) - set(chosen))
    others = tuple(readable(str(path.relative_to(folder))) for path in rest)
    return one._replace(files=() if one.problem else tuple(chosen), others=others)


def _skipped(name: str) -> bool:
    return name.startswith((".", "__MACOSX"))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _files(folder: Path) -> tuple[list[Path], str]:
    """What is in a student's folder and below, and why there may be more.

    Links are not followed, only reported.
    """
    found, waiting, seen = [], [(folder, 0)], 0
    while waiting:
        here, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return found, f"it has folders in folders, more than {MAX_DEPTH} deep"
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    seen += 1
                    if seen > MAX_FILES:
                        return found, f"it has more than {MAX_FILES} files and folders"
                    if _skipped(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((Path(entry), depth + 1))
                    else:
                        found.append(Path(entry))
        except OSError as problem:
            return found, f"a folder in it cannot be opened: {problem.strerror}"
    return sorted(found), ""


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
        elif line[4:5] != ":":
            continue  # a part of a name that has several lines, or of something else
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
