"""Read what students hand in. Executes nothing, raises nothing but Unreadable."""

from __future__ import annotations

import ast
import json
from typing import NamedTuple

from . import repair

MAX_SOURCE = 4 << 20  # characters of all cells
PLACEHOLDER = "*write here*"
NOT_YET = "not answered yet"
SELF_CHECK = "### SELF-CHECK"
EXPERIMENT = "### EXPERIMENT"  # begins a cell that a person reads
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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

    All of it is Python (see `repair`). Of our own self-check cells only definitions run: a student
    may have written an answer there.
    """
    found = []
    for number, (kind, text) in enumerate(cells, start=1):
        if kind != "code" or not text.strip() or text.lstrip().startswith(EXPERIMENT):
            continue
        source = repair.python(text)
        if source is not None:
            found.append((number, definitions(source) if SELF_CHECK in text else source))
    return found


def tree_of(source: str) -> ast.Module | None:
    """A cell's syntax, or that of the file it writes; None where it is no Python or too deep."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match tree.body:
        case [ast.Expr(ast.Call(ast.Attribute(attr="run_cell_magic"), [_, _, ast.Constant(body)]))]:
            return tree_of("\n" + str(body))
    return tree


def text_of(node: ast.AST) -> str:
    """A node as `ast` writes it, "" where that is too deep."""
    try:
        return ast.unparse(node)
    except RecursionError:  # 1 + 1 + ... can be parsed deeper than it can be written
        return ""


def definitions(source: str) -> str:
    """What a cell imports and defines, without what it does; empty where it is no Python."""
    tree = tree_of(source)
    body = tree.body if tree is not None else []
    return "\n".join(text_of(node) for node in body if isinstance(node, DEFINITIONS))


class Given(NamedTuple):
    """What the released notebook holds already, as `given` finds it."""

    functions: tuple[str, ...] = ()  # as `ast` writes them
    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # what it defines: a hand-in does, too
    delivered: tuple[str, ...] = ()  # of these what students are to write


def given_parts(cells) -> Given:
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
    """The functions, classes and variables that code cells define outside of these."""
    found, waiting = set(), [tree_of(source) for _, source in code]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [name for target in targets for name in ast.walk(target)]
            found |= {name.id for name in names if isinstance(name, ast.Name)}
        elif node is not None:
            waiting += ast.iter_child_nodes(node)
    return found
