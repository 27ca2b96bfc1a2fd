"""An indexer that learns what attention would look at: from the task alone, or told by attention.

A query looks for one of 64 keys: the one that it is a turned and noisy copy of. Each key carries
one of 16 letters, and the answer is the letter of that key. The keys are new in every example, so
there is nothing to remember. Attention proper compares all 32 features; an indexer compares a few,
and keeps an eighth of the keys for it.

Every way of teaching the indexer has the same examples for as many steps. In the first half
attention looks at all keys; in the second it looks at those that the indexer keeps. The rate of
each way is the best on validation examples of seed 0 (`tried`). All models answer the same test
examples, so two of them are compared example by example.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.cheap import Indexer, keep_best
from attnbook.metrics import bootstrap_sums
from attnbook.normalize import masked_softmax, straight_through

from .ladder import ladder
from .loop import aside, learn

SEEDS = range(6)
KEYS, KEEP, D, LETTERS = 64, 8, 32, 16
NOISE = 0.3
FLOOR = 0.1
HEADS, SIZE = 4, 4
STEPS, BATCH = 1000, 64
TURN = torch.linalg.qr(torch.randn(D, D, generator=torch.Generator().manual_seed(0)))[0]
RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 6e-2, 1e-1)


class Example(NamedTuple):
    """A batch: queries (b, 1, d), keys (b, k, d), letters (b, k), place of the needle (b)."""

    queries: Tensor
    keys: Tensor
    letters: Tensor
    place: Tensor


def draw(b: int, random: torch.Generator, shift: float = 0.0) -> Example:
    """New examples; `shift` is added to each feature of the queries."""
    keys = torch.randn(b, KEYS, D, generator=random)
    place = torch.randint(KEYS, (b,), generator=random)
    wanted = keys[torch.arange(b), place] @ TURN
    queries = wanted + NOISE * torch.randn(b, D, generator=random) + shift
    letters = torch.randint(LETTERS, (b, KEYS), generator=random)
    return Example(queries[:, None], keys, letters, place)


class Way(NamedTuple):
    """How an indexer is taught, and how it is made.

    `teacher`: "none", it gets no gradient; "gates", the logarithm of its sigmoid is added
    to the scores of what is kept; "straight", the same, with the gradient of weights for all keys;
    "attention", it matches the weights that attention would give to all keys (KL); "kept", those
    of the kept keys, and there is no soft first half; "labels", it is told the right key.
    """

    teacher: str
    rate: float = 1e-2
    heads: int = HEADS
    size: int = SIZE
    activation: Callable[[Tensor], Tensor] = torch.relu
    bias: bool = True
    shift: float = 0.0  # of the queries


def same(x: Tensor) -> Tensor:
    """No activation."""
    return x


WAYS = {
    "none": Way("none"),
    "gates": Way("gates", 3e-3),
    "straight-through": Way("straight", 1e-3),
    "attention": Way("attention", 6e-2),
    "attention, kept only": Way("kept", 3e-2),
    "labels": Way("labels", 6e-2),
    "no bias": Way("attention", bias=False),
    "no bias, shifted": Way("attention", 3e-2, bias=False, shift=1.0),
    "one head": Way("attention", heads=1),
    "one head of 16": Way("attention", heads=1, size=HEADS * SIZE),  # as many multiplications
    "linear": Way("attention", 3e-2, activation=same),
}
PAIRS = (
    ("attention", "gates"),
    ("attention", "straight-through"),
    ("attention", "labels"),
    ("attention", "one head"),
    ("attention, kept only", "straight-through"),
    ("one head of 16", "attention"),
    ("one head", "linear"),
)


class Finder(nn.Module):
    """Attention over all features, and an indexer: their scores, both (b, 1, k)."""

    def __init__(self, way: Way):
        super().__init__()
        self.W_q = nn.Linear(D, D, bias=False)
        self.W_k = nn.Linear(D, D, bias=False)
        self.indexer = Indexer(
            D, D, heads=way.heads, size=way.size, activation=way.activation, bias=way.bias
        )

    def forward(self, hay: Example) -> tuple[Tensor, Tensor]:
        scores = self.W_q(hay.queries) @ self.W_k(hay.keys).mT / math.sqrt(D)
        return scores, self.indexer(hay.queries, hay.keys)


def weights(way: Way, scores: Tensor, index: Tensor, soft: bool) -> Tensor:
    """Attention's weights while the choice is still soft, or after it."""
    kept = None if soft else keep_best(index, KEEP)
    if way.teacher not in ("gates", "straight"):
        return masked_softmax(scores, kept)
    gated = scores + F.logsigmoid(index)
    if soft or way.teacher == "gates":
        return masked_softmax(gated, kept)
    return straight_through(masked_softmax(gated, kept), masked_softmax(gated))


def lesson(way: Way, scores: Tensor, index: Tensor, hay: Example, soft: bool) -> Tensor | float:
    """The loss that only the indexer learns from."""
    if way.teacher == "labels":
        return F.cross_entropy(index[:, 0], hay.place)
    if way.teacher not in ("attention", "kept"):
        return 0.0
    kept = keep_best(index, KEEP) if way.teacher == "kept" else None
    told = masked_softmax(scores.detach(), kept)
    if kept is not None:
        index = index.masked_fill(~kept, -1e9)
    return -(told * index.log_softmax(dim=-1)).sum(dim=-1).mean()  # KL, up to a constant


def answer_loss(weights: Tensor, hay: Example) -> Tensor:
    """Minus the log of what falls on the right letter, and a tenth shared among all letters.

    Without that tenth a needle that is left out would send nothing back, whoever teaches.
    """
    share = (weights @ F.one_hot(hay.letters, LETTERS).to(weights.dtype))[:, 0]  # (b, letters)
    right = hay.letters.gather(1, hay.place[:, None])
    return -((1 - FLOOR) * share.gather(1, right) + FLOOR / LETTERS).log().mean()


def train(way: Way, seed: int, steps: int = STEPS, rate: float | None = None):
    """A model trained from `seed`, and the loss of its answers after each step."""
    torch.manual_seed(seed)
    model, random = Finder(way), torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        hay = draw(BATCH, random, way.shift)
        soft = step < steps // 2 and way.teacher != "kept"
        scores, index = model(hay)
        answers = answer_loss(weights(way, scores, index, soft), hay)
        return answers + aside(lesson(way, scores, index, hay, soft))

    return model, learn(model, loss, steps=steps, rate=rate or way.rate, fused=True)


@torch.no_grad()
def judge(model: Finder, way: Way, *, examples: int = 2000, seed: int = 10**6) -> dict:
    """What a trained model does on new examples: needles kept and their share, right answers."""
    hay = draw(examples, torch.Generator().manual_seed(seed), way.shift)
    scores, index = model(hay)
    kept = keep_best(index, KEEP)
    right = hay.letters.gather(1, hay.place[:, None])
    hits = kept[torch.arange(examples), 0, hay.place].float()
    found = {"hits": hits, "recall": hits.mean().item()}
    for name, mask in (("right", kept), ("dense", None)):
        share = masked_softmax(scores, mask) @ F.one_hot(hay.letters, LETTERS).float()
        found[name] = (share[:, 0].argmax(-1, keepdim=True) == right).float().mean().item()
    return found


def tried() -> list[dict]:
    """The validation recall of each way at some of the rates, seed 0.

    What learns nothing has no best rate.
    """

    def trial(name: str, rate: float) -> dict:
        way = WAYS[name]
        recall = judge(train(way, 0, rate=rate)[0], way, seed=10**5)["recall"]
        return {"way": name, "rate": rate, "recall": recall}

    climb = partial(ladder, rates=RATES[2:5], key="recall", among=RATES, best=max)
    names = (name for name, way in WAYS.items() if way.teacher != "none")
    return [row for name in names for row in climb(partial(trial, name))]


def trace() -> dict[str, list[float]]:
    """A brief training of each way."""
    return {name: train(way, 0, steps=4)[1] for name, way in WAYS.items()}


def ahead(one: dict, other: dict) -> list[float]:
    """By how much the recall of one is ahead, with its interval of 95 % over the examples."""
    more = one["hits"] - other["hits"]
    return list(bootstrap_sums(torch.stack((more, torch.ones_like(more)), dim=1), samples=400))


def run(seed: int) -> list[dict]:
    """One seed of every way, and how far it is ahead of others."""
    found = {name: judge(train(way, seed)[0], way) for name, way in WAYS.items()}
    gaps = {
        name: {other: ahead(found[name], found[other]) for one, other in PAIRS if one == name}
        for name in found
    }
    return [
        {"seed": seed, "way": name, **{k: x for k, x in row.items() if k != "hits"}}
        | ({"ahead": gaps[name]} if gaps[name] else {})
        for name, row in found.items()
    ]
