"""Pairs as padded tensors: sentences of similar length together, in a seeded order."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from .._checks import check_count
from .vocabulary import BOS, EOS, PAD, Vocabulary


class Batch(NamedTuple):
    """Padded sentences as a model takes them (b batch, k source and q target places).

    Where a row has ended there stands `<pad>`; the lengths say where that is, and a model reads
    the lengths.
    """

    source: Tensor  # (b, k) int64, source tokens and <eos>
    source_lens: Tensor  # (b,) int64, counting <eos>
    inputs: Tensor  # (b, q) int64, <bos> and target tokens
    targets: Tensor  # (b, q) int64, target tokens and <eos>
    target_lens: Tensor  # (b,) int64, valid columns of inputs and of targets alike

    def to(self, device: torch.device | str) -> Batch:
        """Give the same batch on another device."""
        return Batch(*(tensor.to(device) for tensor in self))


def collate(pairs: Sequence, source_vocab: Vocabulary, target_vocab: Vocabulary) -> Batch:
    """Number and pad pairs of sentences: (b, k) sources, (b, q) inputs and targets.

    Args:
        pairs: AlignedPair, or anything that begins with source tokens and target tokens.

    Raises:
        ValueError: there are no pairs.
    """
    if not pairs:
        raise ValueError("pairs must hold at least one pair, got none")
    sources = [[*source_vocab.encode(pair[0]), EOS] for pair in pairs]
    targets = [target_vocab.encode(pair[1]) for pair in pairs]
    return Batch(
        source=_padded(sources),
        source_lens=torch.tensor([len(ids) for ids in sources]),
        inputs=_padded([[BOS, *ids] for ids in targets]),
        targets=_padded([[*ids, EOS] for ids in targets]),
        target_lens=torch.tensor([len(ids) + 1 for ids in targets]),
    )


def _padded(rows: list[list[int]]) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


class LengthBatches:
    """Batches of sentences of similar length, in a new order in each epoch.

    Iterate once for each epoch. Sentences are shuffled, cut into pools of `pool` batches, sorted
    within each pool by target and source length, cut into batches, and the batches shuffled: little
    padding, and still chance. Epoch e under seed s is always the same; `epoch` counts those begun
    and may be set. Without a seed all sentences are sorted and nothing is shuffled.
    """

    def __init__(
        self,
        pairs: Sequence,
        source_vocab: Vocabulary,
        target_vocab: Vocabulary,
        batch_size: int,
        *,
        seed: int | None = None,
        pool: int = 16,
    ):
        self.batch_size = check_count("batch_size", batch_size, least=1)
        self.pool = check_count("pool", pool, least=1)
        self.seed = None if seed is None else check_count("seed", seed)
        self.pairs = list(pairs)
        self.source_vocab, self.target_vocab = source_vocab, target_vocab
        self.epoch = 0

    def __len__(self) -> int:
        return -(-len(self.pairs) // self.batch_size)

    def __iter__(self) -> Iterator[Batch]:
        groups = self.order(self.epoch)
        self.epoch += 1
        return (
            collate([self.pairs[i] for i in group], self.source_vocab, self.target_vocab)
            for group in groups
        )

    def order(self, epoch: int) -> list[list[int]]:
        """Give the indices of the pairs in each batch of an epoch, counted from 0."""
        indices = list(range(len(self.pairs)))
        if self.seed is None:
            return self._cut(sorted(indices, key=self._lengths), self.batch_size)
        # a string seeds by its own hash, the same in every process and on every machine
        chance = random.Random(f"{self.seed} {epoch}")
        chance.shuffle(indices)
        groups = []
        for pool in self._cut(indices, self.batch_size * self.pool):
            groups += self._cut(sorted(pool, key=self._lengths), self.batch_size)
        chance.shuffle(groups)
        return groups

    def _lengths(self, index: int) -> tuple[int, int]:
        source, target = self.pairs[index][:2]
        return len(target), len(source)

    @staticmethod
    def _cut(indices: list[int], size: int) -> list[list[int]]:
        return [indices[i : i + size] for i in range(0, len(indices), size)]


def length_batches(
    pairs: Sequence,
    source_vocab: Vocabulary,
    target_vocab: Vocabulary,
    batch_size: int,
    *,
    seed: int | None = None,
    pool: int = 16,
) -> LengthBatches:
    """Batch pairs by length: each iteration is an epoch that yields Batch, (b, k) and (b, q).

    Args:
        pairs: AlignedPair, or anything that begins with source tokens and target tokens.
        batch_size: sentences in a batch; the last one of an epoch may be smaller.
        seed: epoch e of one seed is always the same; None keeps all in sorted order.
        pool: batches whose sentences are sorted together.

    Raises:
        ValueError: `batch_size` or `pool` is below 1, or `seed` below 0.
    """
    return LengthBatches(pairs, source_vocab, target_vocab, batch_size, seed=seed, pool=pool)
