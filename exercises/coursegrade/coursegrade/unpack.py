"""From the file of a hand-in to its cells, in the worker: nothing is written, nothing is run."""

from __future__ import annotations

import io
import re
import stat
import zipfile
from pathlib import PurePosixPath

from .handins import MAX_SIZE, choose, kind
from .notebook import MAX_SOURCE, Unreadable, parse

MAX_MEMBERS = 1000
REPEATED = re.compile(r"[:,[-]\s*\*\w")  # an alias of YAML
MAX_CELLS = 2000  # an assignment has some 40
MAX_CODE = (
    1 << 20
)  # characters; as a tree they are some 300 times as large, pictures in text are not


def cells(name: str, raw: bytes) -> list[tuple[str, str]]:
    """The cells of a notebook, of a script, or of the one notebook or script in an archive."""
    if raw.startswith(b"PK\x03\x04"):
        name, raw = _member(raw)
    found = _script(raw) if kind(name) == "script" else parse(raw)
    if len(found) > MAX_CELLS:
        raise Unreadable(f"it has {len(found)} cells, {MAX_CELLS} are read at most")
    if sum(len(source) for kind, source in found if kind == "code") > MAX_CODE:
        raise Unreadable(f"it has more than {MAX_CODE >> 20} million characters of code")
    return found


def _member(raw: bytes) -> tuple[str, bytes]:
    """The one file of an archive that can be read; none is unpacked, no path in it is used."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise Unreadable(f"the archive holds {len(members)} files")
            names = [member.filename for member in members if not _hidden(member.filename)]
            chosen = choose({name: kind(name) for name in names if kind(name) != "archive"})
            if len(chosen) != 1:
                held = ", ".join(chosen or names[:20]) or "nothing"
                raise Unreadable(f"the archive has {len(chosen)} notebooks, one is needed: {held}")
            member = archive.getinfo(chosen[0])
            if stat.S_ISLNK(member.external_attr >> 16):
                raise Unreadable(f"{chosen[0]} in the archive is a link")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Unreadable("the archive is packed in a way that is not read")
            with archive.open(member) as file:
                content = file.read(MAX_SIZE + 1)
    except (zipfile.BadZipFile, RuntimeError, EOFError, OSError, ValueError, KeyError) as problem:
        raise Unreadable(f"the archive cannot be read: {problem}"[:300]) from None
    if len(content) > MAX_SIZE:
        raise Unreadable(f"{chosen[0]} in the archive is larger than {MAX_SIZE >> 20} MB")
    return chosen[0], content


def _hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)
    return hidden or name.endswith("/")


def _script(raw: bytes) -> list[tuple[str, str]]:
    import jupytext

    text = raw.decode("utf-8-sig", "replace")
    if len(text) > MAX_SOURCE:
        raise Unreadable(f"it has more than {MAX_SOURCE >> 20} million characters")
    if text.startswith("# ---") and REPEATED.search(text.partition("\n# ---")[0]):
        raise Unreadable("the YAML in its header repeats parts of itself, which can have no end")
    # A cell before all: jupytext takes the header for a comment, and reads no YAML.
    cells = jupytext.reads(f"# %%\n{text}", fmt="py:percent").cells
    return [(cell.cell_type, cell.source) for cell in cells if cell.source.strip()]
