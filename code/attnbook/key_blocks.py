"""Keys in blocks: their means, a choice of blocks, and attention that computes only those chosen.

Shape letters: `b` batch, `h` heads, `q` queries, `k` keys, `d` features. A block is `block`
neighbouring keys; the last one may have fewer.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from ._checks import align_mask, check_count, check_floating, check_pair, shape
from .attention import _checked, _keep, _without_unused
from .masks import causal_mask
from .normalize import _wide, masked_softmax


def block_means(keys: Tensor, block: int, used: Tensor | None = None) -> Tensor:
    """The mean of each block's keys.

    Args:
        keys: (..., k, d).
        block: keys in a block; the last block may have fewer, and its mean is over those.
        used: boolean (..., k), the keys that count; None: all. A block without any has mean 0.

    Returns:
        Means (..., blocks, d).

    Raises:
        TypeError: keys are not floating point.
        ValueError: keys are no rows of features, or `block` is below 1.

    Source: Lu et al. 2025 (MoBA), section 2.2, "mean pooling".
    """
    inside = _members(keys, block, used)  # (..., blocks, block)
    rows = _wide(torch.where(inside.unsqueeze(-1), _cut(keys, block), 0.0))
    share = inside.to(rows.dtype) / inside.sum(-1, keepdim=True).clamp(min=1)  # in its mean
    return (share.unsqueeze(-1) * rows).sum(-2).to(keys.dtype)


def best_blocks(block_scores: Tensor, keep: int) -> Tensor:
    """The numbers of each query's `keep` best blocks, best first; of equal ones the first.

    Shapes: block_scores (..., q, blocks) -> int64 (..., q, keep), or all if they are fewer.
    """
    keep = check_count("keep", keep, least=1)
    return block_scores.argsort(dim=-1, descending=True, stable=True)[..., :keep]


def keep_blocks(
    block_scores: Tensor, keep: int, block: int, k: int, mask: Tensor | None = None
) -> Tensor:
    """Keep the keys of each query's `keep` best blocks.

    Args:
        block_scores: (..., q, blocks), larger is better; of equal blocks the first are kept.
        keep: how many blocks.
        block, k: keys in a block, and in all.
        mask: boolean, True = may attend, as in `attention`; a block without an allowed key takes
            no place.

    Returns:
        kept, boolean (..., q, k), within the mask.

    Raises:
        ValueError: there are not as many scores as blocks, or a count is too small.
    """
    block, k = check_count("block", block, least=1), check_count("k", k)
    blocks = -(-k // block)
    if block_scores.dim() < 2 or block_scores.shape[-1] != blocks:
        raise ValueError(
            f"block_scores must be (..., q, {blocks}), one score for each block of {block} of "
            f"{k} keys, got {shape(block_scores)}"
        )
    wanted = (*block_scores.shape[:-1], k)
    allowed = block_scores.new_ones(wanted, dtype=torch.bool)
    if mask is not None:
        allowed = align_mask(mask, wanted).expand(wanted)
    open_ = _some_open(allowed, block)  # (..., q, blocks)
    chosen = best_blocks(torch.where(open_, block_scores, -torch.inf), keep)
    best = torch.zeros_like(open_).scatter(-1, chosen, True)
    return best.repeat_interleave(block, dim=-1)[..., :k] & allowed


def mean_key_scores(
    queries: Tensor, keys: Tensor, *, block: int, causal: bool = False, mask: Tensor | None = None
) -> Tensor:
    """Score each block by q . mean(K_block).

    Args:
        queries, keys: (..., q, d) and (..., k, d).
        block: keys in a block.
        causal: query i stands at place i, and its own block scores infinity.
        mask: as in `attention`; a key that a query may not attend to is in no mean that the query
            sees. With a row for each query the means differ by query, and cost dense scores.

    Returns:
        Scores (..., q, blocks), minus infinity for a block of which the query may see nothing.

    Raises:
        TypeError, ValueError: as `attention`; causal with more or fewer keys than queries.

    Source: Lu et al. 2025 (MoBA), section 2.2.
    """
    check_pair(queries, keys)
    used, q, k = None, queries.shape[-2], keys.shape[-2]
    if mask is not None:
        mask = align_mask(mask, (*queries.shape[:-1], k))
        used = mask.any(-2).expand(keys.shape[:-1])
    if mask is None or mask.shape[-2] == 1:
        scores = queries @ block_means(keys, block, used).mT  # (..., q, blocks)
    else:  # q . mean(K) is the mean of q . k
        pairs = queries @ _keep(keys, used.unsqueeze(-1)).mT  # (..., q, k)
        seen = mask.expand(pairs.shape)
        scores = block_means(pairs.unsqueeze(-1), block, seen).squeeze(-1)
    if causal:
        _same_length(q, k)
        number = torch.arange(scores.shape[-1], device=keys.device)
        own = (torch.arange(q, device=keys.device) // block).unsqueeze(-1)
        scores = scores.masked_fill(number == own, torch.inf)
        scores = scores.masked_fill(number > own, -torch.inf)
        mask = None if mask is None else mask & causal_mask(q, k, device=keys.device)
    if mask is not None:
        scores = torch.where(_some_open(mask, block), scores, -torch.inf)
    return scores


def mean_key_blocks(
    queries: Tensor,
    keys: Tensor,
    *,
    block: int,
    keep: int,
    causal: bool = False,
    mask: Tensor | None = None,
) -> Tensor:
    """Keep the blocks whose mean key fits the query best.

    Args:
        queries, keys, block, causal, mask: as in `mean_key_scores`.
        keep: how many blocks; if causal, the query's own is always one of them, and nothing after
            the query is kept.

    Returns:
        kept, boolean (..., q, k).

    Raises:
        TypeError, ValueError: as `mean_key_scores`; `keep` is below 1.

    Source: Lu et al. 2025 (MoBA), section 2.2.
    """
    scores = mean_key_scores(queries, keys, block=block, causal=causal, mask=mask)
    q, k = queries.shape[-2], keys.shape[-2]
    if causal:
        before = causal_mask(q, k, device=keys.device)
        wanted = (*queries.shape[:-1], k)
        mask = before if mask is None else align_mask(mask, wanted) & before
    return keep_blocks(scores, keep, block, k, mask)


def block_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    chosen: Tensor,
    block: int,
    *,
    causal: bool = False,
    mask: Tensor | None = None,
) -> Tensor:
    """Scaled dot-product attention to chosen blocks, which scores nothing else.

    Block after block, the queries that chose it attend to it; then each query's results are
    joined, with weights that are the softmax of the logarithms of their sums.

    Args:
        queries, keys, values: (..., q, d), (..., k, d) and (..., k, d_v), as in `attention`.
        chosen: int64 (..., q, keep), different block numbers, as `best_blocks` gives them.
        block: keys in a block.
        causal: query i stands at place i and sees nothing after it.
        mask: boolean, True = may attend, of keys alone: one row for all queries, as in
            `sparse.window_attention`.

    Returns:
        Output (..., q, d_v), that of `attention` masked to the chosen blocks.

    Raises:
        TypeError, ValueError: as `attention`; `chosen` is not int64, has other axes, a number that
            is no block or one twice; causal with more or fewer keys than queries; the mask has a
            row for each query.

    Source: after Lu et al. 2025 (MoBA), section 2.3; the joining, Rabe and Staats 2021.
    """
    allowed = _checked(queries, keys, values, mask, 0.0)
    check_pair(queries, keys)
    inside, (q, k) = _members(keys, block, None), (queries.shape[-2], keys.shape[-2])
    blocks = inside.shape[-2]
    _check_chosen(chosen, queries, blocks)
    if causal:
        _same_length(q, k)
    if allowed is not None:
        _check_one_row(allowed, mask, k)
        inside = _members(keys, block, allowed.squeeze(-2).expand(keys.shape[:-1]))
        queries, keys, values = _without_unused(queries, keys, values, allowed)
    # all sequences and heads in one row: queries one after the other, blocks as well
    flat, inside = queries.flatten(0, -2) / math.sqrt(max(keys.shape[-1], 1)), inside.flatten(0, -2)
    keys, values = (_cut(x, block).flatten(0, -3) for x in (keys, values))  # (all blocks, block, d)
    keep = chosen.shape[-1]
    row = torch.arange(chosen.numel(), device=chosen.device) // max(keep, 1)  # a pair's query
    place, first = row % max(q, 1), chosen.flatten() * block
    pairs = (first <= place if causal else first >= 0).nonzero().flatten()
    home = row // max(q, 1) * blocks + chosen.flatten()  # a pair's block, of all blocks
    pairs = pairs[home[pairs].argsort(stable=True)]
    counts = home[pairs].bincount(minlength=len(keys)).tolist()

    pooled, logs = [values.new_zeros(0, values.shape[-1])], [_wide(flat.new_zeros(0))]
    steps = torch.arange(block, device=keys.device)
    for number, some in enumerate(pairs.split(counts)):
        if len(some):
            open_ = inside[number]
            if causal:
                open_ = open_ & (first[some, None] + steps <= place[some, None])
            scores = torch.where(open_, flat[row[some]] @ keys[number].mT, -torch.inf)
            logs.append(_wide(scores).logsumexp(-1))
            pooled.append(masked_softmax(scores) @ values[number])
    logs = torch.cat(logs)
    logs = logs.new_full((len(row),), -torch.inf).index_copy(0, pairs, logs)
    pooled = flat.new_zeros(len(row), values.shape[-1]).index_copy(0, pairs, torch.cat(pooled))
    shares = masked_softmax(logs.unflatten(0, (len(flat), keep))).unsqueeze(-2)  # (..., 1, keep)
    shares = shares.to(values.dtype)
    output = (shares @ pooled.unflatten(0, (len(flat), keep))).squeeze(-2)
    return output.reshape(*queries.shape[:-1], values.shape[-1])


def _cut(x: Tensor, block: int) -> Tensor:
    """(..., k, d) -> (..., blocks, block, d), with zeros behind the last key."""
    x = F.pad(x, (0, 0, 0, -x.shape[-2] % block))
    return x.unflatten(-2, (x.shape[-2] // block, block))


def _members(keys: Tensor, block: int, used: Tensor | None) -> Tensor:
    """Which places of the blocks hold a key that counts, (..., blocks, block)."""
    check_floating("keys", keys)
    block = check_count("block", block, least=1)
    if keys.dim() < 2:
        raise ValueError(f"keys must be (..., k, d), got {shape(keys)}")
    if used is None:
        used = torch.ones(keys.shape[:-1], dtype=torch.bool, device=keys.device)
    if used.dtype != torch.bool or used.shape != keys.shape[:-1]:
        raise ValueError(
            f"used must be boolean {tuple(keys.shape[:-1])}, got {used.dtype} {shape(used)}"
        )
    return _cut(used.unsqueeze(-1), block).squeeze(-1)


def _some_open(mask: Tensor, block: int) -> Tensor:
    """In which blocks a query may attend to a key: (..., q, k) -> (..., q, blocks)."""
    return _cut(mask.unsqueeze(-1), block).squeeze(-1).any(-1)


def _check_one_row(allowed: Tensor, mask: Tensor, k: int) -> None:
    """Raise unless the mask, aligned, says the same for all queries."""
    if allowed.shape[-2] != 1:
        raise ValueError(
            f"mask must have one row for all queries, (..., 1, {k}), got {shape(mask)}"
        )


def _same_length(q: int, k: int) -> None:
    """Raise unless there are as many keys as queries."""
    if q != k:
        raise ValueError(f"keys must be as many as queries if causal, {q}, got {k}")


def _check_chosen(chosen: Tensor, queries: Tensor, blocks: int) -> None:
    """Raise unless `chosen` holds numbers of different blocks for each query."""
    if not isinstance(chosen, Tensor) or chosen.dtype != torch.int64:
        found = chosen.dtype if isinstance(chosen, Tensor) else type(chosen).__name__
        raise TypeError(f"chosen must be an int64 torch.Tensor, got {found}")
    if chosen.shape[:-1] != queries.shape[:-1]:
        wanted = (*queries.shape[:-1], "keep")
        raise ValueError(f"chosen must be {wanted}, got {shape(chosen)}")
    order = chosen.sort(dim=-1).values
    if ((order < 0) | (order >= blocks)).any() or (order.diff(dim=-1) == 0).any():
        raise ValueError(f"chosen must be different numbers from 0 to {blocks - 1} for each query")
