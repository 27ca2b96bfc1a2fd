"""The two translators of `translation_plateau` with some templates held out.

All else as there: passes, batches, dropout and the rates, which were chosen on the random split.
The validation pairs of this split are of known templates, the test pairs of new ones; each model
is judged on both.
"""

from __future__ import annotations

from torch import nn

from . import translation_plateau, translators

SEEDS = translation_plateau.SEEDS
JUDGED = translation_plateau.JUDGED  # of known templates, and as many of new ones
PLANS = {name: plan._replace(split="templates") for name, plan in translation_plateau.PLANS.items()}
corpus, load = translation_plateau.corpus, translation_plateau.load
trace = translators.Study(PLANS, lambda plan: load(plan.split)).trace


def judge(model: nn.Module, of: translators.Corpus) -> dict[str, dict]:
    """What a table holds of one model on known templates, and on new ones."""
    known = of._replace(splits=of.splits._replace(test=of.splits.validation))
    return {
        name: translators.judge(model, pairs, JUDGED)
        for name, pairs in (("known", known), ("new", of))
    }


def one(name: str, seed: int) -> dict:
    """One seed of one plan."""
    model, of, curves = translation_plateau.taught(PLANS[name], seed)
    pairs = len(of.splits.train)
    return {"seed": seed, "plan": name, "pairs": pairs, **curves, **judge(model, of)}


def run(seed: int) -> list[dict]:
    """One seed of every plan."""
    return [one(name, seed) for name in PLANS]
