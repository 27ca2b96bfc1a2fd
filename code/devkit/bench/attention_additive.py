"""Additive attention, against d2l's AdditiveAttention with the same parameters."""

from __future__ import annotations

from functools import partial

import torch

import attnbook as ab
from devkit.bench.harness import Case
from devkit.bench.inputs import padding, queries_keys_values


def cases():
    """One size: features of every pair at once would be b q k hidden = 134 million numbers."""
    b, n, d = 32, 128, 256
    tensors = queries_keys_values(b, n, d)
    lengths, mask = padding(b, n)
    torch.manual_seed(0)
    score = ab.AdditiveScore(d, d, d)
    peer = ab.import_d2l().AdditiveAttention(d, d, d, dropout=0.0).eval()
    pairs = ((score.W_q, peer.W_q), (score.W_k, peer.W_k), (score.w, peer.w_v))
    for ours, theirs in pairs:
        theirs.load_state_dict(ours.state_dict())
    yield Case(
        "additive attention",
        f"n={n}, b={b}, d={d}, hidden={d}, padding",
        "d2l AdditiveAttention",
        partial(ab.attention, *tensors, score=score, mask=mask),
        partial(peer, *tensors, lengths),
        tensors,
        parameters=tuple([layer.weight for layer in side] for side in zip(*pairs, strict=True)),
        goals={"time": 0.9, "memory": 0.2},
    )
