"""The self-checks that travel in the students' notebook. This file's functions are inlined there:

nothing but torch may be imported, and every message is for a student.
"""

import ast
import hashlib
import json
import re
import sys
from pathlib import Path

import torch

from .kinds import Answers, Kept

STUDENT = ""  # the notebook's own cell sets it
KEPT = Kept()  # the tools' cell has one, too


def check(*tests):
    """Run self-checks on numbers that are yours alone, and say what is probably wrong."""
    for test in tests:
        for case in getattr(test, "cases", [{}]):
            name = test.__name__ + "".join(f"[{value}]" for value in case.values())
            digest = hashlib.sha256(f"{STUDENT}/{name}".encode()).digest()
            rng = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
            try:
                test(Answers(globals(), KEPT), rng, **case)
            except NotImplementedError:
                print("NOT YET ", name, "- not answered yet")
            except Exception as problem:
                words = str(problem).strip().split("\n")[0] or "the result is not right yet"
                if not isinstance(problem, AssertionError):
                    words = f"{type(problem).__name__}: {words}"
                print("NOT YET ", name, "-", words)
            else:
                print("ok      ", name)


def dry_run(names, modules, most=64):
    """Say what grading will say of this notebook; save it before."""
    gone = [name for name in names if name not in globals()]
    said = [f"{name} is not defined: its question has no answer" for name in gone]
    said += [f"{name} gives {kind}, where numbers are wanted" for name, kind in sorted(KEPT.odd)]
    books = [path for path in Path().glob("*.ipynb") if "dry_run([" in path.read_text("utf-8")]
    for path in sorted(books):
        size = path.stat().st_size / 2**20
        if size > most:
            said.append(f"{path.name} has {size:.0f} MB, and {most} at most: clear its outputs")
        for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"], start=1):
            if cell["cell_type"] == "code" and not "".join(cell["source"]).startswith("### EXP"):
                said += [f"{path.name}, cell {number} {words}" for words in of_cell(cell, modules)]
    if not books:
        said.append("this notebook's file is not found here, so that its cells are not looked at")
    for words in said or ["nothing was found that would cost points"]:
        print("dry run  ", words)
    print("dry run   values are compared: float64, numpy, a list or a tuple is as good as a tensor")


def of_cell(cell, modules):
    """What grading will say of one cell."""
    for output in cell["outputs"]:
        if output["output_type"] == "error":
            yield f"ended in {output['ename']}: the line that raised it does not count"
    source = "".join(cell["source"])
    if source.startswith("%%"):
        return
    try:
        tree = ast.parse(re.sub(r"^[ \t]*[%!](?:.*\\\n)*.*$", "0", source, flags=re.MULTILINE))
    except SyntaxError as problem:
        yield f"is no Python at its line {problem.lineno}: what can't be read does not count"
        return
    for node in ast.walk(tree):
        found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found += [node.module or ""] if isinstance(node, ast.ImportFrom) else []  # "" of a dot
        for name in {name.partition(".")[0] for name in found}:
            if name and name not in modules and name not in sys.stdlib_module_names:
                yield f"imports {name}, which is not there in grading"
