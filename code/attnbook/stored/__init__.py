"""What `make train` has stored: tables over many seeds, each with the hash of what made it.

A notebook trains one seed; what it says of twenty comes from here. The tests fail on a table whose
code has changed since, and evaluate its rows again.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PACKAGE = FOLDER.parent


def load_table(name: str) -> list[dict]:
    """Rows of the stored table `name`, one dictionary each.

    Raises:
        ValueError: no such table is stored.
    """
    return load_record(name)["rows"]


def load_record(name: str) -> dict:
    """The whole record: `rows`, and `command`, `code` (hash), `sources`, `torch` that made them."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        stored = sorted(p.stem for p in FOLDER.glob("*.json"))
        raise ValueError(f"name must be one of {stored}, got {name!r}; `make train` stores tables")
    return json.loads(path.read_text(encoding="utf-8"))


def fingerprint(sources: Iterable[str]) -> str:
    """Hash of what package files do: blind to comments, docstrings and layout.

    Args:
        sources: paths inside the package, for instance ``"scores.py"``.
    """
    digest = hashlib.sha256()
    for source in sorted(sources):
        tree = ast.parse((PACKAGE / source).read_text(encoding="utf-8"))
        digest.update(f"{source}\n{_skeleton(tree)}\n".encode())
    return digest.hexdigest()


def _skeleton(node) -> str:
    """The syntax tree as text that no Python version writes differently, without docstrings."""
    if isinstance(node, list):
        return "[" + ",".join(map(_skeleton, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value not in (None, [])}
    body = fields.get("body")
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, documented) and ast.get_docstring(node) is not None:
        fields["body"] = body[1:]
    inside = ",".join(f"{name}={_skeleton(value)}" for name, value in sorted(fields.items()))
    return f"{type(node).__name__}({inside})"
