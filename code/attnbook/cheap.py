"""Choose by content without scoring every pair.

Ways to guess cheaply which keys a query needs: by the mean of a block of keys (`key_blocks`), by a
learned indexer, by a hash, by a cluster. Each gives `kept`, boolean (..., q, k), which goes into
`attention(mask=kept)`, or logits for a `SelectiveNode`. Each is dense attention where it keeps
everything. `block_attention` computes only the blocks that were chosen; `ThreeBranches`
(`branches`) joins blocks with a window.

Shape letters: `q` queries, `k` keys, `d` features; `n` where there are as many queries as keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ._checks import align_mask, check_count, check_floating, check_pair, check_sizes, shape
from .branches import BlockPool, Branches, ThreeBranches
from .key_blocks import (
    best_blocks,
    block_attention,
    block_means,
    keep_blocks,
    mean_key_blocks,
    mean_key_scores,
)
from .normalize import _best

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
        self.heads, self.size = check_sizes(heads=heads, size=size)
        check_sizes(query_size=query_size, key_size=key_size)
        self.activation = activation
        self.W_q = nn.Linear(query_size, heads * size, bias=False)
        self.W_k = nn.Linear(key_size, size, bias=False)
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
