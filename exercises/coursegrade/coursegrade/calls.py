"""One call of a student's function, in the box and, for code that we trust, without one."""

from collections.abc import Sequence

import torch


class NoGradient(Exception):
    """No gradient flows from what a function gave back to what it was given."""


def perform(thing, args: list, kwargs: dict, request: dict):
    """Call a function as `request` wants: for its result, or for gradients of the result's sum.

    Raises:
        NoGradient: gradients are wanted, and there are none.
    """
    if request["grad"] is None:
        return thing(*args, **kwargs)
    inputs = [args[i].requires_grad_() for i in request["grad"]]
    result = thing(*args, **kwargs)
    whole = _total(result if request["of"] is None else result[request["of"]])
    try:
        return torch.autograd.grad(whole, inputs)
    except RuntimeError as problem:
        raise NoGradient(str(problem)) from None


def _total(result):
    """The sum of all numbers, of whatever they are a table."""
    if isinstance(result, torch.Tensor):
        return result.sum()
    if not isinstance(result, Sequence) or not result:
        raise NoGradient(f"a {type(result).__name__} has none")
    return sum(map(_total, result))


def part(objects: list, place: list):
    """A part of what was given back before: the number of the answer, then keys."""
    thing = objects[place[0]]
    for key in place[1:]:
        thing = thing[key]
    return thing
