"""Read what students hand in. Executes nothing, raises nothing but Unreadable."""

from __future__ import annotations

import ast
import json
import re
from typing import NamedTuple

MAX_SOURCE = 4 << 20  # characters of all cells
PLACEHOLDER = "*write here*"
NOT_YET = "not answered yet"
SELF_CHECK = "### SELF-CHECK"
EXPERIMENT = "### EXPERIMENT"  # begins a cell that a person reads
NAMES = re.compile(r"[\w, \t]+")
QUESTION = re.compile(r"[\w.]+\?{1,2}")
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
KEPT_CELL_MAGICS = ("time", "timeit", "capture", "prun")  # their cells are Python


class Unreadable(Exception):
    """The hand-in can't be read: no marks, not zero marks."""

    def __init__(self, why: str):
        super().__init__(why[:300])  # there may be names of files in it


def parse(raw: bytes) -> list[tuple[str, str]]:
    """The cells of a notebook as (kind, source). Outputs and attachments are dropped at once."""
    if not raw.strip():
        raise Unreadable("the file is empty")
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Unreadable("it is not a whole notebook (cut short, or not JSON)") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("it is JSON, but not a notebook of format 4")
    found = [_cell(cell) for cell in cells if isinstance(cell, dict)]
    if sum(len(source) for _, source in found) > MAX_SOURCE:
        raise Unreadable(f"it has more than {MAX_SOURCE >> 20} million characters without outputs")
    return found


def _cell(cell: dict) -> tuple[str, str]:
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    return str(cell.get("cell_type")), text.encode(errors="replace").decode()


def code_cells(cells) -> list[tuple[int, str]]:
    """(number, source) of the cells to run, numbered from 1 as a reader counts all cells.

    Of our own self-check cells only definitions run: a student may have written an answer there.
    """
    found = []
    for number, (kind, source) in enumerate(cells, start=1):
        if kind != "code" or not source.strip() or source.lstrip().startswith(EXPERIMENT):
            continue
        if source.lstrip().startswith("%%"):
            magic, _, source = source.lstrip().partition("\n")
            if magic[2:].split(" ")[0].strip() not in KEPT_CELL_MAGICS:
                continue
        source = _plain(source)
        if SELF_CHECK in source:
            source = definitions(source)
        found.append((number, source))
    return found


def _plain(source: str) -> str:
    """Python alone. What parses stays as it is: a `%` may be a continued line's modulo."""
    if tree_of(source) is not None:
        return source
    lines = source.split("\n")
    return "\n".join(_indent(line) + "pass" if _is_magic(line) else line for line in lines)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_magic(line: str) -> bool:
    """A line of IPython's own: a magic, a shell command, a question; also after ``x =``."""
    bare = line.strip(" \t")
    left, _, right = line.partition("=")
    assigned = right.lstrip(" \t").startswith(("%", "!")) and NAMES.fullmatch(left)
    return bare.startswith(("%", "!", "?")) or bool(assigned or QUESTION.fullmatch(bare))


def tree_of(source: str) -> ast.Module | None:
    """A cell's syntax, None where it is no Python or too deep for one."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def text_of(node: ast.AST) -> str:
    """A node as `ast` writes it, "" where that is too deep."""
    try:
        return ast.unparse(node)
    except RecursionError:  # 1 + 1 + ... can be parsed deeper than it can be written
        return ""


def parts(source: str) -> list[str]:
    """What a cell imports and defines, one by one, without what it does."""
    tree = tree_of(source)
    body = tree.body if tree is not None else []
    return [text_of(node) for node in body if isinstance(node, DEFINITIONS)]


def definitions(source: str) -> str:
    """What a cell defines, without what it does; empty where it is no Python."""
    return "\n".join(parts(source))


class Given(NamedTuple):
    """What the released notebook holds already, as `given` finds it."""

    functions: tuple[str, ...] = ()  # as `ast` writes them
    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # what it defines: a hand-in does, too
    delivered: tuple[str, ...] = ()  # of these what students are to write


def given(cells) -> Given:
    """What students get: all that is not of it is theirs."""
    code = code_cells(cells)
    asked = code_cells([cell for cell in cells if SELF_CHECK not in cell[1]])
    return Given(
        tuple(sorted({text_of(node) for _, source in code for node in functions_in(source)})),
        tuple(sorted({source.strip() for _, source in cells})),
        tuple(sorted(names_in(asked) - {"STUDENT"})),
    )


def functions_in(source: str) -> list[ast.AST]:
    """Every function and method of a cell."""
    tree = tree_of(source)
    nodes = ast.walk(tree) if tree is not None else ()
    return [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def names_in(code) -> set[str]:
    """The functions, classes and variables that code cells define at their top level."""
    found = set()
    for _, source in code:
        tree = tree_of(source)
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign):
                names = [name for target in node.targets for name in ast.walk(target)]
                found |= {name.id for name in names if isinstance(name, ast.Name)}
    return found
