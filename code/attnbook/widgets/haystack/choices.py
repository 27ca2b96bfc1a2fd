"""Four cheap choices among the keys, by the package's functions, as the browser makes them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import torch
from torch import Tensor

from ... import cheap


class Haystack(NamedTuple):
    """Keys (n, d), queries (q, d), and whatever was drawn: what no setting changes."""

    keys: Tensor
    queries: Tensor
    asked: Tensor  # (q, heads, size), an indexer's queries
    small: Tensor  # (n, size), its keys
    shares: Tensor  # (q, heads), its weights
    rotations: Tensor  # (rounds, d, half), as many as can be asked for
    seed: int  # of the keys at which centres start


class Kept(NamedTuple):
    """For each pair the cheap score and whether it is kept, (q, n); multiplications of a query."""

    scores: Tensor
    kept: Tensor
    spent: int


def centres_of(hay: Haystack, clusters: int) -> Tensor:
    """Where k-means leaves the centres, (clusters, d)."""
    start = torch.Generator().manual_seed(hay.seed)
    return cheap.k_means(hay.keys, clusters, generator=start)


def _by_means(hay: Haystack, use: SimpleNamespace) -> Kept:
    n, d = hay.keys.shape
    scores = cheap.mean_key_scores(hay.queries, hay.keys, block=use.block)  # (q, blocks)
    kept = cheap.keep_blocks(scores, max(1, use.budget // use.block), use.block, n)
    spread = scores.repeat_interleave(use.block, dim=-1)[:, :n]
    return Kept(spread, kept, scores.shape[-1] * d)


def _by_indexer(hay: Haystack, use: SimpleNamespace) -> Kept:
    n, size = hay.small.shape
    products = torch.einsum("qhs,ks->qhk", hay.asked, hay.small).relu()
    scores = torch.einsum("qh,qhk->qk", hay.shares, products) / size**0.5
    kept = cheap.keep_blocks(scores, use.budget, 1, n)
    return Kept(scores, kept, n * hay.asked[0].numel())


def _by_hash(hay: Haystack, use: SimpleNamespace) -> Kept:
    turns = hay.rotations[: use.rounds, :, : use.buckets // 2]
    asked, given = (cheap.hash_codes(x, turns) for x in (hay.queries, hay.keys))
    agree = (asked.unsqueeze(1) == given).sum(-1).double()  # (q, n)
    return Kept(agree, cheap.same_bucket(asked, given), turns.numel())


def _by_cluster(hay: Haystack, use: SimpleNamespace) -> Kept:
    centres = centres_of(hay, use.clusters)
    home = cheap._nearness(hay.keys, centres).argmax(-1)  # (n,)
    near = cheap._nearness(hay.queries, centres)  # (q, clusters)
    far = (hay.queries.square().sum(-1, keepdim=True) - 2 * near).clamp(min=0).sqrt()
    looked = cheap.keep_blocks(near, use.nearest, 1, use.clusters)  # of equal ones the first
    return Kept(-far[:, home], looked[:, home], centres.numel())


CHOICES = {"mean": _by_means, "indexer": _by_indexer, "hash": _by_hash, "cluster": _by_cluster}
