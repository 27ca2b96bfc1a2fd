"""Other weights with the same answer: how far from a trained hierarchy's own can they be?

The logit of the hierarchies of `planted` and `reviews` is linear in the weights of the sentences,
so the farthest counterfeit has a closed form (`attnbook.farthest_counterfeit`). Beside it: how many
answers turn when a trained model is given even weights, or its own in another order.

A seed is one of documents and training for planted documents, and a fold for reviews.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data import pad_documents
from attnbook.explanation import farthest_counterfeit

from . import planted, reviews
from .readers import Reader, answers

SEEDS = range(6)
FAR = 0.5  # total variation from which on a counterfeit is called far


class Parts(NamedTuple):
    """Of a document: the weights of its sentences, their votes (s,), and the logit."""

    weights: Tensor
    votes: Tensor
    logit: Tensor


@torch.no_grad()
def parts(model: Reader, document) -> Parts:
    """Take a hierarchy's answer apart: its logit is the sum of the weights times the votes."""
    ids, mask = pad_documents([document])
    vectors, _ = model.pool.words(model.embedding(ids), mask)
    _, weights = model.pool.sentences(vectors)
    weights, votes = weights[0], model.out(vectors)[0, :, 0]
    return Parts(weights, votes, weights @ votes)


def judge(model: Reader, documents, seed: int) -> dict[str, float]:
    """Means over the documents: distance of the farthest counterfeit, and answers that turn.

    "far": counterfeits of a distance above `FAR`. "same first": those whose largest weight stays
    on the sentence that has the model's. "largest": the model's largest weight.
    """
    generator = torch.Generator().manual_seed(seed)
    columns = {n: [] for n in ("distance", "far", "same first", "largest", "even", "shuffled")}
    for document in documents:
        weights, votes, logit = parts(model, document)
        other, distance = farthest_counterfeit(weights, votes)
        order = torch.randperm(len(weights), generator=generator)
        columns["distance"].append(distance.item())
        columns["far"].append(distance.item() > FAR)
        columns["same first"].append((other.argmax() == weights.argmax()).item())
        columns["largest"].append(weights.max().item())
        columns["even"].append(((votes.mean() > 0) != (logit > 0)).item())
        columns["shuffled"].append(((weights[order] @ votes > 0) != (logit > 0)).item())
    return {name: sum(values) / len(values) for name, values in columns.items()}


def run(seed: int) -> list[dict]:
    """One seed of the hierarchy on each task of planted documents, and one fold of the reviews."""
    rows = []
    for task in planted.TASKS:
        tests = planted.documents(planted.TEST, task, 10**4 + seed, test=True)
        model, _ = planted.trained("hierarchy", task, seed)
        encoded = [planted.encode(one.sentences) for one in tests]
        labels = torch.tensor([one.label for one in tests])
        row = {"seed": seed, "of": task, **judge(model, encoded, seed)}
        row["accuracy"] = ((answers(model, encoded) > 0) == labels).float().mean().item()
        row["flip evidence"] = planted.turns(model, tests, [one.evidence for one in tests])
        if task in ("decoy", "shortcut"):
            row["flip decoy"] = planted.turns(model, tests, [one.decoys[0] for one in tests])
        if task == "shortcut":
            row["flip genre"] = planted.turns(model, tests, [0] * len(tests))
        rows.append(row)
    inside, tests = reviews.split(seed, range(10))
    rate = reviews.RATE["hierarchy"][seed > 4]
    model, ids, _ = reviews.trained("hierarchy", inside, seed, rate)
    row = {"seed": seed, "of": "reviews", **judge(model, reviews.encode(tests, ids), seed)}
    row["accuracy"] = sum(reviews.right(model, ids, tests)) / len(tests)
    return [*rows, row]


def trace() -> dict[str, list[float]]:
    """The first steps of the trainings."""
    losses = {task: planted.trained("hierarchy", task, 0, steps=12)[1] for task in planted.TASKS}
    inside, _ = reviews.split(0, range(10))
    rate = reviews.RATE["hierarchy"][0]
    return losses | {"reviews": reviews.trained("hierarchy", inside, 0, rate, steps=12)[2]}


corpus = reviews.corpus
