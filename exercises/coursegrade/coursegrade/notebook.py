"""Read what students hand in. Executes nothing, raises nothing but Unreadable."""

from __future__ import annotations

import ast
import json
import os
import re
import stat
from pathlib import Path

MAX_SIZE = 10 << 20  # bytes
MAX_ANSWER = 5000  # characters of a written answer
PLACEHOLDER = "*write here*"
SELF_CHECK = "### SELF-CHECK"
ANSWER = re.compile(r"\s*\*\*Answer (Q\d+):\*\*(.*)", re.DOTALL | re.IGNORECASE)
# A line of IPython's own: a magic, a shell command, a question; also after "x ="
MAGIC = re.compile(
    r"^([ \t]*)(?:[%!?].*|[\w, \t]+=[ \t]*[%!].*|[\w.]+\?{1,2}[ \t]*)$", re.MULTILINE
)
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
KEPT_CELL_MAGICS = ("time", "timeit", "capture", "prun")  # their cells are Python


class Unreadable(Exception):
    """The hand-in can't be read: no marks, not zero marks."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a plain file; a link, a pipe or anything large is refused without waiting."""
    try:
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError as problem:
        link = path.is_symlink()
        why = "it is a link" if link else str(problem.strerror)
        raise Unreadable(f"the file cannot be opened: {why}") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("it is not a regular file")
        if status.st_size > MAX_SIZE:
            raise Unreadable(f"the file is larger than {MAX_SIZE >> 20} MB")
        return file.read(MAX_SIZE + 1)


def parse(raw: bytes) -> list[tuple[str, str]]:
    """The cells of a notebook as (kind, source)."""
    if not raw.strip():
        raise Unreadable("the file is empty")
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Unreadable("it is not a whole notebook (cut short, or not JSON)") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("it is JSON, but not a notebook of format 4")
    return [_cell(cell) for cell in cells if isinstance(cell, dict)]


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
        if kind != "code" or not source.strip():
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
    try:
        ast.parse(source)
        return source
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return MAGIC.sub(r"\1pass", source)


def definitions(source: str) -> str:
    """What a cell defines, without what it does; empty where it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    tree.body = [node for node in tree.body if isinstance(node, DEFINITIONS)]
    return ast.unparse(tree)


def answers(cells) -> dict[str, str]:
    """The written answers by question, without our placeholder."""
    found: dict[str, str] = {}
    for kind, source in cells:
        match = ANSWER.match(source) if kind == "markdown" else None
        if match:
            text = re.sub(r"<!--.*?-->", "", match[2], flags=re.DOTALL).strip()
            text = "" if text == PLACEHOLDER else text
            question = match[1].lower()
            found[question] = f"{found.get(question, '')}\n{text}".strip()[:MAX_ANSWER]
    return found


def forbidden_calls(cells, forbidden: dict[str, list[str]]) -> list[str]:
    """Where the code names what a question forbids: for a person to look at, not a verdict."""
    flags = []
    for number, source in code_cells(cells):
        try:
            nodes = list(ast.walk(ast.parse(source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for question, names in forbidden.items():
            wanted = {name.rsplit(".", 1)[-1] for name in names}
            for node in nodes:
                if hit := wanted & _named(node):
                    line = getattr(node, "lineno", 1)
                    flags.append(f"{question}: cell {number}, line {line} names {min(hit)}")
    return list(dict.fromkeys(flags))


def _named(node) -> set[str]:
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.ImportFrom):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}  # getattr(F, "…")
    return set()
