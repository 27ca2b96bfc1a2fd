"""Values are compared, kinds are not: every right answer keeps its marks whatever kind it has."""

import collections

import numpy as np
import pytest
import torch
from grading_helpers import ALL, NAMES, built, code_of, rows_of

from coursegrade import calls
from coursegrade.student import Local

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
