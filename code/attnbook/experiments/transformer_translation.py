"""The Transformer on the grammar corpus: by length, on unseen templates, each head against gold.

The same pairs, the same readings and the same test sets as `translation`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..metrics import bleu, exact_match
from . import transformers, translation
from .transformers import Plan, build, heads_against_gold, train
from .translators import Corpus, by_length, read

SEEDS = range(3)
SOURCES = (
    *transformers.SOURCES,
    "experiments/transformer_translation.py",
    "experiments/translation.py",
)
JUDGED = translation.JUDGED
_SIZE = {"d_model": 96, "d_ff": 384, "epochs": 7, "learning_rate": 3e-3}
PLANS = {
    "random": Plan(keep="transformer_translation", **_SIZE),
    "templates": Plan(split="templates", **_SIZE),
}
corpus, load = translation.corpus, translation.load


def judge(model: nn.Module, of: Corpus) -> dict:
    """Everything that the table holds of one trained model, on (2,000 pairs of) the test set."""
    pairs = of.splits.test[:JUDGED]
    reading = read(model, pairs, of)
    targets = [pair.target for pair in pairs]
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "accuracy": torch.cat(reading.correct).float().mean().item(),
        "bleu": bleu(reading.written, targets),
        "exact": exact_match(reading.written, targets),
        "lengths": by_length(reading, pairs),
        "heads": heads_against_gold(reading.weights, pairs),
    }


def stored(weights: dict[str, Tensor]) -> tuple[nn.Module, Corpus]:
    """The model of the random split with given weights, in evaluation mode, and its corpus."""
    of = load("random")
    model = build(PLANS["random"], of, 0)
    model.load_state_dict(weights)
    return model.eval(), of


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every plan."""
    rows = []
    for name, plan in PLANS.items():
        of = load(plan.split)
        model, history = train(plan, of, seed)
        if plan.keep and seed == SEEDS[0]:
            keep(plan.keep, model)
        last = history.epochs[-1]
        losses = {"loss": last["loss"], "held-out loss": last["validation"]}
        rows.append({"seed": seed, "plan": name, **losses, **judge(model, of)})
    return rows
