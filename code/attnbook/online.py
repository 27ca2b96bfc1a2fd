"""Softmax and attention over keys that come block by block, never all scores at once.

What is kept of the blocks that have been read is, for each query, the largest score so far, the sum
of exp(score - largest), and the sum of values with the same factors. When a larger score comes,
both sums are rescaled.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ._checks import align_mask, check_count, check_floating, check_same_features
from .attention import _checked, _without_unused
from .normalize import _wide
from .scores import _scaled_dot_of_checked

BLOCK = 128


def online_softmax(scores: Tensor, mask: Tensor | None = None, *, block: int = BLOCK) -> Tensor:
    """Compute `masked_softmax` in two passes over blocks of keys: maximum and sum, then weights.

    Args:
        scores: (..., q, k), floating point.
        mask: as in `masked_softmax`.
        block: how many keys are read at once.

    Returns:
        Weights, shape and dtype of `scores`. A query that may attend to nothing gets zeros.

    Raises:
        TypeError, ValueError: as `masked_softmax`; block is not a whole number of at least 1.

    Source: Milakov and Gimelshein 2018, algorithm 3, with blocks in place of single scores.
    """
    check_floating("scores", scores)
    block = check_count("block", block, least=1)
    mask = None if mask is None else align_mask(mask, tuple(scores.shape))
    largest, total = _nothing_read(_wide(scores[..., :0]))
    for part, seen in _blocks(scores, mask, block):
        largest, old, e = _step(largest, _filled(_wide(part), seen))
        total = total * old + e.sum(-1, keepdim=True)
    logs = _logs(largest, total)
    parts = [
        (_filled(_wide(part), seen) - logs).exp() for part, seen in _blocks(scores, mask, block)
    ]
    return torch.cat([scores[..., :0], *(part.to(scores.dtype) for part in parts)], dim=-1)


def online_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
    block: int = BLOCK,
) -> tuple[Tensor, Tensor]:
    """Attention by scaled dot products and a softmax that never holds more than one block's scores.

    Sums are kept in single precision or better. The gradient computes each block's scores again.

    Args:
        queries, keys, values: (..., q, d), (..., k, d) and (..., k, d_v), as in `attention`.
        mask: as in `attention`.
        block: how many keys are read at once. It changes nothing but the time and the memory.

    Returns:
        Output (..., q, d_v), and the logarithm of each query's sum of exponentials (..., q), in
        single precision or better, without a gradient. A query that may attend to nothing gets
        zeros, and minus infinity as its logarithm.

    Raises:
        TypeError, ValueError: as `attention`; block is not a whole number of at least 1.

    Source: Rabe and Staats 2021 (forward); Dao et al. 2022 (FlashAttention), algorithms 1 and 4.
    """
    mask = _checked(queries, keys, values, mask, 0.0)
    check_same_features(queries, keys)
    block = check_count("block", block, least=1)
    if mask is not None:
        queries, keys, values = _without_unused(queries, keys, values, mask)
    return _Online.apply(queries, keys, values, mask, block)


class _Online(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, values, mask, block):
        largest, total = _nothing_read(_wide(queries[..., :0]))
        output = largest.new_zeros(*queries.shape[:-1], values.shape[-1])
        for K, V, seen in _key_blocks(keys, values, mask, block):
            largest, old, e = _step(largest, _scores(queries, K, seen))
            total = total * old + e.sum(-1, keepdim=True)  # (..., q, 1)
            output = output * old + e @ V
        output = torch.where(total > 0, output / total, 0.0)  # (..., q, d_v)
        logs = _logs(largest, total)
        ctx.save_for_backward(queries, keys, values, mask, output, logs)
        ctx.block = block
        logs = torch.where(total > 0, logs, -torch.inf).squeeze(-1)
        ctx.mark_non_differentiable(logs)
        return output.to(queries.dtype), logs

    @staticmethod
    @once_differentiable
    def backward(ctx, upstream, _):
        queries, keys, values, mask, output, logs = ctx.saved_tensors
        upstream = _wide(upstream)
        share = (upstream * output).sum(-1, keepdim=True)  # (..., q, 1)
        d_queries, d_keys, d_values = torch.zeros_like(_wide(queries)), [], []
        for K, V, seen in _key_blocks(keys, values, mask, ctx.block):
            weights = (_scores(queries, K, seen) - logs).exp()
            d_values.append(weights.mT @ upstream)
            d_scores = weights * (upstream @ V.mT - share) / math.sqrt(max(queries.shape[-1], 1))
            d_queries += d_scores @ K
            d_keys.append(d_scores.mT @ _wide(queries))
        d_queries = d_queries.to(queries.dtype)
        d_keys, d_values = (
            torch.cat([x[..., :0, :], *(part.to(x.dtype) for part in parts)], dim=-2)
            for x, parts in ((keys, d_keys), (values, d_values))
        )
        return d_queries, d_keys, d_values, None, None


def _nothing_read(empty: Tensor) -> tuple[Tensor, Tensor]:
    """The largest score and the sum, (..., q, 1) each, before any block; from (..., q, 0)."""
    shape = (*empty.shape[:-1], 1)
    return empty.new_full(shape, -torch.inf), empty.new_zeros(shape)


def _step(largest: Tensor, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The new largest score, the factor of the old sums, and exp(score - largest) of the block.

    While nothing could be attended to, zero stands in for the largest: -inf - (-inf) is NaN.
    """
    new = torch.maximum(largest, scores.amax(-1, keepdim=True))
    finite = torch.where(new > -torch.inf, new, 0.0)
    return new, (largest - finite).exp(), (scores - finite).exp()


def _logs(largest: Tensor, total: Tensor) -> Tensor:
    """Logarithms of the sums; zero where there is none, so that exp(-inf - log) is zero."""
    return torch.where(total > 0, largest + total.log(), 0.0)


def _filled(scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores if mask is None else torch.where(mask, scores, -torch.inf)


def _scores(queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    return _filled(_scaled_dot_of_checked(_wide(queries), keys), mask)


def _blocks(scores: Tensor, mask: Tensor | None, block: int):
    """Scores and mask of each block of keys."""
    for start in range(0, scores.shape[-1], block):
        here = slice(start, start + block)
        yield scores[..., here], _part(mask, here)


def _key_blocks(keys: Tensor, values: Tensor, mask: Tensor | None, block: int):
    """Keys, values and mask of each block, the first two wide."""
    for start in range(0, keys.shape[-2], block):
        here = slice(start, start + block)
        yield _wide(keys[..., here, :]), _wide(values[..., here, :]), _part(mask, here)


def _part(mask: Tensor | None, here: slice) -> Tensor | None:
    """The mask of some keys; an axis of size 1 holds for all."""
    return mask if mask is None or mask.shape[-1] == 1 else mask[..., here]
