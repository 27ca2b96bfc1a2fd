"""What a way of looking at less keeps, and what it loses: the rows of the selection table."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import torch
from torch import Tensor

from .._checks import shape
from .alignment import Link
from .intervals import Interval, bootstrap_sums


class Selection(NamedTuple):
    """One row: a mechanism on some examples whose truth is known.

    `recall`: of the pairs that mattered, the share that was kept. `precision`: of the pairs that
    were kept, the share that mattered. `scored`: pairs (query, key) whose score is needed.
    `share`: of all pairs, the share that is scored.
    """

    recall: Interval
    precision: Interval
    scored: int
    share: float


def selection(
    kept: Sequence[Tensor],
    gold: Sequence[AbstractSet[Link]],
    *,
    scored: Sequence[Tensor] | None = None,
    **options,
) -> Selection:
    """Compare what was kept with what mattered.

    Args:
        kept: for each example a boolean mask (q, k), True where the output may depend on the
            pair.
        gold: for each example the (query, key) pairs that mattered, all within its mask's shape.
        scored: masks of the pairs whose score had to be computed, where they are others than the
            kept ones (a choice by content scores first).
        options: as in `bootstrap_sums`: the intervals are over examples.

    Raises:
        TypeError: a mask is not boolean.
        ValueError: not one of each for each example, a gold pair outside its mask, or nothing
            kept or nothing in gold.
    """
    scored = kept if scored is None else scored
    if not len(kept) == len(gold) == len(scored):
        raise ValueError(
            "kept, gold and scored must be of equally many examples, got "
            f"{len(kept)}, {len(gold)} and {len(scored)}"
        )
    counts = [_count(*example) for example in zip(kept, gold, scored, strict=True)]
    table = torch.tensor(counts, dtype=torch.float64).reshape(-1, 5)
    _, mattered, left, needed, pairs = table.sum(0).tolist()
    for name, count in (("gold", mattered), ("kept", left)):
        if not count:
            raise ValueError(f"{name} must hold something in at least one example, got none")
    recall, precision = (bootstrap_sums(table[:, [0, i]], **options) for i in (1, 2))
    return Selection(recall, precision, int(needed), needed / pairs)


def _count(kept: Tensor, gold: AbstractSet[Link], scored: Tensor) -> list[int]:
    """Of one example: kept gold pairs, gold pairs, kept pairs, scored pairs, all pairs."""
    for name, mask in (("kept", kept), ("scored", scored)):
        if mask.dtype != torch.bool:
            raise TypeError(f"{name} must hold boolean masks, got {mask.dtype}")
        if mask.dim() != 2 or mask.shape != kept.shape:
            raise ValueError(f"{name} must hold masks (q, k), as kept does, got {shape(mask)}")
    q_len, k_len = kept.shape
    for q, k in gold:
        if not (0 <= q < q_len and 0 <= k < k_len):
            raise ValueError(f"gold must lie within {q_len} by {k_len}, got {(q, k)}")
    hits = sum(bool(kept[link]) for link in gold)
    return [hits, len(gold), int(kept.sum()), int(scored.sum()), kept.numel()]
