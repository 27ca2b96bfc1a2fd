"""A hand-in goes one way through the package, and so do its imports, those in functions too."""

import ast
import graphlib
import itertools
from pathlib import Path

from coursegrade import batch

FILES = {path.stem: path for path in Path(batch.__file__).parent.glob("*.py")}
STEPS = ["__main__", "batch", "worker", "grade_one", "runner", "student", "box", "wire"]


def imports(path):
    """The package's files that a file imports, at its head or in a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.level or node.module == "coursegrade"):
            inside = node.module and node.module != "coursegrade"
            found |= {node.module} if inside else {alias.name for alias in node.names}
    return found & set(FILES)


def test_imports_have_no_circle_and_follow_a_hand_in():
    graph = {name: imports(path) for name, path in FILES.items()}
    list(graphlib.TopologicalSorter(graph).static_order())  # CycleError names a circle
    for above, below in itertools.pairwise(STEPS):
        assert below in graph[above], (above, below)
    assert not graph["driver"]  # it runs in the box
