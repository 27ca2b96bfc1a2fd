"""How far a number would move with other sentences: percentile intervals by resampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from .._checks import check_count

Item = TypeVar("Item")


class Interval(NamedTuple):
    """A statistic of a corpus with the ends of its bootstrap interval."""

    value: float
    low: float
    high: float


def bootstrap(
    statistic: Callable[[list[Item]], float],
    items: Sequence[Item],
    *,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Percentile interval of a statistic over sentences, computed anew on each resample.

    Args:
        statistic: callable from a list of items to a number, for instance a corpus-level score;
            a resample on which it is NaN (no token of a rare class in it) is left out.
        items: the sentences, or what the statistic needs of each.
        samples: how many times `len(items)` items are drawn with replacement.
        seed: the same seed draws the same resamples of a corpus of the same size.
        level: share of the resamples between the two ends.

    Returns:
        Interval: the statistic of all items, and the (1 - level) / 2 quantiles on both sides.

    Raises:
        ValueError: there are no items, the statistic of all items or of all resamples is NaN,
            `samples` is below 1 or `level` not between 0 and 1.

    Source: Efron and Tibshirani 1993, chapter 13; Koehn 2004 for translation.
    """
    items = list(items)
    draws = _draws(len(items), samples, seed, level)  # (samples, n)
    values = [float(statistic([items[i] for i in draw])) for draw in draws.tolist()]
    return _interval(float(statistic(items)), torch.tensor(values, dtype=torch.float64), level)


def bootstrap_sums(
    counts: Tensor,
    statistic: Callable[[Tensor], Tensor] | None = None,
    *,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Percentile interval of a statistic of sums, all resamples at once.

    For rates and errors that are made of counts summed over sentences it gives what `bootstrap`
    gives for the same seed, some hundred times faster.

    Args:
        counts: (n, c), what each sentence counts.
        statistic: callable from sums (..., c) to values (...); None divides the first column by
            the second, for instance hits by tokens.

    Raises:
        ValueError: as `bootstrap`, or `counts` is not (n, c).
    """
    if counts.dim() != 2:
        raise ValueError(f"counts must be (n, c), got shape {tuple(counts.shape)}")
    statistic = statistic or (lambda sums: sums[..., 0] / sums[..., 1])
    counts = counts.double()
    n = len(counts)
    draws = _draws(n, samples, seed, level)  # (samples, n)
    times = torch.zeros(samples, n, dtype=torch.float64)
    times.scatter_add_(1, draws, torch.ones_like(times))  # how often each sentence was drawn
    values = statistic(times @ counts)  # (samples, n) @ (n, c) -> (samples, c) -> (samples,)
    return _interval(float(statistic(counts.sum(0))), values, level)


def _draws(n: int, samples: int, seed: int, level: float) -> Tensor:
    """Indices (samples, n) of the items in each resample."""
    if not n:
        raise ValueError("items must hold at least one item, got none")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    samples = check_count("samples", samples, least=1)
    generator = torch.Generator().manual_seed(check_count("seed", seed))
    return torch.randint(n, (samples, n), generator=generator)


def _interval(value: float, values: Tensor, level: float) -> Interval:
    kept = values[~values.isnan()]
    if math.isnan(value) or not len(kept):
        raise ValueError("statistic must be a number on all items, got NaN: nothing to count")
    tail = (1 - level) / 2
    low, high = torch.quantile(kept, torch.tensor([tail, 1 - tail], dtype=kept.dtype)).tolist()
    return Interval(value, low, high)
