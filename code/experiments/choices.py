"""Cheap choices on the same haystacks, for the tables of chapter 12 and the selection table.

One query, 512 keys of 64 features, two to four needles (`attnbook.data.haystack`). Each choice
keeps 64 keys, an eighth, or about as many. None of them has learned anything: an indexer here
compares in random directions.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.cheap import (
    block_means,
    hash_codes,
    k_means,
    keep_best,
    keep_blocks,
    same_bucket,
    same_cluster,
)
from attnbook.data import Haystack, haystack

KEYS, KEEP, D = 512, 64, 64
FLOAT = 4  # bytes


class Choice(NamedTuple):
    """What was kept, boolean (b, 1, k), and what it costs to choose for one query.

    `chosen_by`: multiplications for the scores by which it is chosen. `prepared`: numbers that are
    made of each key, once for all queries, and read for each query.
    """

    kept: Tensor
    chosen_by: float
    prepared: float

    @property
    def multiplications(self) -> float:
        """For choosing, and for the scores of what is kept, of one query."""
        return self.chosen_by + self.kept.float().sum(-1).mean().item() * D

    @property
    def bytes(self) -> float:
        """What one query reads: the prepared numbers, the keys and values that are kept."""
        read = self.prepared * self.kept.shape[-1] + 2 * D * self.kept.float().sum(-1).mean().item()
        return FLOAT * read


def draw(b: int, seed: int) -> Haystack:
    """Haystacks of 64 features."""
    return haystack(b, KEYS, d=D, generator=torch.Generator().manual_seed(seed))


def by_means(hay: Haystack, block: int) -> Choice:
    """The blocks with the best mean keys."""
    scores = hay.queries @ block_means(hay.keys, block).mT
    kept = keep_blocks(scores, KEEP // block, block, KEYS)
    return Choice(kept, KEYS // block * D, D / block)


def by_rank(hay: Haystack, rank: int, seed: int) -> Choice:
    """The keys with the best scores in a few random directions."""
    P = torch.randn(D, rank, generator=torch.Generator().manual_seed(seed))
    kept = keep_best((hay.queries @ P) @ (hay.keys @ P).mT, KEEP)
    return Choice(kept, rank * (D + KEYS), rank)


def by_hash(hay: Haystack, rounds: int, buckets: int, seed: int) -> Choice:
    """The keys that share a bucket with the query; a code is read as a number of four bytes."""
    rotations = torch.randn(rounds, D, buckets // 2, generator=torch.Generator().manual_seed(seed))
    kept = same_bucket(hash_codes(hay.queries, rotations), hash_codes(hay.keys, rotations))
    return Choice(kept, rounds * D * buckets / 2, rounds)


def by_cluster(hay: Haystack, clusters: int, nearest: int, seed: int) -> Choice:
    """The keys of the clusters that are nearest to the query, centres found in each haystack."""
    random, kept = torch.Generator().manual_seed(seed), []
    for queries, keys in zip(hay.queries, hay.keys, strict=True):
        centres = k_means(keys, clusters, steps=5, generator=random)
        kept.append(same_cluster(queries, keys, centres, nearest=nearest))
    return Choice(torch.stack(kept), clusters * D, 1)


def all_of(hay: Haystack, seed: int) -> dict[str, Choice]:
    """Every choice on the same haystacks, dense attention last."""
    return {
        "means of 8": by_means(hay, 8),
        "means of 32": by_means(hay, 32),
        "rank 8": by_rank(hay, 8, seed),
        "rank 2": by_rank(hay, 2, seed),
        "hash, 1 of 8": by_hash(hay, 1, 8, seed),
        "hash, 4 of 32": by_hash(hay, 4, 32, seed),
        "clusters, 1 of 8": by_cluster(hay, 8, 1, seed),
        "clusters, 4 of 32": by_cluster(hay, 32, 4, seed),
        "dense": Choice(torch.ones_like(hay.needles), 0, 0),
    }
