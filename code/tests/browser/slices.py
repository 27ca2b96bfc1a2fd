"""What a notebook's widgets need: its statements, without those that nothing of theirs rests on.

A chapter may train for a minute before it shows a widget that needs none of it. nbval runs the
whole chapter; a front end, which is here for the widgets, runs this.
"""

from __future__ import annotations

import ast
import symtable

import nbformat

VIEW = "application/vnd.jupyter.widget-view+json"
MODULES = {"ab", "torch", "plt", "print"}  # a call of theirs changes nothing that a cell made
PLAIN = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def names(statement: ast.stmt) -> tuple[set[str], set[str], set[str]]:
    """The names that a statement wants from earlier ones, that it binds, that it may change."""
    top = symtable.symtable(ast.unparse(statement), "cell", "exec")
    binds = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    reads, waiting = set(), [top]
    while waiting:  # in functions of its own, too
        table = waiting.pop()
        waiting += table.get_children()
        used = [s for s in table.get_symbols() if s.is_referenced()]
        reads |= {s.get_name() for s in used if table is top or s.is_global()}
    if not isinstance(statement, PLAIN):
        reads -= binds  # a loop reads what it has bound
    return reads, binds, _changed(statement) & reads - MODULES


def _changed(statement: ast.stmt) -> set[str]:
    """What it changes in place: by an item, an attribute, or a call alone on a line."""
    stored = [
        node.value
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        stored.append(statement.value.func)  # model.load_state_dict(...)
    nodes = [node for value in stored for node in ast.walk(value)]
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def widget_slice(notebook: nbformat.NotebookNode, shown: set[str]) -> nbformat.NotebookNode:
    """The cells of these ids whole, and of those before them what they rest on; all the text."""
    needed, kept = set(), []
    for cell in reversed(notebook.cells):
        if cell.cell_type == "code":
            needed, source = _rest(cell.source, needed, whole=cell.id in shown)
            if not source:
                continue
            cell = nbformat.v4.new_code_cell(source, id=cell.id, outputs=cell.outputs)
        kept.append(cell)
    return nbformat.v4.new_notebook(cells=kept[::-1], metadata=notebook.metadata)


def _rest(source: str, needed: set[str], whole: bool) -> tuple[set[str], str]:
    """What of a cell is needed, and what that needs."""
    lines, kept = source.splitlines(), []
    for statement in reversed(ast.parse(source).body):
        reads, binds, changes = names(statement)
        if whole or (binds | changes) & needed:
            needed = (needed - binds) | reads
            first = min([statement.lineno, *(d.lineno for d in _decorators(statement))])
            kept.append("\n".join(lines[first - 1 : statement.end_lineno]))
    return needed, source if whole else "\n".join(kept[::-1])


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return getattr(statement, "decorator_list", [])


def widget_cells(chapter: nbformat.NotebookNode) -> list[str]:
    """The ids of the cells of a committed chapter that show a widget."""
    return [
        cell.id
        for cell in chapter.cells
        if any(VIEW in output.get("data", {}) for output in cell.get("outputs", []))
    ]
