"""Break the chapters on purpose, one sabotage at a time, and see whether an assertion notices.

    python -m devkit.doubt [CHAPTER ...]

The sabotages are in code/tests/doubt/CHAPTER.toml: a table for each file, `["cell"]` for the code
of the chapter itself or a path below `code`, and in it `sabotages`, each what it is, the old text,
which stands there once, and the new one. In `["data"]` nothing of the code is changed but what it
has found: each sabotage is what it is, a cell's id, and a line that runs before that cell and
falsifies a table, a time or an accuracy. The notebook's cells run in order, without outputs, on
copies of the packages. A sabotage is *noticed* if an `assert` of a cell fails. An exception of
another kind is *broken*: nobody can be misled by it, so it says nothing about the claims. What came
out is written to book/doubt.md. Exits with 1 if a sabotage was not noticed.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from devkit import ROOT
from devkit.edits import SECONDS, apart, edited, replace, rows
from devkit.gates import KERNEL_ENV, why_skipped

os.environ.update(KERNEL_ENV)

import nbformat
from IPython.display import display

from devkit.clean import code_cells, tags

PACKAGES = "attnbook", "experiments"
SOURCES = {}  # of the cells that have run, by the file names they were given
LISTS = ROOT / "code" / "tests" / "doubt"
BOOK = ROOT / "book"
PAGE = BOOK / "doubt.md"
INTRODUCTION = """# Broken on purpose

*Would anybody notice if a claim of this book were false?*

A chapter's claims are asserted in its cells. An assertion is worth something only if it can fail. So each chapter has a list of sabotages: a mask that is ignored, weights that are made uniform, a training that learns nothing, an answer that comes from the wrong place. They are applied one at a time to a copy of the code, and the chapter is run. The table says which assertion failed first. `make doubt` repeats it and writes this page.
"""  # noqa: E501


class Cell(NamedTuple):
    """A code cell of a notebook."""

    id: str
    source: str


class Verdict(NamedTuple):
    """What became of a sabotage: "noticed", "broken" or "unnoticed", and by which line."""

    state: str
    by: str = ""


NO_END = Verdict("broken", f"no end within {SECONDS} s")


def load(chapter: str) -> list[dict]:
    """The sabotages of a chapter, those of its cells first."""
    found = rows(LISTS / f"{chapter}.toml", "sabotages")
    return sorted(found, key=lambda sabotage: not of_notebook(sabotage))


def of_notebook(sabotage: dict) -> bool:
    """Whether it changes the chapter, and nothing that the chapter imports."""
    return sabotage["file"] in ("cell", "data")


def doubt(notebook: Path, sabotages: list[dict]) -> list[Verdict]:
    """What becomes of each sabotage of a notebook."""
    found = {}
    of_cells = list(filter(of_notebook, sabotages))
    if of_cells:
        seconds = SECONDS * (1 + len(of_cells))  # each in a fork of its own, and the run itself
        found = apart(rehearse, notebook, str(ROOT / "code"), of_cells, seconds=seconds)
        itself = NO_END if found is None else found.get("itself")
        if itself:
            raise RuntimeError(f"{notebook.name} fails without any sabotage: {itself.by}")
    for sabotage in sabotages:
        if not of_notebook(sabotage):
            with edited(sabotage, *PACKAGES) as folder:
                answer = apart(rehearse, notebook, folder, [])
            unnoticed = NO_END if answer is None else Verdict("unnoticed")
            found[sabotage["what"]] = (answer or {}).get("itself", unnoticed)
    return [found[sabotage["what"]] for sabotage in sabotages]


def rehearse(notebook: Path, folder: str, sabotages: list[dict]) -> dict[str, Verdict]:
    """Run a notebook's cells on the packages in `folder`.

    A sabotage of a cell is tried in a fork, from its cell to the end; after the last of them the
    rest needs no run. "itself" is the verdict on the run as it is, if something failed.
    """
    for name in [n for n in sys.modules if n.partition(".")[0] in PACKAGES]:
        del sys.modules[name]  # so that they come from the folder, in a test's process too
    sys.path.insert(0, folder)
    os.chdir(notebook.parent)
    cells = cells_of(notebook)
    places = {s["what"]: place_of(s, cells) for s in sabotages}
    last = max(places.values(), default=len(cells) - 1)
    names, verdicts = {"__name__": "__main__", "display": display}, {}
    for n, cell in enumerate(cells[: last + 1]):
        for sabotage in sabotages:
            if places[sabotage["what"]] == n:
                rest = [sabotage_cell(cell, sabotage), *(later.source for later in cells[n + 1 :])]
                verdict = apart(run, rest, names) or NO_END
                if verdict.state == "unnoticed" and sabotage["file"] == "data":
                    verdict = Verdict("unnoticed", set_again(cell, sabotage))
                verdicts[sabotage["what"]] = verdict
        verdict = run([cell.source], names)
        if verdict.state != "unnoticed":
            return verdicts | {"itself": verdict}
    return verdicts


def cells_of(notebook: Path, *, all_machines=False) -> list[Cell]:
    """The code cells of a notebook that run here, or on any machine."""
    nb = nbformat.read(notebook, as_version=4)
    run = [c for c in code_cells(nb) if all_machines or not why_skipped(tags(c))]
    return [Cell(cell.id, cell.source) for cell in run]


def place_of(sabotage: dict, cells: list[Cell]) -> int:
    """The number of the one cell that it changes.

    Raises:
        ValueError: there is none, or more than one.
    """
    if sabotage["file"] == "data":
        found = [n for n, cell in enumerate(cells) if cell.id == sabotage["old"]]
        if not found:
            raise ValueError(f"no code cell has the id {sabotage['old']!r}")
        return found[0]
    replace("\0".join(cell.source for cell in cells), sabotage)  # or raise
    return next(n for n, cell in enumerate(cells) if sabotage["old"] in cell.source)


def sabotage_cell(cell: Cell, sabotage: dict) -> str:
    """The source of the cell with the sabotage in it."""
    if sabotage["file"] == "data":
        return f"{sabotage['new']}\n{cell.source}"
    return replace(cell.source, sabotage)


def set_again(cell: Cell, sabotage: dict) -> str:
    """Which names of a line of `["data"]` its cell sets after it, in words."""
    both = bound(sabotage["new"]) & bound(cell.source)
    return f"the cell itself sets {', '.join(sorted(both))} after that line" if both else ""


def bound(source: str) -> set[str]:
    """The names that a source sets, functions and classes included."""
    nodes = list(ast.walk(ast.parse(source)))
    defined = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    stored = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return defined | {n.id for n in stored}


def run(cells: list[str], names: dict) -> Verdict:
    """Execute cells until one fails."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")  # here, and not in the environment: a test's kernel would have it
    for source in cells:
        file = f"<cell {len(SOURCES)}>"
        SOURCES[file] = source
        try:
            exec(compile(source, file, "exec"), names)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            if isinstance(error, AssertionError) and last.filename in SOURCES:
                return Verdict("noticed", assertion(SOURCES[last.filename], last.lineno))
            return Verdict("broken", f"{type(error).__name__}: {error}".splitlines()[0])
        finally:
            pyplot.close("all")
    return Verdict("unnoticed")


def assertion(source: str, line: int) -> str:
    """What the assertion at a line of a cell asserts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) and node.lineno <= line <= node.end_lineno:
            return ast.unparse(node.test)
    raise ValueError(f"no assertion at line {line} of {source!r}")


def section(chapter: str, sabotages: list[dict], verdicts: list[Verdict]) -> str:
    """A chapter's part of the page."""
    noticed = sum(verdict.state == "noticed" for verdict in verdicts)
    lines = [
        f"## {title(chapter)}",
        "",
        f"{noticed} of {len(verdicts)} noticed in the [chapter]({chapter}.ipynb).",
        "",
        "| sabotage | the assertion that fails |",
        "|---|---|",
    ]
    for sabotage, (state, by) in zip(sabotages, verdicts, strict=True):
        by = by.replace("|", "\\|")
        short = by if len(by) <= 90 else by[:87] + "..."
        lines.append(
            f"| {sabotage['what']} | {f'`{short}`' if state == 'noticed' else f'**{state}**'} |"
        )
    return "\n".join(lines) + "\n"


def title(chapter: str) -> str:
    """A chapter's title, as its first cell says it."""
    nb = nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4)
    return nb.cells[0].source.splitlines()[0].removeprefix("# ")


def write(sections: dict[str, str]) -> None:
    """Write the page: these sections anew, the others as they are."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    parts = re.split(r"(?m)^(?=## )", before)[1:]
    kept = {name: part for name in chapters() for part in parts if f"({name}.ipynb)" in part}
    both = {name: part.rstrip() + "\n" for name, part in (kept | sections).items()}
    page = "\n".join([INTRODUCTION, *(both[name] for name in sorted(both))])
    PAGE.write_text(page, encoding="utf-8")


def chapters() -> list[str]:
    """The chapters that have a list."""
    return sorted(path.stem for path in LISTS.glob("*.toml"))


def main(argv=None) -> int:
    """Try the sabotages of the chapters named, or of all, print each, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", choices=[*chapters(), []])
    sections, missed = {}, 0
    for chapter in parser.parse_args(argv).chapters or chapters():
        sabotages = load(chapter)
        verdicts = doubt(BOOK / f"{chapter}.ipynb", sabotages)
        for sabotage, verdict in zip(sabotages, verdicts, strict=True):
            print(f"{verdict.state:9s} {chapter}: {sabotage['what']}: {verdict.by}", flush=True)
            missed += verdict.state != "noticed"
        sections[chapter] = section(chapter, sabotages, verdicts)
    write(sections)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
