"""Values are compared, kinds are not: every right answer keeps its marks whatever kind it has."""

import collections
from fractions import Fraction

import numpy as np
import pytest
import torch
from grading_helpers import ALL, KINDS, NAMES, built, code_of, of_other_kind, rows_of
from hypothesis import given
from hypothesis import strategies as some

from coursegrade import calls, notebook, runner
from coursegrade.kinds import Answers, Kept, close, plain, same
from coursegrade.student import Local, Student, StudentError

THEIR_OWN = ("state_dict", "load_state_dict", "train", "eval")  # torch's, not the student's


def apart(tensor):
    """The same numbers with gaps between them in memory."""
    return torch.stack((tensor, tensor), -1)[..., 0]


def nested(value, sort):
    return sort(nested(part, sort) for part in value) if isinstance(value, list) else value


def rows(value):
    """A tensor as a list of tensors."""
    return list(value) if value.dim() else value


LEAVES = {  # what becomes of a tensor
    "float64": lambda x: x.double() if x.is_floating_point() else x,
    "float32": lambda x: x.float() if x.is_floating_point() else x,
    "numpy": lambda x: x.detach().numpy() if x.dim() else x.detach().numpy()[()],
    "numpy of double precision": lambda x: x.detach().double().numpy(),
    "numbers and lists": lambda x: x.tolist(),
    "tuples of numbers": lambda x: nested(x.tolist(), tuple),
    "list of rows": rows,
    "not contiguous": apart,
    "requires gradients": lambda x: x.float().requires_grad_() if x.is_floating_point() else x,
    "int32 and numbers for truth": lambda x: x if x.is_floating_point() else x.int(),
    "a parameter": lambda x: torch.nn.Parameter(x.detach(), x.is_floating_point()),
}
NUMBERS = {  # what becomes of a number of Python
    "numpy's number": np.asarray,
    "numpy's scalar": lambda x: np.asarray(x)[()],
    "tensor without axes": torch.tensor,
    "float": float,
}
SEQUENCES = {  # what becomes of several results
    "list": list,
    "tuple": tuple,
    "named": lambda parts: collections.namedtuple("Named", [f"x{i}" for i in range(len(parts))])(
        *parts
    ),
    "deque": collections.deque,
}
CHANGES = [*LEAVES, *NUMBERS, *SEQUENCES]


class Changed(Local):
    """The same answers in other kinds; what comes back to the code is what it had made itself."""

    how = ""

    def _perform(self, thing, args, kwargs, request):
        if request["name"] in THEIR_OWN:
            return calls.perform(thing, args, kwargs, request)
        own = [self._back(value) for value in args]
        result = calls.perform(thing, own, kwargs, request)
        for value, ours in zip(args, own, strict=True):  # changed in place, too
            if value is not ours and isinstance(value, torch.Tensor):
                value.detach().copy_(ours)
        return result if request["grad"] is not None else self._other(result)

    def _other(self, value):
        other = value
        if isinstance(value, list | tuple):
            parts = [self._other(part) for part in value]
            other = SEQUENCES.get(self.how, type(value))(parts)
        elif isinstance(value, torch.Tensor):
            other = LEAVES.get(self.how, lambda x: x)(value)
        elif isinstance(value, bool | int | float):
            other = NUMBERS.get(self.how, lambda x: x)(value)
        self._made[id(other)] = other, value
        return other

    def _back(self, value):
        other, own = self._made.get(id(value), (None, None))
        if other is value and value is not None:
            return own
        return type(value)(map(self._back, value)) if type(value) in (list, tuple) else value

    def __init__(self, names):
        super().__init__(names)
        self._made = {}


@pytest.mark.parametrize("exercise", ALL, ids=NAMES)
@pytest.mark.parametrize("how", CHANGES)
def test_every_kind_of_a_right_answer_gets_full_marks(exercise, how):
    changed = type("", (Changed,), {"how": how})
    code = code_of(built(exercise, solution=True))
    lost = {row.test: row.message for row in rows_of(exercise, code, "a", changed) if not row.ok}
    assert not lost


@pytest.mark.parametrize("exercise", ALL, ids=NAMES)
def test_another_kind_in_the_box(box, exercise):
    """The same where it is graded, each assignment with one kind of them."""
    how = list(KINDS)[ALL.index(exercise) % len(KINDS)]
    cells = notebook.code_cells(notebook.parse(of_other_kind(exercise, how).text().encode()))
    boxed = Student(cells)
    try:
        rows = runner.run(boxed, exercise.tests, "a")
    finally:
        boxed.close()
    assert not {row.test: (row.message, row.error) for row in rows if not row.ok}
    assert not boxed.report()["cells"]


def test_one_form():
    for value in (2.5, np.float64(2.5), torch.tensor(2.5), np.asarray(2.5), Fraction(5, 2)):
        assert plain(value).shape == () and plain(value).dtype == torch.float64
    for value in (
        [1, 2],
        (1, 2),
        range(1, 3),
        np.array([1, 2], np.uint8),
        collections.deque((1, 2)),
    ):
        assert torch.equal(plain(value), torch.tensor([1, 2]))
    assert plain([[0, 1], [0.5, 2]]).dtype == torch.float32  # numbers are promoted,
    assert [part.dtype for part in plain((torch.tensor([1]), torch.tensor([0.5])))] == [
        *(torch.int64, torch.float32)  # results are not
    ]
    assert len(plain((torch.ones(2), torch.ones(2, dtype=torch.bool)))) == 2
    assert plain([[1], [2, 3]])[1].tolist() == [2, 3] and plain([]) == []
    assert plain({"k": np.ones(2)})["k"].dtype == torch.float32
    assert plain(None) is None and plain("x") == "x" and plain(np.array(["x"])) == ["x"]
    assert plain(torch.tensor([1.0 + 0j])).dtype == torch.float32
    assert plain(2**70) == 2.0**70
    module = torch.nn.Linear(1, 1)
    assert plain(module) is module


@given(some.lists(some.lists(some.floats(-1e3, 1e3), min_size=2, max_size=2), min_size=1))
def test_close_is_of_values_and_shapes(numbers):
    table = torch.tensor(numbers)
    assert close(numbers, table) and close(table.double().numpy(), numbers) and same(table, table)
    assert not close(numbers, table + 1) and not close(numbers[0], table.mean())
    assert not close(numbers, table[:1].expand(len(table) + 1, 2))  # never a broadcast
    assert not close(table * torch.nan, table * torch.nan)


def test_close_compares_part_by_part():
    one, other = (torch.ones(2, 3), torch.tensor([True, False])), [np.ones((2, 3)), [1, 0]]
    assert same(one, other) and not same(one, other[:1]) and not same(one[0], None)
    assert same({"k": [1, 2]}, {"k": (1, 2)}) and not same({"k": 1}, {"j": 1})
    assert not close(torch.ones(2), ["x", "y"]) and close("x", "x")


CACHE = """
import collections, numpy as np
Cache = collections.namedtuple("Cache", "keys values")
class Handle:
    def __init__(self): self.seen = 0

def step(x, state=None):
    keys = np.zeros((0, 2)) if state is None else state.keys
    assert isinstance(keys, np.ndarray)
    keys = np.concatenate([keys, x.numpy()])
    return keys.sum(0), Cache(keys, {"of": [keys]})

def changed(state):
    return type(state).__name__
def lazily(x): return (row for row in x)
def counter(): return Handle()
def count(handle, by):
    handle.seen += by
    return handle.seen
def cut(x): return x.detach().numpy()
def whole(x): return [x.sum() * 2, x]
"""


@pytest.fixture(scope="module")
def boxed(box):
    student = Student([(1, "import torch\n" + CACHE)])
    yield student
    student.close()


def everywhere(boxed):
    """The same code in the box, without it, and in a notebook."""
    spaces = [{}, {}]
    for space in spaces:
        exec("import torch\n" + CACHE, space)
    return [boxed, Local(spaces[0]), Answers(spaces[1])]


def test_what_comes_back_is_as_the_code_made_it(boxed):
    x = torch.arange(6.0).reshape(3, 2)
    for student in everywhere(boxed):
        sums, state = student.step(x)
        assert close(sums, [6, 9]) and same(state[0], x) and same(state[1]["of"], x[None])
        assert same(student.step(x, state)[0], [12.0, 18.0])  # its namedtuple, its arrays
        assert student.changed(state) == "Cache" and student.changed(state[1]) == "dict"
        assert student.changed(state[0]) == "ndarray"
        state[0][0] = 7.0  # from here on it is the test's
        assert student.changed(state[0]) == "Tensor" and student.changed(state) == "list"
        handle = student.counter()
        assert student.count(handle, 2) == 2 and student.count(handle, 3) == 5


def test_what_is_no_value_is_said_in_the_students_words(boxed):
    x = torch.ones(3)
    for student in everywhere(boxed)[:2]:
        got = student.lazily(x)
        for use in (lambda x: x.shape[0], lambda x: close(x, 1), len, lambda x: x + 1, list):
            with pytest.raises(StudentError, match="lazily gives a generator where numbers are"):
                use(got)
        with pytest.raises(StudentError, match="no gradient flows"):
            student.cut.grad(x)
        assert close(student.whole.grad(x, of=0), [[2.0] * 3])
        assert close(student.whole.grad(x), [[3.0] * 3])
    kept = Kept()
    Answers({"lazily": lambda x: iter(x)}, kept).lazily([1])
    assert kept.odd == {("lazily", "a list_iterator")}
