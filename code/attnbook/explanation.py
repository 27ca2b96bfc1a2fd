"""Explanation: what a map of weights may be put beside, before anything is concluded from it.

Shape letters: `l` layers, `h` heads, `k` keys, `n` places that attend to each other.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ._checks import check_floating, shape


class Counterfeit(NamedTuple):
    """Other weights (..., k) of the same output, and their distance (...) from the given ones."""

    weights: Tensor
    distance: Tensor


def total_variation(one: Tensor, other: Tensor) -> Tensor:
    """How far two rows of weights are apart: the share that one would have to move, 0 to 1.

    Shapes: one, other (..., k) -> (...).

    Raises:
        ValueError: the shapes differ.

    Source: half the sum of absolute differences; Jain and Wallace 2019, section 4.2, equation 2.
    """
    _check_alike(one, other, "one", "other")
    return (one - other).abs().sum(dim=-1) / 2


def farthest_counterfeit(weights: Tensor, votes: Tensor, mask: Tensor | None = None) -> Counterfeit:
    """Find the weights farthest from the given ones that give the same weighted sum of votes.

    Among all weights with that sum, those farthest away lie on at most two keys, one that votes
    above the sum and one below, so every pair is tried: k² numbers a row. A row of zeros, and one
    in which no pair brackets the sum, comes back as it is, at the distance 0.

    Args:
        weights: (..., k), non-negative, each row summing to one or all zero.
        votes: (..., k), what each key would make of the output on its own.
        mask: boolean, True = may attend, (..., k), or None.

    Raises:
        TypeError: `weights` or `votes` is not floating point, the mask is not boolean.
        ValueError: the shapes differ.

    Source: the question is Jain and Wallace's (2019, section 4.2.2), who search by gradient; this
    closed form is ours, and holds where the output is linear in the weights.
    """
    _check_alike(weights, votes, "weights", "votes")
    may = torch.ones_like(weights, dtype=torch.bool)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"mask must be boolean, got {mask.dtype}")
        _check_alike(weights, mask, "weights", "mask")
        may = mask
    votes = votes.masked_fill(~may, 0.0)  # a NaN of padding would reach the sum
    total = (weights * votes).sum(dim=-1)[..., None, None]
    above, below = votes.unsqueeze(-1), votes.unsqueeze(-2)  # (..., k, 1), (..., 1, k)
    pair = (above >= total) & (total >= below) & (above > below)
    pair &= may.unsqueeze(-1) & may.unsqueeze(-2) & (weights.sum(-1) > 0)[..., None, None]
    share = (total - below) / torch.where(pair, above - below, 1.0)  # of the key above
    kept = torch.minimum(weights.unsqueeze(-1), share)
    kept = kept + torch.minimum(weights.unsqueeze(-2), 1 - share)
    distance = torch.where(pair, 1 - kept, 0.0)
    farthest, place = distance.flatten(-2).max(dim=-1)
    k = weights.shape[-1]
    first, second = place // k, place % k
    t = share.flatten(-2).gather(-1, place.unsqueeze(-1))
    other = torch.zeros_like(weights).scatter(-1, first.unsqueeze(-1), t)
    other = other.scatter_add(-1, second.unsqueeze(-1), 1 - t)
    found = farthest > 0
    other = torch.where(found.unsqueeze(-1), other, weights)
    return Counterfeit(other, torch.where(found, farthest, 0.0))


def rollout(weights: Tensor) -> Tensor:
    """Multiply the maps of all layers, each averaged over its heads and mixed with the residual.

    Half of each layer's output is counted as its own input, half as what it attends to.

    Shapes: weights (..., l, h, n, n) -> (..., n, n), row i the shares of the inputs in place i.

    Raises:
        TypeError: `weights` is not floating point.
        ValueError: fewer than four axes, no layer, or maps that are not square.

    Source: Abnar and Zuidema 2020, section 3.
    """
    check_floating("weights", weights)
    if weights.ndim < 4 or weights.shape[-1] != weights.shape[-2] or not weights.shape[-4]:
        raise ValueError(
            f"weights must be (..., l, h, n, n) with one layer at least, got {shape(weights)}"
        )
    same = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    through = same
    for layer in weights.mean(dim=-3).unbind(-3):  # (..., n, n)
        through = (layer + same) / 2 @ through
    return through


def _check_alike(one: Tensor, other: Tensor, name: str, other_name: str) -> None:
    """Raise unless both are floating point, or the second boolean, and of one shape."""
    check_floating(name, one)
    if other.dtype != torch.bool:
        check_floating(other_name, other)
    if one.shape != other.shape or not one.ndim:
        raise ValueError(
            f"{name} and {other_name} must have one shape (..., k), "
            f"got {shape(one)} and {shape(other)}"
        )
