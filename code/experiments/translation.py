"""Translation of the grammar corpus, with and without attention: by length, by split, against gold.

Chapter 4 trains one seed of the brief plans; `make train` trains the longer ones, three seeds each.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnbook.data import Vocabulary, grammar_corpus
from attnbook.metrics import bleu, exact_match

from . import translators
from .stored import load_weights
from .translators import Corpus, Plan, against_gold, by_length, read, train

SEEDS = range(3)
JUDGED = 2_000


PLANS = {
    "none": Plan(None, keep="translation_none"),
    "none, larger and longer": Plan(None, epochs=12, learning_rate=4e-3, hidden_size=192),
    "before, additive": Plan("before", "additive", keep="translation_before"),
    "before, dot": Plan("before", "dot"),
    "after, additive": Plan("after", "additive"),
    "after, dot": Plan("after", "dot", keep="translation_after"),
    "combinations: after, dot": Plan("after", "dot", "combinations"),
    "templates: none": Plan(None, split="templates"),
    "templates: after, dot": Plan("after", "dot", "templates"),
}
_BRIEF = {"epochs": 1, "learning_rate": 1e-2, "batch_size": 32, "size": 12_000}
BRIEF = {  # what a notebook has the time for
    "none": Plan(None, **_BRIEF),
    "before": Plan("before", "additive", **_BRIEF),
    "after": Plan("after", "dot", **_BRIEF),
}


@functools.cache
def load(split: str) -> Corpus:
    """The grammar corpus under one of its splits."""
    splits = grammar_corpus(split)
    sources, targets = ([pair[side] for pair in splits.train] for side in (0, 1))
    return Corpus(splits, Vocabulary(sources), Vocabulary(targets))


def corpus() -> str:
    """Hash of every pair, link and class of every split that a plan learns from."""
    digest = hashlib.sha256()
    for split in sorted({plan.split for plan in PLANS.values()}):
        for part in load(split).splits:
            for pair in part:
                links = sorted(pair.sure), sorted(pair.possible)
                digest.update(repr((pair.source, pair.target, *links, pair.classes)).encode())
    return digest.hexdigest()


def judge(model: nn.Module, of: Corpus) -> dict:
    """Everything that the table holds of one trained model, on (2,000 pairs of) the test set."""
    pairs = of.splits.test[:JUDGED]
    reading = read(model, pairs, of)
    everything = {"written": reading.written, "targets": [pair.target for pair in pairs]}
    row = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "accuracy": torch.cat(reading.correct).float().mean().item(),
        "bleu": bleu(*everything.values()),
        "exact": exact_match(*everything.values()),
        "lengths": by_length(reading, pairs),
    }
    if reading.weights[0] is not None:
        row["alignment"] = against_gold(reading.weights, pairs)
    return row


def stored(name: str, weights: dict[str, Tensor]) -> tuple[nn.Module, Corpus]:
    """The model of a plan with given weights, in evaluation mode, and its corpus."""
    return translators.stored(PLANS[name], load(PLANS[name].split), weights)


def trace() -> dict[str, list[float]]:
    """A brief training of each plan whose weights are kept."""
    kept = {name: plan for name, plan in PLANS.items() if plan.keep}
    return {name: translators.trace(plan, load(plan.split)) for name, plan in kept.items()}


def reread() -> dict[str, dict[str, float]]:
    """What the stored weights of each plan do."""
    kept = {name: plan.keep for name, plan in PLANS.items() if plan.keep}
    return {
        keep: translators.reread(*stored(name, load_weights(keep))) for name, keep in kept.items()
    }


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every plan."""
    rows = []
    for name, plan in PLANS.items():
        of = load(plan.split)
        model, history = train(plan, of, seed)
        if plan.keep and seed == SEEDS[0]:
            keep(plan.keep, model)
        last = history.epochs[-1]
        losses = {
            "loss": last["loss"],
            "held-out loss": last["validation"],
            "least held-out loss": history.best["validation"],
        }
        rows.append({"seed": seed, "plan": name, **losses, **judge(model, of)})
    return rows
