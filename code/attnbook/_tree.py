"""Nested tuples, lists and dictionaries of tensors. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor


def map_tensors(function: Callable[[Tensor], Tensor], tree):
    """The same structure with `function` of each tensor; whatever else stands in it stays."""
    if isinstance(tree, Tensor):
        return function(tree)
    if isinstance(tree, dict):
        return {name: map_tensors(function, value) for name, value in tree.items()}
    if isinstance(tree, tuple | list):
        parts = [map_tensors(function, value) for value in tree]
        # a NamedTuple takes its fields one by one, a plain tuple or list all at once
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return tree
