"""Attention that returns its weights, against d2l's DotProductAttention, which keeps them."""

from __future__ import annotations

from functools import partial

import attnbook as ab
from devkit.bench.harness import Case
from devkit.bench.inputs import padding, queries_keys_values

SIZES = {128: 32, 512: 8, 2048: 1}  # n: b; d is 64
GOALS = {128: 1.1, 512: 1.1, 2048: 1.0}


def cases():
    """Each length with padding, and without a mask (no goal: d2l then guards nothing)."""
    peer = ab.import_d2l().DotProductAttention(dropout=0.0).eval()
    for n, b in SIZES.items():
        tensors = queries_keys_values(b, n, 64)
        lengths, mask = padding(b, n)
        for name, mine, theirs, goals in (
            ("padding", mask, lengths, {"time": GOALS[n]}),
            ("no mask", None, None, {}),
        ):
            yield Case(
                "attention with weights",
                f"n={n}, b={b}, d=64, {name}",
                "d2l DotProductAttention",
                partial(ab.attention, *tensors, mask=mine),
                partial(peer, *tensors, theirs),
                tensors,
                goals=goals,
            )
