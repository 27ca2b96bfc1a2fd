"""Choose by content without scoring every pair.

Ways to guess cheaply which keys a query needs: by the mean of a block of keys, by a learned
indexer, by a hash, by a cluster. Each gives `kept`, boolean (..., q, k), which goes into
`attention(mask=kept)`, or logits for a `SelectiveNode`. Each is dense attention where it keeps
everything. `block_attention` computes only the blocks that were chosen.

Shape letters: `b` batch, `h` heads, `q` queries, `k` keys, `d` features; `n` where there are as
many queries as keys. A block is `block` neighbouring keys; the last one may have fewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._checks import align_mask, check_count, check_floating, check_pair, shape
from .attention import _checked, _keep, _without_unused, attention
from .masks import causal_mask, window_mask
from .normalize import _best, _wide, masked_softmax

__all__ = [
    "BlockPool",
    "Branches",
    "Indexer",
    "ThreeBranches",
    "best_blocks",
    "block_attention",
    "block_means",
    "hash_codes",
    "k_means",
    "keep_best",
    "keep_blocks",
    "mean_key_blocks",
    "mean_key_scores",
    "same_bucket",
    "same_cluster",
]


# Blocks


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


# Hashes


def hash_codes(x: Tensor, rotations: Tensor) -> Tensor:
    """Which bucket each vector falls into, round by round: argmax of [xR; -xR].

    Vectors in nearly the same direction mostly share a bucket; their length does not matter.

    Args:
        x: (..., n, d).
        rotations: (rounds, d, half), random normal numbers; there are 2 * half buckets.

    Returns:
        Codes (..., n, rounds), from 0 to 2 * half - 1.

    Raises:
        TypeError: a tensor is not floating point.
        ValueError: shapes do not fit.

    Source: Andoni et al. 2015, section 3 (cross-polytope); Kitaev, Kaiser and Levskaya 2020
    (Reformer), section 2, h(x) = argmax([xR; -xR]).
    """
    check_floating("x", x)
    check_floating("rotations", rotations)
    if rotations.dim() != 3 or x.dim() < 2 or x.shape[-1] != rotations.shape[1]:
        raise ValueError(
            "x must be (..., n, d) and rotations (rounds, d, half), "
            f"got {shape(x)} and {shape(rotations)}"
        )
    turned = torch.einsum("...nd,rdc->...nrc", x, rotations)  # (..., n, rounds, half)
    return torch.cat((turned, -turned), dim=-1).argmax(dim=-1)


def same_bucket(query_codes: Tensor, key_codes: Tensor) -> Tensor:
    """Keep the keys that share a bucket with the query in any round.

    Shapes: query_codes (..., q, rounds), key_codes (..., k, rounds) -> boolean (..., q, k).

    Source: Kitaev, Kaiser and Levskaya 2020 (Reformer), section 2, "multi-round LSH attention".
    """
    rounds, axes = query_codes.shape[-1:], min(query_codes.dim(), key_codes.dim())
    if axes < 2 or key_codes.shape[-1:] != rounds:
        raise ValueError(
            "query_codes must be (..., q, rounds) and key_codes (..., k, rounds), "
            f"got {shape(query_codes)} and {shape(key_codes)}"
        )
    return (query_codes.unsqueeze(-2) == key_codes.unsqueeze(-3)).any(-1)


# Clusters


@torch.no_grad()
def k_means(
    x: Tensor, clusters: int, *, steps: int = 10, generator: torch.Generator | None = None
) -> Tensor:
    """Centres of clusters: each step moves a centre to the mean of the vectors nearest to it.

    The centres know all of `x`: where a query may see only some of it, take other vectors.

    Args:
        x: (n, d).
        clusters: how many, at most n.
        steps: how often the centres move.
        generator: draws the vectors that the centres start at.

    Returns:
        Centres (clusters, d). One that is nearest to no vector stays where it is.

    Raises:
        TypeError: x is not floating point.
        ValueError: x is not (n, d), there are more clusters than vectors, or a count is too small.

    Source: Lloyd 1982.
    """
    check_floating("x", x)
    if x.dim() != 2:
        raise ValueError(f"x must be (n, d), got {shape(x)}")
    clusters = check_count("clusters", clusters, least=1, most=len(x))
    rows = _double(x)
    centres = rows[torch.randperm(len(x), generator=generator)[:clusters].to(x.device)]
    for _ in range(check_count("steps", steps)):
        nearest = _nearness_there(rows, centres).argmax(-1)  # (n,)
        total = torch.zeros_like(centres).index_add(0, nearest, rows)
        count = nearest.bincount(minlength=clusters).unsqueeze(-1)
        centres = torch.where(count > 0, total / count.clamp(min=1), centres)
    return centres.to(x.dtype)


def same_cluster(queries: Tensor, keys: Tensor, centres: Tensor, *, nearest: int = 1) -> Tensor:
    """Keep the keys whose nearest centre is one of those nearest to the query.

    Args:
        queries, keys: (..., q, d) and (..., k, d). Vectors of length 1 are compared by angle.
        centres: (clusters, d), as from `k_means`.
        nearest: in how many clusters a query looks; with all of them it keeps every key.

    Returns:
        kept, boolean (..., q, k).

    Raises:
        TypeError, ValueError: as `attention`; centres have other features, `nearest` is below 1.

    Source: Roy et al. 2021 (Routing Transformer), "Routing Attention with Clustering".
    """
    check_pair(queries, keys)
    if centres.dim() != 2 or centres.shape[-1] != keys.shape[-1]:
        raise ValueError(f"centres must be (clusters, {keys.shape[-1]}), got {shape(centres)}")
    nearest = check_count("nearest", nearest, least=1)
    home = _nearness_there(keys, centres).argmax(-1).unsqueeze(-2)  # (..., 1, k)
    looked = _best(_nearness_there(queries, centres), nearest)  # (..., q, clusters)
    return looked.gather(-1, home.expand(*queries.shape[:-1], keys.shape[-2]))


# A learned indexer


class Indexer(nn.Module):
    """Score each pair cheaply with a few small heads that share one key.

    I = sum over heads h of w_h(q) act(q_h . k), where the w_h are linear in the query. It is a
    relevance for a `SelectiveNode`.

    Shapes: queries (..., q, query_size), keys (..., k, key_size) -> (..., q, k).

    Args:
        query_size, key_size: features of a query, and of a key.
        heads: how many.
        size: features in which a head compares.
        activation: of each product.
        bias: of the weights w_h: it starts at 1, so that at first the heads are about summed.

    Source: DeepSeek-AI 2025 (DeepSeek-V3.2), section 2.1, equation 1, "lightning indexer".
    """

    def __init__(
        self,
        query_size: int,
        key_size: int,
        heads: int,
        size: int,
        activation: Callable[[Tensor], Tensor] = torch.relu,
        bias: bool = True,
    ):
        super().__init__()
        query_size = check_count("query_size", query_size, least=1)
        self.heads = check_count("heads", heads, least=1)
        self.size = check_count("size", size, least=1)
        self.activation = activation
        self.W_q = nn.Linear(query_size, heads * size, bias=False)
        self.W_k = nn.Linear(check_count("key_size", key_size, least=1), size, bias=False)
        self.W_w = nn.Linear(query_size, heads, bias=bias)
        if bias:
            nn.init.ones_(self.W_w.bias)

    def forward(self, queries: Tensor, keys: Tensor, task: None = None) -> Tensor:
        if task is not None:
            raise ValueError(f"task must be None: the indexer reads none, got {shape(task)}")
        asked = self.W_q(queries).unflatten(-1, (self.heads, self.size))  # (..., q, h, size)
        asked = asked / math.sqrt(self.size)  # before the product: half precision stays in range
        products = torch.einsum("...qhd,...kd->...qhk", asked, self.W_k(keys))
        products = self.activation(products)
        return torch.einsum("...qh,...qhk->...qk", self.W_w(queries), products)


def keep_best(scores: Tensor, keep: int, mask: Tensor | None = None) -> Tensor:
    """Keep each query's `keep` best keys.

    Shapes: scores (..., q, k), mask as in `attention` -> kept, boolean (..., q, k), within the
    mask. It never keeps more than `keep`, of equal keys any; a score of minus infinity is as good
    as masked.
    """
    check_floating("scores", scores)
    if mask is not None:
        scores = torch.where(align_mask(mask, scores.shape), scores, -torch.inf)
    return _best(scores, check_count("keep", keep, least=1)) & (scores > -torch.inf)


# Compression, and three branches


class BlockPool(nn.Module):
    """Compress each block to one key and one value, by learned weights within the block.

    The weights are the softmax of key . query / sqrt(size) + place, with a learned query and a
    learned number for each place. Both start at 0: then it is the mean.

    Shapes: keys (..., k, size), values (..., k, d_v), used (..., k) as in `block_means`
    -> compressed keys (..., blocks, size) and values (..., blocks, d_v).

    Args:
        size: features of a key.
        block: keys in a block.

    Source: after Yuan et al. 2025 (NSA), section 3.3.1, whose compression is a small network.
    """

    def __init__(self, size: int, block: int):
        super().__init__()
        self.block = check_count("block", block, least=1)
        self.query = nn.Parameter(torch.zeros(check_count("size", size, least=1)))
        self.place = nn.Parameter(torch.zeros(block))

    def forward(
        self, keys: Tensor, values: Tensor, used: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        inside = _members(keys, self.block, used)  # (..., blocks, block)
        open_ = inside.unsqueeze(-1)
        keys, values = (torch.where(open_, _cut(x, self.block), 0.0) for x in (keys, values))
        logits = keys @ (self.query / math.sqrt(len(self.query))) + self.place
        weights = masked_softmax(torch.where(inside, logits, -torch.inf)).unsqueeze(-2)
        return (weights @ keys).squeeze(-2), (weights @ values).squeeze(-2)


class Branches(NamedTuple):
    """What `ThreeBranches` gives.

    `output` (..., n, d_v). `kept` (..., n, n), boolean: pairs that were attended to one by one, in
    a selected block or in the window; beside them the output depends on the compressed blocks
    before the query. `gates` (..., n, 3): compressed, selected, window.
    """

    output: Tensor
    kept: Tensor
    gates: Tensor


class ThreeBranches(nn.Module):
    """Causal attention in three ways at once: compressed blocks, selected blocks, a window.

    Each query weighs the three outputs by gates of its own. The blocks to select are those with
    the largest weights in the compressed branch, and the query's own.

    Shapes: queries, keys (..., n, size), values (..., n, d_v), mask of keys alone (..., 1, n)
    -> `Branches`.

    Args:
        size: features of a query, and of a key.
        block: keys in a block.
        keep: how many blocks are selected, one's own included.
        width: keys in the window, one's own included.

    Source: Yuan et al. 2025 (NSA), sections 3.2 and 3.3. There each branch has keys and
    values of its own, and heads of a group select together.
    """

    def __init__(self, size: int, *, block: int, keep: int, width: int):
        super().__init__()
        self.pool = BlockPool(size, block)
        self.gate = nn.Linear(size, 3)
        self.keep = check_count("keep", keep, least=1)
        self.width = check_count("width", width, least=1)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, *, mask: Tensor | None = None
    ) -> Branches:
        allowed = _checked(queries, keys, values, mask, 0.0)
        n, block = queries.shape[-2], self.pool.block
        _same_length(n, keys.shape[-2])
        before, used = causal_mask(n, device=keys.device), None
        if allowed is not None:
            _check_one_row(allowed, mask, n)  # a block's key and value are the same for all queries
            queries, keys, values = _without_unused(queries, keys, values, allowed)
            used = allowed.squeeze(-2).expand(keys.shape[:-1])
            before = before & allowed
        place = torch.arange(n, device=keys.device).unsqueeze(-1)
        ends = torch.arange(block - 1, -(-n // block) * block, block, device=keys.device)
        seen = ends <= place  # whole blocks, (n, blocks)
        if used is not None:
            seen = seen & _members(keys, block, used).any(-1).unsqueeze(-2)
        coarse, shares = attention(queries, *self.pool(keys, values, used), mask=seen)
        own = (place // block).expand(*shares.shape[:-1], 1)
        scores = shares.detach().scatter(-1, own, torch.inf)
        selected = keep_blocks(scores, self.keep, block, n, before)
        near = window_mask(n, n, self.width, device=keys.device) & before
        fine, local = (
            attention(queries, keys, values, mask=m, need_weights=False)[0]
            for m in (selected, near)
        )
        gates = self.gate(queries).sigmoid()  # (..., n, 3)
        output = (gates.unsqueeze(-2) @ torch.stack((coarse, fine, local), dim=-2)).squeeze(-2)
        return Branches(output, selected | near, gates)


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


def _nearness(x: Tensor, centres: Tensor) -> Tensor:
    """(|x|^2 - |x - c|^2) / 2 for each centre c: of all centres the nearest has the most."""
    return x @ centres.mT - centres.square().sum(-1) / 2


def _nearness_there(x: Tensor, centres: Tensor) -> Tensor:
    """The same from the middle of the centres: far from it, and in short numbers, terms cancel."""
    x, centres = _double(x), _double(centres)
    middle = centres.mean(0)
    return _nearness(x - middle, centres - middle)


def _double(x: Tensor) -> Tensor:
    """In double precision, where the device has it."""
    return x.to(torch.float32 if x.device.type == "mps" else torch.float64)


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
