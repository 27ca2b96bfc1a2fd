"""The book's chapters, from the metadata of their notebooks: the one place that knows them.

A notebook that is a page of a chapter says so at its top level, under `attnbook`:

    {"chapter": "3b", "way": "further", "assignment": "03_scoring",
     "signature": {"draw": "scorings", "caption": "One long key under four scores: ..."},
     "run": {"code": "5f0b1c...", "seconds": 7.4}}

`chapter` is its number, with a letter where the chapter has several pages; the file's name begins
with the number, so that files stand in order. `way` is the shortest way through the book that the
page lies on. `assignment` is a folder of exercises/. `signature` names a function of
book/_ext/attn_signature.py and says what its picture shows. `run` is what `make notebooks` has
measured. All but the first two may be missing.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from devkit import ROOT

LABEL = re.compile(r"([1-9]\d?)([a-z]?)")
# Two hours; a day, to build a Transformer; and then what only the whole course needs: chapters,
# what goes further, what holds the evidence.
WAYS = ("short", "transformer", "everything", "further", "evidence")
# The ways that a reader chooses from. Each has the pages of those before it, and the last has all.
ROUTES = WAYS[:3]
ENDS = {"short": "playground"}  # a page that is no chapter and ends a way


@dataclass(frozen=True)
class Chapter:
    """A page of a chapter."""

    name: str  # of its file: 03_scoring
    number: int
    letter: str  # "" where it is the chapter's only page
    way: str
    assignment: str | None = None
    signature: dict = field(default_factory=dict)
    seconds: float | None = None  # that its present code takes, if that has been measured

    @property
    def label(self) -> str:
        """Its number as readers see it: 4, or 3b."""
        return f"{self.number}{self.letter}"


def code_hash(notebook) -> str:
    """A short hash of the code that a reader sees; prose, outputs, set-up do not matter."""
    cells = [
        c
        for c in notebook["cells"]
        if c["cell_type"] == "code" and "remove-cell" not in c["metadata"].get("tags", [])
    ]
    code = "\0".join("".join(c["source"]) for c in cells)
    return hashlib.sha256(code.encode("utf-8")).hexdigest()[:16]


def read(path: Path) -> Chapter | None:
    """What a notebook says of itself; None if it is no page of a chapter.

    Raises:
        ValueError: its number is none, or is not that of its name; it lies on no way.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    said = notebook["metadata"].get("attnbook", {})
    label = LABEL.fullmatch(said.get("chapter", ""))
    numbers = re.findall(r"^\d+", path.stem), [f"{int(label[1]):02}"] if label else []
    if numbers[0] != numbers[1]:
        raise ValueError(
            f"{path.name}: metadata.attnbook.chapter must be its number, such as 3 or 3b for "
            f"03_scoring.ipynb, got {said.get('chapter')!r}"
        )
    if not label:
        return None
    if said.get("way") not in WAYS:
        raise ValueError(
            f"{path.name}: metadata.attnbook.way must be one of {', '.join(WAYS)}, "
            f"got {said.get('way')!r}"
        )
    run = said.get("run", {})
    return Chapter(
        name=path.stem,
        number=int(label[1]),
        letter=label[2],
        way=said["way"],
        assignment=said.get("assignment"),
        signature=said.get("signature", {}),
        seconds=run["seconds"] if run.get("code") == code_hash(notebook) else None,
    )


@cache
def chapters(book: Path = ROOT / "book") -> dict[str, Chapter]:
    """Every page of a chapter in a folder, by its name, in their order."""
    pages = filter(None, map(read, sorted(book.glob("*.ipynb"))))
    return {page.name: page for page in sorted(pages, key=lambda p: (p.number, p.letter))}


def route(way: str, book: Path = ROOT / "book") -> list[str]:
    """The names of the pages on one of ROUTES, in their order."""
    near = WAYS if way == ROUTES[-1] else WAYS[: WAYS.index(way) + 1]
    pages = [page.name for page in chapters(book).values() if page.way in near]
    end = ENDS.get(way, "")
    return [*pages, end] if (book / f"{end}.md").is_file() else pages


def chapter_of(source: str | Path, docname: str) -> Chapter | None:
    """The chapter's page that this document of a book in the folder `source` is, or None."""
    folder, _, name = docname.rpartition("/")
    return chapters(Path(source) / folder).get(name)
