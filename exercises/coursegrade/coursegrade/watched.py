"""What a person should look at in a hand-in's code: names that are forbidden, made up or not ours.

A flag, not a verdict: nothing is taken off for it. Who hides well is not found here.
"""

from __future__ import annotations

import ast
import re

from . import modules
from .notebook import SELF_CHECK, Given, code_cells, text_of, tree_of

WRITTEN = re.compile(r"%%(?:write)?file[^\n]*?([\w/]+)\.py\b")

# Ways to a name that is not written down, and from the student's code to the process around it.
BUILTINS = {"eval", "exec", "__import__", "vars", "globals"}  # as names: model.eval() is another
AROUND = {"import_module", "attrgetter", "__dict__", "__getattribute__", "__closure__"}
AROUND |= {
    "__globals__",
    "f_globals",
    "_getframe",
    "sys.modules",
    "wire",
    "gc",
    "ctypes",
    "inspect",
}


def forbidden_calls(cells, forbidden: dict[str, list[str]], given: Given = Given()) -> list[str]:  # noqa: B008
    """Where the student's own code names what a question forbids, or what nothing here needs."""
    wanted = {
        question: {name.rsplit(".", 1)[-1] for name in names}
        for question, names in forbidden.items()
    }
    own = {name for _, text in cells for path in WRITTEN.findall(text) for name in path.split("/")}
    flags, tried = [], set()
    for number, source in code_cells(cells):
        self_check = SELF_CHECK in cells[number - 1][1]
        for node in _own(tree_of(source), set(given.functions), self_check):
            where = f"cell {number}, line {getattr(node, 'lineno', 1)}"
            named = _named(node)
            for question, names in wanted.items():
                if hit := named & names:
                    flags.append(f"{question}: {where} names {min(hit)}")
            around = AROUND | BUILTINS if isinstance(node, ast.Name) else AROUND
            if hit := named & around:
                flags.append(f"{where} uses {min(hit)}")
            if _is_made_up(node):
                flags.append(f"{where} makes up the name of what it gets")
            if isinstance(node, ast.Try):
                tried.update(node.body)  # an import that may fail
            for module in _imported(node) if node not in tried else ():
                if modules.missing(module, own):
                    flags.append(f"cell {number} imports {module}, which is not there in grading")
    return list(dict.fromkeys(flags))


def _own(tree, given: set[str], self_check: bool):
    """The nodes of a cell, but not those of functions that were given, in some edition or other."""
    tools = set(re.findall(r"^ *def (\w+)", "\n".join(given), re.MULTILINE)) if self_check else ()
    waiting = [tree] if tree is not None else []
    while waiting:
        node = waiting.pop()
        function = isinstance(node, ast.FunctionDef)
        if function and (node.name in tools or text_of(node) in given):
            continue
        yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _named(node) -> set[str]:
    if isinstance(node, ast.Attribute):
        return {node.attr, f"{getattr(node.value, 'id', '')}.{node.attr}"}
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {
            name for alias in node.names for name in (alias.name, f"{node.module}.{alias.name}")
        }
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}  # getattr(F, "…")
    return set()


def _imported(node) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []


def _is_made_up(node) -> bool:
    """getattr with a name that is computed."""
    called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr"
    return called and not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant))
