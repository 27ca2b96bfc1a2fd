"""Readers of documents: ways to pool words, how they are trained, and what they looked at.

A reader looks up a vector for each word, pools the words of a document, and gives one logit.
Nothing in it knows the order of words. The kinds differ in how they pool, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import pad_documents
from attnbook.hierarchical import HierarchicalAttention, LearnedQuery, MeanPooling

from .loop import learn

KINDS = ("first word", "mean of words", "mean of means", "flat attention", "hierarchy")
BETWEEN = ("attention to words", "attention to sentences", "layer between means")  # half of one
POOL = 8  # batches whose documents are sorted together by their number of sentences

Document = Sequence[Sequence[int]]


class Reading(NamedTuple):
    """Logits (b,), weights of words (b, s, w), and of sentences (b, s)."""

    logits: Tensor
    words: Tensor
    sentences: Tensor


class BentMean(nn.Module):
    """A mean and a layer, tanh(W mean + b); shapes and weights as `MeanPooling`."""

    def __init__(self, d: int):
        super().__init__()
        self.mean, self.layer = MeanPooling(), nn.Linear(d, d)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        mean, weights = self.mean(x, mask)
        return torch.tanh(self.layer(mean)), weights


class Reader(nn.Module):
    """Pool the words of documents in one of the ways of `KINDS` and `BETWEEN`.

    A kind in `BETWEEN` has two levels and at most one softmax: over the words of each sentence,
    over the sentences, or none but a layer between the two means.

    Shapes: ids (b, s, w), mask (b, s, w) -> `Reading`. In a flat kind, which pools all words at
    once, the weight of a sentence is that of its words together. Dropout acts on the
    word vectors; on the pooled vector it would act on the only one that a document has left.
    """

    def __init__(self, kind: str, words: int, d: int, dropout: float = 0.0):
        super().__init__()
        self.kind = kind
        self.embedding = nn.Embedding(words, d)
        nn.init.normal_(self.embedding.weight, std=0.1)
        ask = partial(LearnedQuery, d)
        levels = {
            "mean of means": (MeanPooling, MeanPooling),
            "hierarchy": (ask, ask),
            "attention to words": (ask, MeanPooling),
            "attention to sentences": (MeanPooling, ask),
            "layer between means": (partial(BentMean, d), MeanPooling),
        }
        if kind in levels:
            self.pool = HierarchicalAttention(*(make() for make in levels[kind]))
        else:
            self.pool = ask() if kind == "flat attention" else MeanPooling()
        self.out, self.dropout = nn.Linear(d, 1), nn.Dropout(dropout)

    def forward(self, ids: Tensor, mask: Tensor, x: Tensor | None = None) -> Reading:
        if self.kind == "first word":
            ids, mask = ids[:, :1, :1], mask[:, :1, :1]
        x = self.dropout(self.embedding(ids) if x is None else x)  # (b, s, w, d)
        if isinstance(self.pool, HierarchicalAttention):
            output, words, sentences, _ = self.pool(x, mask)
        else:
            output, words = self.pool(x.flatten(1, 2), mask.flatten(1))
            words = words.unflatten(1, mask.shape[1:])
            sentences = words.sum(-1)
        return Reading(self.out(output).squeeze(-1), words, sentences)


def batches(sizes: Sequence[int], size: int, epochs: int, seed: int) -> list[list[int]]:
    """Which documents are read at each step; those of a batch have about as many sentences."""
    random, steps = torch.Generator().manual_seed(seed), []
    for _ in range(epochs):
        order = torch.randperm(len(sizes), generator=random).tolist()
        pools = (order[i : i + POOL * size] for i in range(0, len(order), POOL * size))
        together = [sorted(pool, key=lambda i: sizes[i]) for pool in pools]
        epoch = [pool[i : i + size] for pool in together for i in range(0, len(pool), size)]
        steps += [epoch[i] for i in torch.randperm(len(epoch), generator=random).tolist()]
    return steps


def thinned(documents: Sequence[Document], drop: float) -> tuple[Tensor, Tensor]:
    """Ids and mask (b, s, w) of documents of which a share `drop` of the words is left out."""
    lengths = torch.tensor([len(sentence) for document in documents for sentence in document])
    flat = torch.tensor([n for document in documents for sentence in document for n in sentence])
    place = torch.repeat_interleave(torch.arange(len(lengths)), lengths)  # of each word
    kept = torch.rand(len(flat)) >= drop
    left = place[kept].bincount(minlength=len(lengths)).split([len(d) for d in documents])
    left = nn.utils.rnn.pad_sequence(left, batch_first=True)  # (b, s)
    mask = torch.arange(int(left.max())) < left.unsqueeze(-1)  # (b, s, w)
    ids = torch.zeros(mask.shape, dtype=torch.long)
    ids[mask] = flat[kept]
    return ids, mask


def train(
    model: Reader,
    documents: Sequence[Document],
    labels: Tensor,
    *,
    epochs: int,
    size: int,
    rate: float,
    seed: int,
    drop: float = 0.0,
    steps: int | None = None,
) -> list[float]:
    """Train a reader in place, each time without a share `drop` of the words; the losses.

    Afterwards it is in evaluation mode.
    """
    plan = batches([len(document) for document in documents], size, epochs, seed)[:steps]

    def loss(step: int) -> Tensor:
        chosen = plan[step]
        logits = model(*thinned([documents[i] for i in chosen], drop)).logits
        return F.binary_cross_entropy_with_logits(logits, labels[chosen])

    losses = learn(model, loss, steps=len(plan), rate=rate, warmup=0.1, clip=1.0, fused=True)
    model.eval()
    return losses


@torch.no_grad()
def answers(model: Reader, documents: Sequence[Document], size: int = 50) -> Tensor:
    """Logits (n,) of documents; sorted by size meanwhile, so that little is padded."""
    model.eval()
    order = sorted(range(len(documents)), key=lambda i: len(documents[i]))
    found = torch.zeros(len(documents))
    for i in range(0, len(order), size):
        part = order[i : i + size]
        found[part] = model(*pad_documents([documents[j] for j in part])).logits
    return found


def erasure(model: Reader, document: Document) -> Tensor:
    """How far the logit moves when each sentence is masked: (s,)."""
    with torch.no_grad():
        ids, mask = pad_documents([document])
        s = mask.shape[1]
        left = mask & ~torch.eye(s, dtype=torch.bool).unsqueeze(-1)  # (s, s, w)
        whole = model(ids, mask).logits
        return (model(ids.expand(s, -1, -1), left).logits - whole).abs()


def gradient(model: Reader, document: Document) -> Tensor:
    """|gradient x input|, summed over the words of each sentence: (s,)."""
    ids, mask = pad_documents([document])
    x = model.embedding(ids).detach().requires_grad_()
    (slope,) = torch.autograd.grad(model(ids, mask, x).logits.sum(), x)
    return (slope * x).sum((-1, -2)).abs()[0].detach()


def attended(model: Reader, document: Document) -> Tensor:
    """The weight of each sentence: (s,)."""
    with torch.no_grad():
        return model(*pad_documents([document])).sentences[0]


MEASURES = {"attention": attended, "erasure": erasure, "gradient x input": gradient}


def agreement(one, other) -> float:
    """Spearman's rank correlation of two rows of numbers; 0 where one of them is constant."""
    a, b = (rankdata(np.asarray(row)) for row in (one, other))
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a**2).sum() * (b**2).sum())
    return float((a * b).sum() / scale) if scale > 0 else 0.0
