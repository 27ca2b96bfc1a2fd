"""One reader for four questions, or a reader for each: with how many labelled reports?

Each report has the label of one question, a quarter of them each. One reader shares its words and
its way of reading among the questions. Its rivals are four readers that see a quarter of the
labels each, of three eighths of its width, so that together they have 2% fewer parameters, or of
its full width, four times as many. All have the same number of steps and see as many labels in all.
"""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor

from attnbook.data.reports import QUESTIONS

from .loop import learn, parameters
from .task_spans import BATCH, DROPPED, STEPS, D, Reader, corpora, exact, pointer_loss

SEEDS = range(6)
KINDS = {"shared": (1, D), "alone, equal in sum": (4, 3 * D // 8), "alone, equal each": (4, D)}
LABELS = (100, 300, 1000)
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
RATE = {  # the best on validation reports, for each number of labels
    "shared": (1e-2, 3e-2, 3e-3),
    "alone, equal in sum": (3e-3, 1e-2, 1e-2),
    "alone, equal each": (3e-3, 3e-3, 1e-2),
}


def train(kind: str, labels: int, seed: int, *, rate: float, steps: int = STEPS):
    """The readers of a kind, trained from `seed`, with their corpora; and all losses in a row."""
    sets, (many, d) = corpora(seed, labels), KINDS[kind]
    vocabulary, x = sets[:2]
    asked = torch.arange(labels) % len(QUESTIONS)
    models, losses = [], []
    torch.manual_seed(seed)
    for question in range(many):
        rows = torch.arange(labels) if many == 1 else (asked == question).nonzero()[:, 0]
        model, random = Reader("query", len(vocabulary), d=d), torch.Generator().manual_seed(seed)

        def loss(step: int, model=model, rows=rows, random=random) -> Tensor:
            some = rows[torch.randint(0, len(rows), (BATCH // many,), generator=random)]
            return pointer_loss(model, x, some, asked[some], dropped=DROPPED, random=random)

        losses += learn(model, loss, steps=steps, rate=rate)
        models.append(model)
    return models * (len(QUESTIONS) // many), sets, losses


def right(models: list[Reader], x) -> list[float]:
    """The share of right answers to each question, by its reader."""
    return [exact(model, x)[question] for question, model in enumerate(models)]


def tried() -> list[dict]:
    """The share of right validation answers of each kind at each rate, seed 0."""
    rows = []
    for kind, labels, rate in product(KINDS, LABELS, RATES):
        models, (_, _, validation, *_), _ = train(kind, labels, 0, rate=rate)
        share = sum(right(models, validation)) / len(QUESTIONS)
        rows.append({"kind": kind, "labels": labels, "rate": rate, "right": share})
    return rows


def trace() -> dict[str, list[float]]:
    """A brief training of each kind."""
    return {kind: train(kind, 100, 0, rate=1e-2, steps=6)[2] for kind in KINDS}


def run(seed: int) -> list[dict]:
    """One seed of every kind and number of labels, on reports with known words."""
    rows = []
    for kind, labels in product(KINDS, LABELS):
        models, (*_, test, _), _ = train(kind, labels, seed, rate=RATE[kind][LABELS.index(labels)])
        row = {"seed": seed, "kind": kind, "labels": labels}
        row["parameters"] = sum(map(parameters, set(models)))
        rows.append(row | dict(zip(QUESTIONS, right(models, test), strict=True)))
    return rows
