"""Attention without weights, against the fused implementation it calls, in the same four axes."""

from __future__ import annotations

from functools import partial

from torch.nn import functional as F

import attnbook as ab
from devkit.bench.harness import Case
from devkit.bench.inputs import padding, queries_keys_values

SIZES = {128: (8, 8), 512: (2, 8), 2048: (1, 4)}  # n: (b, h); d is 64
PADDED_GOALS = {128: 1.35, 512: 1.15, 2048: 1.10}


def cases():
    """Each length unmasked, and with a padding mask: ours takes (b, 1, k), torch (b, 1, 1, k)."""
    ours = partial(ab.attention, need_weights=False)
    for n, (b, h) in SIZES.items():
        tensors = queries_keys_values(b, h, n, 64)
        _, mask = padding(b, n)
        for name, mine, theirs, goal in (
            ("no mask", None, None, 1.05),
            ("padding", mask, mask[:, None], PADDED_GOALS[n]),
        ):
            yield Case(
                "attention without weights",
                f"n={n}, b={b}, h={h}, d=64, {name}",
                "torch scaled_dot_product_attention",
                partial(ours, *tensors, mask=mine),
                partial(F.scaled_dot_product_attention, *tensors, attn_mask=theirs),
                tensors,
                goals={"time": goal},
            )
