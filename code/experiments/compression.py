"""One vector for a block of keys: the mean, or a learned summary.

A query looks for one of 128 keys, and one of the eight blocks may be kept for it. Each block of
16 keys becomes one vector, with which the query is compared. Two keys of a block carry a mark, a
step in a direction that is the same in all examples. In the task "any" the key that is looked for
is drawn from all keys, in the task "marked" from those with the mark.

Every summary is told the right block (cross-entropy), so it has the best of teachers, on the same
examples for as many steps. The rate of each is the best on validation examples of seed 0 (`tried`).
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.cheap import BlockPool, block_means
from attnbook.metrics import bootstrap_sums

from .ladder import ladder
from .loop import learn

SEEDS = range(6)
KEYS, BLOCK, KEEP, D = 128, 16, 1, 32
MARKED, MARK, NOISE = 2, 6.0, 0.3  # of each block; the length of the step; of the query
STEPS, BATCH = 600, 32
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
TASKS = ("any", "marked")
KINDS = {"mean": 1e-2, "weighed": 1e-2, "network": 3e-3}  # with their rates


def draw(b: int, task: str, random: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (b, 1, d), keys (b, k, d), and the place of the key that is looked for (b)."""
    keys = torch.randn(b, KEYS, D, generator=random)
    ranks = torch.rand(b, KEYS // BLOCK, BLOCK, generator=random).argsort(dim=-1)
    marked = (ranks < MARKED).flatten(1)  # (b, k), which ones: drawn anew in each block
    among = torch.ones(b, KEYS) if task == "any" else marked.float()
    place = torch.multinomial(among, 1, generator=random)[:, 0]
    wanted = keys[torch.arange(b), place]  # without the mark: it does not say which block
    queries = wanted + NOISE * torch.randn(b, D, generator=random)
    step = torch.full((D,), MARK / math.sqrt(D))
    return queries[:, None], keys + marked[..., None] * step, place


class Summary(nn.Module):
    """One vector for each block: (b, k, d) -> (b, blocks, d).

    Args:
        kind: "mean"; "weighed", a mean with learned weights (`BlockPool`); "network", two layers
            on all keys of the block side by side.
    """

    def __init__(self, kind: str):
        super().__init__()
        self.pool = BlockPool(D, BLOCK) if kind == "weighed" else None
        if kind == "network":
            self.W = nn.Sequential(nn.Linear(BLOCK * D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        else:
            self.W = nn.Linear(D, D, bias=False)

    def forward(self, keys: Tensor) -> Tensor:
        if isinstance(self.W, nn.Sequential):
            return self.W(keys.unflatten(-2, (-1, BLOCK)).flatten(-2))
        return self.W(self.pool(keys, keys)[0] if self.pool else block_means(keys, BLOCK))


class Finder(nn.Module):
    """Scores of the blocks (b, 1, blocks): the query, mapped, times each summary."""

    def __init__(self, kind: str):
        super().__init__()
        self.W_q = nn.Linear(D, D, bias=False)
        self.summary = Summary(kind)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.W_q(queries) @ self.summary(keys).mT


def train(kind: str, task: str, seed: int, steps: int = STEPS, rate: float | None = None):
    """A model trained from `seed`, and its loss after each step."""
    torch.manual_seed(seed)
    model, random = Finder(kind), torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        queries, keys, place = draw(BATCH, task, random)
        return F.cross_entropy(model(queries, keys)[:, 0], place // BLOCK)

    return model, learn(model, loss, steps=steps, rate=rate or KINDS[kind], fused=True)


@torch.no_grad()
def judge(model: Finder, task: str, *, examples: int = 4000, seed: int = 10**6) -> Tensor:
    """In which of the new examples, the same for all models, the block is among those kept."""
    random, hits = torch.Generator().manual_seed(seed), []
    for _ in range(examples // 500):
        queries, keys, place = draw(500, task, random)
        best = model(queries, keys)[:, 0].topk(KEEP).indices
        hits.append((best == place[:, None] // BLOCK).any(-1))
    return torch.cat(hits).double()


def tried() -> list[dict]:
    """The validation recall of each summary at some of the rates, seed 0."""

    def trial(kind: str, task: str, rate: float) -> dict:
        model, _ = train(kind, task, 0, rate=rate)
        recall = judge(model, task, seed=10**5).mean().item()
        return {"kind": kind, "task": task, "rate": rate, "recall": recall}

    climb = partial(ladder, rates=RATES[1:], key="recall", among=RATES, best=max)
    return [row for way in product(KINDS, TASKS) for row in climb(partial(trial, *way))]


def trace() -> dict[str, list[float]]:
    """A brief training of each summary on each task."""
    return {f"{k}, {t}": train(k, t, 0, steps=4)[1] for k in KINDS for t in TASKS}


def run(seed: int) -> list[dict]:
    """One seed of every summary on every task, and how far it is ahead of the mean (95 %)."""
    rows = []
    for task in TASKS:
        hits = {kind: judge(train(kind, task, seed)[0], task) for kind in KINDS}
        for kind, found in hits.items():
            more = torch.stack((found - hits["mean"], torch.ones_like(found)), dim=1)
            row = {"seed": seed, "kind": kind, "task": task, "recall": found.mean().item()}
            rows.append(row | {"ahead": list(bootstrap_sums(more, samples=400))})
    return rows
