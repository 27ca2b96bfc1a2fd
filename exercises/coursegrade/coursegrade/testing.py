"""What an exercise's tests import: points, cases, numbers, and how results are compared.

A test is a function ``test_…(student, rng)``: `student` has the notebook's functions, `rng` is a
seeded ``torch.Generator``. The first line of its docstring is the hint that students get. What the
public tests import from here stands in the students' notebook.
"""

from __future__ import annotations

import itertools

import torch

from .kinds import close, same  # noqa: F401  what results are compared by


def points(n: int, question: str, value: bool = False):
    """Give a test `n` points of `question`; with cases, each case is worth `n`.

    A test of values asks for what understanding alone gives: the answer equals a reference's on
    numbers of no special kind. Where a question passes none of its own, its other tests (shapes,
    sums, arguments left alone) count nothing.
    """

    def mark(test):
        test.points, test.question, test.value = n, question, value
        return test

    return mark


def cases(**named):
    """Run a test once for each value of the one argument named: ``cases(d=[4, 64])``."""
    [(name, values)] = named.items()

    def mark(test):
        test.cases = [{name: value} for value in values]
        return test

    return mark


def normal(rng, *shape):
    """Your own numbers, the same at every run."""
    return torch.randn(*shape, generator=rng)


def unit(rng, *shape):
    """The same, uniform from 0 to 1."""
    return torch.rand(*shape, generator=rng)


def draw(rng, low, high):
    """A whole number from low to high."""
    return int(torch.randint(low, high + 1, (), generator=rng))


def each(*sizes):
    """All places of a table."""
    return itertools.product(*map(range, sizes))


def allowed(*shape):
    """A mask that allows everything."""
    return torch.ones(*shape, dtype=torch.bool)


def some(rng, *shape):
    """A mask in which every row has a key and lacks one."""
    mask = unit(rng, *shape) < 0.5
    mask[..., 0], mask[..., 1] = True, False
    return mask


def weights_over_keys(weights, shape):
    """Complain unless `weights` has a shape and sums to one over its last axis."""
    assert tuple(weights.shape) == shape, f"weights have shape {tuple(weights.shape)}, not {shape}"
    assert weights.isfinite().all(), "your weights hold NaN or infinity"
    axes = ("keys", "queries", "heads")[: max(2, len(shape) - 1)]
    for dim, name in enumerate(axes, start=1):
        total = weights.sum(-dim)
        if close(total, torch.ones_like(total), atol=1e-4):
            assert dim == 1, f"your weights sum to one over {name}, not keys"
            return
    raise AssertionError("your weights do not sum to one over keys (a mask after the softmax?)")


def loaded(module, rng, shapes, scale=1.0):
    """The student's module with weights of ours, normal ones of these shapes, and those weights."""
    weights = {name: scale * normal(rng, *shape) for name, shape in shapes.items()}
    module.load_state_dict(weights)
    return module, weights


def in_pieces(step, x, sizes, state=None):
    """What a model says of a text (b, n, …) in pieces; it hands a state from one to the next."""
    found = []
    for piece in x.split(sizes, dim=1):
        got, state = step(piece, state)
        found.append(got)
    return torch.cat(found, dim=1)
