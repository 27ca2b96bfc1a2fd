"""From an exercise's one source to the students' notebook, and the solution apart from it."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from pathlib import Path

import jupytext
import nbformat

from . import kinds, notebook, selfcheck, testing
from .answers import HEADING
from .exercise import Exercise, question_of, tests_in
from .modules import MODULES
from .notebook import EXPERIMENT, PLACEHOLDER, SELF_CHECK

BLOCK = r"^([ \t]*)### BEGIN {0}[ \t]*\n(.*?)^[ \t]*### END {0}[ \t]*\n"
SOLUTION = re.compile(BLOCK.format("SOLUTION"), re.MULTILINE | re.DOTALL)
RELEASED = re.compile(BLOCK.format("RELEASED"), re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"### (BEGIN|END)|SOLUTION")
CHECK = re.compile(r"### CHECK (q\d+)\s*")
STUB = "raise NotImplementedError  # your code here"
RULES = (
    "Grading compares values and not kinds: float64, an array of numpy, a list or a tuple is as "
    "good as a tensor, and a number as a tensor without axes. Where a question speaks of "
    "gradients, they must flow, and only tensors have them. A function leaves what it is given as "
    "it was. In grading there are Python's own modules and "
    f"{', '.join(MODULES[:-1])} and {MODULES[-1]}, and no GPU."
)
INLINED = (kinds.plain, kinds._table, kinds.close, kinds.same, kinds.Kept, kinds._parts)
INLINED += (kinds._stamp, kinds.Answers, selfcheck.check, selfcheck.dry_run, selfcheck.of_cell)
MODULES_OF_TOOLS = "ast hashlib itertools json numbers re sys torch".split()
APART = "plain close same Kept Answers normal unit draw each allowed some weights_over_keys".split()
NAME_APART = re.compile(rf"(?<![.\w])({'|'.join(APART)})\b")
LEAST = 20  # characters of a line that says something: "return weights" does not


class Leak(ValueError):
    """The released notebook would show something of the solution or of the hidden tests."""


def build(exercise: Exercise, solution: bool = False) -> str:
    """The notebook's text, for students or with the solution.

    Raises:
        Leak: not for students: a marker is out of place, or a solution's line would be seen.
    """
    book = jupytext.reads(exercise.source, fmt="py:percent")
    for number, cell in enumerate(book.cells):
        cell.id = f"{exercise.name}-{number}".replace("_", "-")
        cell.metadata.pop("lines_to_next_cell", None)
        cell.source = _cell(cell, exercise, solution)
    book.cells[0].source += f"\n\n{RULES}"
    names = ", ".join(f'"{name}"' for name in deliverables(exercise))
    modules = ", ".join(f'"{name}"' for name in MODULES)
    head = f"{SELF_CHECK} dry run: save the notebook, run me, change nothing"
    last = nbformat.v4.new_code_cell(f"{head}\n\n\ndry_run([{names}], [{modules}])")
    last.id = f"{exercise.name}-dry-run".replace("_", "-")
    book.cells.append(last)
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.validate(book)
    text = nbformat.writes(book)
    if not solution:
        leaks = find_leaks(exercise, "\n".join(cell.source for cell in book.cells))
        if leaks:
            raise Leak(f"{exercise.name} is not released:\n  " + "\n  ".join(leaks))
    return text + "\n"


def _cell(cell, exercise: Exercise, solution: bool) -> str:
    source = cell.source + "\n"
    if match := CHECK.fullmatch(source):
        source = check_cell(exercise, match[1])
    elif source.strip() == "### TOOLS":
        source = tools_cell(exercise)
    elif solution:
        source = RELEASED.sub("", source)
        source = SOLUTION.sub(lambda match: match[2], source)
    elif cell.cell_type == "markdown":
        source = SOLUTION.sub(f"\n{PLACEHOLDER}\n", source)
    else:
        stub = STUB.partition("  ")[2] if source.startswith(EXPERIMENT) else STUB
        source = SOLUTION.sub(rf"\1{stub}\n", source)
        source = re.sub(rf"[ \t]*{STUB}\n(?=[ \t]*### BEGIN RELEASED)", "", source)
        source = RELEASED.sub(lambda match: re.sub(r"#\| ?", "", match[2]), source)
    return source.rstrip("\n")


def tools_cell(exercise: Exercise) -> str:
    """What all self-checks share: imports, helpers of the public tests, and `check`.

    What the public tests import of `testing` is among the helpers.
    """
    tree = ast.parse(exercise.tests.public)
    imports, helpers, things = [], [], list(INLINED)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "coursegrade.testing":
            things += [getattr(testing, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
        elif not (isinstance(node, ast.Expr) or node in tests_in(tree)):
            helpers.append(_source(exercise.tests.public, node))
    imports += [f"import {name}" for name in MODULES_OF_TOOLS]
    imports += ["from collections.abc import Mapping, Sequence", "from pathlib import Path"]
    parts = [inspect.getsource(thing).rstrip() for thing in dict.fromkeys(things)]
    head = f"{SELF_CHECK} tools: run me, change nothing"
    parts += ["KEPT = Kept()"]
    return apart("\n\n\n".join(["\n".join([head, *sorted(set(imports))]), *parts, *helpers]))


def apart(source: str) -> str:
    """Code of ours in whose words no name of a student's can stand: `close` becomes `_close`."""
    lines = source.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in reversed([token for token in tokens if token.type == tokenize.NAME]):
        (row, start), (_, end) = token.start, token.end
        line = lines[row - 1]
        if NAME_APART.fullmatch(line[:end], start):
            lines[row - 1] = f"{line[:start]}_{line[start:]}"
    return "".join(lines)


def check_cell(exercise: Exercise, question: str) -> str:
    """The public tests of one question, with the call that runs them."""
    public = exercise.tests.public
    tests = [test for test in tests_in(ast.parse(public)) if question_of(test) == question]
    head = f"{SELF_CHECK} {question}: run me, change nothing (grading has its own copy)"
    call = f"check({', '.join(test.name for test in tests)})"
    return apart("\n\n\n".join([head, *(_source(public, test) for test in tests), call]))


def _source(text: str, node) -> str:
    lines = text.splitlines()
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return "\n".join(lines[first - 1 : node.end_lineno])


def references(exercise: Exercise) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Of each coded question in order: what it is called, the names it defines, our source of them.

    The source holds what stands before, too, so that it runs by itself.
    """
    found: dict[str, tuple[str, tuple[str, ...], str]] = {}
    question, source = "", ""
    for kind, text in notebook.parse(build(exercise, solution=True).encode()):
        if kind == "markdown" and (heading := HEADING.match(text)):
            question = heading[1].lower()
        elif kind == "code" and SELF_CHECK not in text:
            source += text + "\n\n"
            names = {*found.get(question, ("", (), ""))[1], *notebook.names_in([(0, text)])}
            found[question] = question, tuple(sorted(names)), source
    return tuple(found[question] for question in exercise.points())


def deliverables(exercise: Exercise) -> tuple[str, ...]:
    """The functions and classes that students are to write, in order."""
    found = []
    for cell in jupytext.reads(exercise.source, fmt="py:percent").cells:
        if cell.cell_type == "code" and not cell.source.startswith(EXPERIMENT):
            for node in ast.parse(cell.source).body:
                if hasattr(node, "name") and "### BEGIN SOLUTION" in _source(cell.source, node):
                    found.append(node.name)
    return tuple(found)


def given_parts(exercise: Exercise) -> notebook.Given:
    """What students get of an exercise, so that a hand-in's own can be told from it."""
    cells = notebook.parse(build(exercise).encode())
    return notebook.given_parts(cells)._replace(delivered=deliverables(exercise))


def find_leaks(exercise: Exercise, released: str) -> list[str]:
    """Lines of solutions and of hidden tests that the released text shows, and stray markers."""
    shown = {line.strip() for line in released.splitlines()}
    found = [f"a marker is left: {line}" for line in shown if MARKER.search(line)]
    plain = re.sub(r"^# ?", "", exercise.source, flags=re.MULTILINE)  # written answers, too
    declared = " ".join(match[2] for match in RELEASED.finditer(exercise.source))
    for text in (exercise.source, plain):
        for match in SOLUTION.finditer(text):
            found += [f"a line of a solution: {line}" for line in _telling(match[2], shown)]
    hidden = [line.strip() for line in exercise.tests.hidden.splitlines()]
    judging = [line for line in hidden if line.startswith(("assert", "def test_"))]  # not helpers
    found += [f"a line of a hidden test: {line}" for line in _telling("\n".join(judging), shown)]
    return sorted({words for words in found if words.partition(": ")[2] not in declared})


def _telling(block: str, shown: set[str]) -> list[str]:
    lines = [line.partition("  # ")[0].strip() for line in block.splitlines()]
    long = [
        line for line in lines if len(line) >= LEAST and not line.startswith(("import", "from"))
    ]
    return [line for line in long if any(line in other for other in shown)]


def write(exercise: Exercise, out: Path) -> tuple[Path, Path]:
    """Write both notebooks: OUT/student/NAME.ipynb and OUT/solution/NAME.ipynb."""
    exercise.rubrics()  # refuse before writing
    student, solution = build(exercise), build(exercise, solution=True)
    paths = out / "student" / f"{exercise.name}.ipynb", out / "solution" / f"{exercise.name}.ipynb"
    for path, text in zip(paths, (student, solution), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return paths
