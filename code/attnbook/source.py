"""Print the package's own code in a chapter, so that page and package cannot drift apart."""

from __future__ import annotations

import inspect


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
    parts = [inspect.getsource(thing) for thing in objects]
    if not docstring:
        parts = [_without_docstring(part) for part in parts]
    return Source("\n\n".join(part.rstrip() for part in parts))


def _without_docstring(code: str) -> str:
    """Cut the first docstring of a definition, leaving its lines of code untouched."""
    import ast

    node = ast.parse(inspect.cleandoc("\n" + code)).body[0]
    lines = code.splitlines()
    cuts = []
    for inner in ast.walk(node):
        body = getattr(inner, "body", None)
        if isinstance(inner, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(inner) and body:
            cuts.append((body[0].lineno - 1, body[0].end_lineno))
    for start, end in sorted(cuts, reverse=True):
        del lines[start:end]
    return "\n".join(lines)
