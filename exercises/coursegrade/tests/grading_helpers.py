"""Hand-ins made from the solution notebook, and marks without a box for code that is ours."""

import functools
import json
from pathlib import Path

import torch

from coursegrade import batch, handins, notebook, release, runner, wire
from coursegrade.exercise import Exercise
from coursegrade.limits import Limits
from coursegrade.student import Local

EXERCISES = Path(__file__).resolve().parents[2]
ALL = [Exercise(path) for path in sorted(EXERCISES.glob("[0-9][0-9]_*"))]
NAMES = [exercise.name for exercise in ALL]


@functools.lru_cache(maxsize=256)
def code_of(text):
    """The notebook's code, as it would run."""
    return "\n\n".join(source for _, source in notebook.code_cells(notebook.parse(text.encode())))


def rows_of(exercise, code, salt, student=Local, tests=None):
    """What each test says of code that we trust; `tests`: others than all of the exercise's."""
    names = {"__name__": "__main__"}
    exec(compile(code, exercise.name, "exec"), names)
    return runner.run(student(names), tests or exercise.tests, salt, references(exercise))


def of_question(exercise, question):
    """The exercise's tests of one question."""
    less = """
for _name, _test in list(globals().items()):
    if _name.startswith("test_") and _test.question != QUESTION:
        del globals()[_name]
""".replace("QUESTION", repr(question))
    return type(exercise.tests)(*(source + less for source in exercise.tests))


@functools.cache
def references(exercise):
    return release.references(exercise)


def total(rows):
    return sum(row.points for row in rows if row.ok)


class Lazy(Local):
    """Answers of the right shapes, also at padding, that know nothing of queries and scores."""

    how = "zeros"

    def _ask(self, request):
        said = super()._ask(request)
        if "answer" in said and request["name"] not in ("state_dict", "load_state_dict"):
            given = [*request["args"], *request["kwargs"].values()]
            given = [
                wire.decode(value) for value in given if type(value) is dict and "tensor" in value
            ]
            said["answer"] = self._idle(said["answer"], [x for x in given if x.is_floating_point()])
        return said

    def _idle(self, answer, given):
        [(kind, content)] = answer.items() if type(answer) is dict else [("", answer)]
        if kind == "tensor":
            return wire.encode(self._of_one_shape(wire.decode(answer), given))
        if kind in ("tuple", "list"):
            parts = [self._idle(part, given) for part in content]
            return {kind: self._pooled(parts, given) if self.how == "uniform" else parts}
        return {"float": "0x0p+0"} if kind == "float" else True if kind == "" else answer

    def _of_one_shape(self, right, given):
        zeros = torch.zeros_like(right)
        if not right.is_floating_point() or not right.dim() or self.how == "zeros":
            return zeros
        if self.how == "input":
            return next((x for x in given if x.shape == right.shape), zeros)
        if self.how == "mean of values":
            for x in reversed(given):
                mean = x.mean(min(0, 1 - x.dim()) and -2, keepdim=x.dim() > 1) if x.dim() else x
                try:
                    return mean.expand_as(right)
                except RuntimeError:
                    pass
            return zeros
        on = (right != 0).to(right.dtype)  # it knows the mask
        return on / on.sum(-1, keepdim=True).clamp(min=1)

    def _pooled(self, parts, given):
        """Output and weights: the output is what uniform weights make of the values."""
        values = [wire.decode(part) if "tensor" in part else None for part in parts]
        if len(values) == 2 and all(x is not None and x.dim() > 1 for x in values):
            for x in reversed(given):
                if x.dim() > 1 and values[1].shape[-1] == x.shape[-2]:
                    output = values[1] @ x.nan_to_num()
                    if output.shape == values[0].shape:
                        return [wire.encode(output), parts[1]]
        return parts


def task_of(exercise, raw, **changes):
    """What a worker gets of a hand-in."""
    one = handins.HandIn("ada", "ada", "", False, "folder", (), ())
    [task] = batch.tasks(exercise, [one], "a", Limits())
    raw = raw.encode() if isinstance(raw, str) else raw
    return task._replace(name="a.ipynb", raw=raw, problem="", **changes)


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


KINDS = {  # what becomes of each tensor that code gives back; gradients go on where they can
    "float64": "x.double() if x.is_floating_point() else x",
    "numpy": "x if x.requires_grad else x.numpy()[()]",
    "double of numpy": "x if x.requires_grad else x.numpy().astype(float)",
    "rows": "list(x) if x.dim() else x",
    "lists": "x if x.requires_grad else x.tolist()",
    "tuples": "tuple(map(tuple, x)) if x.dim() > 1 else x",
    "apart": "torch.stack((x, x), -1)[..., 0]",
    "parameter": "x if x.requires_grad else torch.nn.Parameter(x, x.is_floating_point())",
}
OTHER_KIND = """
import collections, numpy as np
_made = []  # (in its other kind, as it was)

def _kind(x):
    other = x
    if isinstance(x, tuple):
        names = [f"r{i}" for i in range(len(x))]
        other = collections.namedtuple("Results", names)(*map(_kind, x))
    elif isinstance(x, bool | int | float):
        other = np.asarray(x)[()]
    elif isinstance(x, torch.Tensor):
        other = HOW
    _made.append((other, x))
    return other

def _back(x):
    return next((own for other, own in _made if other is x), x)

_inside = []

def _other(f):
    # what is asked for from outside alone: the solution's parts call each other
    def call(*args, **kwargs):
        _inside.append(f)
        try:
            result = f(*map(_back, args), **kwargs)
        finally:
            _inside.pop()
        return result if _inside else _kind(result)
    return call

def _wrap(thing):
    if not isinstance(thing, type):
        return _other(thing)
    thing.forward = _other(thing.forward)
    return thing

"""


def of_other_kind(exercise, how):
    """The solution, whose functions give the same values in another kind."""
    names = [f"{name} = _wrap({name})" for name in release.deliverables(exercise)]
    source = "\n".join([OTHER_KIND.replace("HOW", KINDS[how]), *names])
    book = Book(exercise)
    book.cells.insert(-1, {"cell_type": "code", "source": source})
    return book
