"""Hand-ins made from the solution notebook, and marks without a box for code that is ours."""

import functools
import importlib.util
import json
from pathlib import Path

from coursegrade import notebook, release, runner
from coursegrade.exercise import Exercise
from coursegrade.student import Local

EXERCISES = Path(__file__).resolve().parents[2]
ALL = [Exercise(path) for path in sorted(EXERCISES.glob("[0-9][0-9]_*"))]
NAMES = [exercise.name for exercise in ALL]


def mutants_of(exercise):
    """The exercise's mutants.py, as a module."""
    spec = importlib.util.spec_from_file_location("mutants", exercise.folder / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_of(text):
    """The notebook's code, as it would run."""
    return "\n\n".join(source for _, source in notebook.code_cells(notebook.parse(text.encode())))


def edited(code, edits):
    """Replace each old text, which must be there once, by its new one."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert code.count(old) == 1, f"{code.count(old)} times: {old}"
        code = code.replace(old, new)
    return code


def rows_of(exercise, code, salt):
    """The marks of code that we trust."""
    names = {"__name__": "__main__"}
    exec(compile(code, exercise.name, "exec"), names)
    return runner.run(Local(names), exercise.tests, salt)


def failed(rows):
    return {row.test for row in rows if not row.ok}


built = functools.cache(release.build)


class Book:
    """A notebook to be spoilt."""

    def __init__(self, exercise, solution=True):
        self.content = json.loads(built(exercise, solution))

    @property
    def cells(self):
        return self.content["cells"]

    def cell(self, name):
        """The cell that defines `name`."""
        for cell in self.cells:
            if f"def {name}(" in "".join(cell["source"]):
                return cell
        raise KeyError(name)

    def put(self, name, source):
        """Replace the cell that defines `name`."""
        self.cell(name)["source"] = source
        return self

    def add(self, name, before="", after=""):
        """Put code around a definition."""
        cell = self.cell(name)
        cell["source"] = before + "\n" + "".join(cell["source"]) + "\n" + after
        return self

    def text(self):
        return json.dumps(self.content)
