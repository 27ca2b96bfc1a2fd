"""Windowed attention against the dense one under its mask, without a window, and itself.

The windows look in both directions, which is more work than a causal one, but where the peer is
torch's fused causal attention, which needs no mask. It attends to all that came before: at n = w
that is the same, and what a longer sequence takes without a window. The last case is the forward
pass with the backward one against the forward pass alone.
"""

from __future__ import annotations

from functools import cache, partial

import torch
from torch.nn import functional as F
from torch.nn.attention.flex_attention import BlockMask, flex_attention

import attnbook as ab
from devkit.bench.harness import Case
from devkit.bench.inputs import queries_keys_values

WIDTH, D = 128, 64
LENGTHS = (1024, 4096, 16384)
LONG = LENGTHS[-1]
FORWARD_MS, COMPILED_MS = 250, 90  # largest, on one thread, at LONG
BACKWARD = 4.0  # forward and backward to forward: the backward pass at most three times as long


def windowed(tensors):
    """Ours, bound to its inputs."""
    return partial(ab.window_attention, *tensors, WIDTH)


def compiled(function):
    """Compiled anew when it is first called, outside of the race."""
    return torch.compile(function, dynamic=False)


@cache
def band(n):
    """The dense mask, made when it is first wanted: at LONG it takes gigabytes for a moment."""
    return ab.window_mask(n, n, WIDTH)


def dense(tensors):
    """Attention under the mask."""
    return ab.attention(*tensors, mask=band(len(tensors[0])), need_weights=False)


def causal(tensors):
    """Attention to all that came before, by torch's fused implementation."""
    return F.scaled_dot_product_attention(*(x[None, None] for x in tensors), is_causal=True)[0, 0]


def flex(attend, tensors):
    """FlexAttention with its mask of blocks, each of which has a neighbour on either side."""
    neighbours = ab.window_mask(len(tensors[0]) // WIDTH, None, 2)[None, None]
    blocks = BlockMask.from_kv_blocks(
        neighbours.sum(dim=-1).int(),
        neighbours.int().argsort(dim=-1, descending=True, stable=True).int(),
        BLOCK_SIZE=WIDTH,
        mask_mod=lambda b, h, i, j: (i - j).abs() < WIDTH,
    )
    given = [x[None, None] for x in tensors]
    return lambda: attend(*given, block_mask=blocks)[0, 0]


def there_and_back(function, leaves):
    """The output, after its gradients have been taken."""
    output = function()
    torch.autograd.grad(output, leaves, torch.ones_like(output))
    return output


def cases():
    """Ever longer sequences; the longest compiled as well."""
    common = f"w={WIDTH}, d={D}"
    for n in LENGTHS:
        tensors = queries_keys_values(n, D)
        yield Case(
            "window attention",
            f"n={n}, {common}",
            "dense attention under the mask",
            windowed(tensors),
            partial(dense, tensors),
            tensors if n < LONG else (),
            goals={"ms": FORWARD_MS} if n == LONG else {},
        )
    yield Case(
        "window attention",
        f"n={LONG}, {common}, ours compiled",
        "dense attention under the mask",
        compiled(windowed(tensors)),
        partial(dense, tensors),
        goals={"ms": COMPILED_MS},
    )
    for n in (WIDTH, *LENGTHS):
        tensors = queries_keys_values(n, D)
        yield Case(
            "window attention, causal",
            f"n={n}, {common}",
            "fused causal attention, no window",
            partial(windowed(tensors), causal=True),
            partial(causal, tensors),
        )
    for n, attend, ours in (
        (LENGTHS[0], flex_attention, windowed),
        (LONG, compiled(flex_attention), lambda tensors: compiled(windowed(tensors))),
    ):
        tensors = queries_keys_values(n, D)
        yield Case(
            "window attention",
            f"n={n}, {common}{', both compiled' if n == LONG else ''}",
            "torch flex_attention",
            ours(tensors),
            flex(attend, tensors),
        )
    for n in (LENGTHS[0], LONG):
        tensors = [x.requires_grad_() for x in queries_keys_values(n, D)]
        forward = windowed(tensors)
        yield Case(
            "window attention",
            f"n={n}, {common}",
            "its forward pass alone",
            partial(there_and_back, forward, tensors),
            torch.no_grad()(forward),
            whole="forward + backward",
            goals={"time": BACKWARD} if n == LONG else {},
        )
