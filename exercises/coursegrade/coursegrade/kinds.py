"""Values are compared, kinds are not: one form for all that a function may give back.

Tests and self-checks compare by these functions. They are inlined into the students' notebook, so
that they may use nothing but torch and the standard library.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence

import torch


def plain(value):
    """A number, an array or a table of numbers as a tensor, whatever it was; the rest by parts.

    Tensors are boolean, int64 or float32; a single number is float64, so that it loses no digit.
    """
    if value is None or isinstance(value, str | bytes):
        return value
    if isinstance(value, torch.Tensor):
        tensor = value.detach().clone().as_subclass(torch.Tensor)
    elif isinstance(value, bool):
        tensor = torch.tensor(value)
    elif isinstance(value, numbers.Integral) and -(2**63) <= value < 2**63:
        tensor = torch.tensor(int(value))
    elif isinstance(value, numbers.Real):
        tensor = torch.tensor(float(value), dtype=torch.float64)
    elif isinstance(value, numbers.Number):
        tensor = torch.tensor(complex(value))
    elif hasattr(value, "__array__"):
        array = value.__array__()
        try:
            tensor = torch.tensor(array)
        except TypeError:  # numbers of a kind that torch lacks, or no numbers
            return plain(array.tolist())
    elif isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    elif isinstance(value, Sequence):
        loose = not any(hasattr(part, "__array__") and part.ndim for part in value)
        return _table([plain(part) for part in value], loose)
    else:
        return value
    tensor = tensor.to_dense() if tensor.layout != torch.strided else tensor
    tensor = tensor.real if tensor.is_complex() and not tensor.imag.any() else tensor
    if tensor.is_floating_point():
        return tensor.to("cpu", torch.float32 if tensor.dim() else torch.float64)
    as_it_is = tensor.is_complex() or tensor.dtype == torch.bool
    return tensor.cpu() if as_it_is else tensor.to("cpu", torch.int64)


def _table(parts, loose):
    """Tensors of one shape as one; whole numbers beside fractions if they are `loose` numbers."""
    if not parts or not all(isinstance(part, torch.Tensor) for part in parts):
        return parts
    mixed = len({part.is_floating_point() for part in parts}) > 1
    one_shape = len({(part.shape, part.dtype == torch.bool) for part in parts}) == 1
    if not one_shape or (mixed and not loose):
        return parts
    return plain(torch.stack([part.double() if mixed else part for part in parts]))


def close(got, want, atol=1e-4, rtol=1e-3):
    """Whether two results have the same shapes and nearly the same values, of whatever kind."""
    got, want = plain(got), plain(want)
    if isinstance(got, torch.Tensor) and isinstance(want, torch.Tensor):
        if got.shape != want.shape:
            return False
        number = torch.complex128 if got.is_complex() or want.is_complex() else torch.float64
        return bool(torch.isclose(got.to(number), want.to(number), atol=atol, rtol=rtol).all())
    if isinstance(got, dict) and isinstance(want, dict):
        pairs = [(got.get(key), want[key]) for key in want]
        return got.keys() == want.keys() and all(close(*pair, atol, rtol) for pair in pairs)
    if isinstance(got, list | torch.Tensor) and isinstance(want, list | torch.Tensor):
        alike = (close(*pair, atol, rtol) for pair in zip(got, want, strict=False))
        return len(got) == len(want) and all(alike)
    alike = got == want  # what is no value and stays in the box says so here
    return type(got) is type(want) and alike


def same(got, want):
    """Whether two results have the same shapes and the same values, of whatever kind."""
    return close(got, want, atol=0, rtol=0)


class Kept:
    """Where plain values came from: what a function gave back goes in again as it was.

    `odd` has functions and kinds of what they gave that is neither values nor can be called.
    """

    def __init__(self):
        self._from, self.odd = {}, set()

    def remember(self, value, origin, part):
        """Note where a value came from; `part(origin, key)` says where its parts did."""
        if isinstance(value, torch.Tensor | list | dict):
            self._from[id(value)] = value, _stamp(value), origin
        for key, inner in _parts(value):
            self.remember(inner, part(origin, key), part)

    def origin(self, value):
        """Where a value came from; None if it did not, or has been changed since."""
        known, stamp, origin = self._from.get(id(value), (None, None, None))
        return origin if known is value and stamp == _stamp(value) else None


def _parts(value):
    """(key, part) of a list or a dict."""
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _stamp(value):
    """What another number or another part in a value would change."""
    if isinstance(value, torch.Tensor):
        return value._version
    return [(key, id(part), _stamp(part)) for key, part in _parts(value)]


class Answers:
    """Functions, or what one of them made, that give back plain values."""

    def __init__(self, thing, kept=None, name=""):
        self._thing, self._kept, self._name = thing, kept or Kept(), name

    def __getattr__(self, name):
        if not isinstance(self._thing, dict):
            return self._plain(getattr(self._thing, name), self._name)
        if name not in self._thing:
            raise NameError(f"{name} is not defined")
        return self._plain(self._thing[name], name)

    def __call__(self, *args, **kwargs):
        own = [self._own(value) for value in args]
        named = {key: self._own(value) for key, value in kwargs.items()}
        result = self._thing(*own, **named)
        return result if any(result is value for value in own) else self._plain(result, self._name)

    def _own(self, value):
        origin = self._kept.origin(value)
        if origin is not None or isinstance(value, Answers):
            return value._thing if origin is None else origin
        if isinstance(value, list | tuple):
            return type(value)([self._own(part) for part in value])
        return value

    def _plain(self, value, name):
        form = plain(value)
        if form is value and not isinstance(value, str | None):
            if not callable(value):
                self._kept.odd.add((name, f"a {type(value).__name__}"))
            return Answers(value, self._kept, name)
        self._kept.remember(form, value, lambda whole, key: whole[key])
        return form
