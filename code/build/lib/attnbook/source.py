"""Print the package's own code in a chapter, so that page and package cannot drift apart."""

from __future__ import annotations

import ast
import inspect

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Source:
    """Source text that shows itself highlighted in a notebook and plain elsewhere."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"


def show_source(*objects, docstring: bool = False) -> Source:
    """Show the code of functions and classes; their docstrings only if asked for.

    Raises:
        TypeError: an object has no Python source.
    """
    parts = [_source_of(thing) for thing in objects]
    if not docstring:
        parts = [_without_docstring(part) for part in parts]
    return Source("\n\n".join(part.rstrip() for part in parts))


def _source_of(thing) -> str:
    try:
        return inspect.getsource(thing)
    except OSError:  # typed at a prompt or built by exec: inspect says only that it found no file
        raise TypeError(f"objects must come from Python files, got {thing!r}") from None


def _without_docstring(code: str) -> str:
    """Cut every docstring of a definition, leaving its lines of code untouched."""
    node = ast.parse(inspect.cleandoc("\n" + code)).body[0]
    lines = code.splitlines()
    cuts = []
    for inner in ast.walk(node):
        if isinstance(inner, _DEFINITIONS) and ast.get_docstring(inner) is not None:
            text = inner.body[0]
            if text.lineno > inner.lineno:  # not a definition on a single line
                cuts.append((text.lineno - 1, text.end_lineno, len(inner.body) == 1))
    for start, end, alone in sorted(cuts, reverse=True):
        indent = lines[start][: -len(lines[start].lstrip())]
        while not alone and not lines[end].strip():
            end += 1  # the blank line between a class's docstring and its code
        lines[start:end] = [f"{indent}..."] if alone else []
    return "\n".join(lines)
