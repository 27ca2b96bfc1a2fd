"""The Transformer on the grammar corpus: by length, on unseen templates, each head against gold.

The same pairs, the same readings and the same test sets as `translation`. One plan, "more", goes
on with the same grammar: it learns from `FURTHER` sentences besides, is larger, and is the one
that is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn

from attnbook.data import Splits
from attnbook.data.grammar import random_parts

from . import translation, translators
from .transformers import Plan
from .translators import Study

SEEDS = range(3)
JUDGED = translation.JUDGED
FURTHER = 300_000  # sentences that the plan "more" draws besides, a few of them twice
_SMALL = {"d_model": 96, "d_ff": 384, "epochs": 7, "learning_rate": 3e-3}
PLANS = {
    "random": Plan(**_SMALL),
    "templates": Plan(split="templates", **_SMALL),
    "more": Plan(epochs=5, dropout=0.0, keep="transformer_translation"),  # of seed 0 alone
}
corpus, load = translation.corpus, translation.load
STUDY = Study({name: PLANS[name] for name in ("random", "more")}, lambda plan: load(plan.split))
trace, reread = STUDY.trace, STUDY.reread
stored = partial(STUDY.stored, "more")  # with given weights


def further(splits: Splits, size: int = FURTHER) -> Splits:
    """The splits with more to learn from: the grammar's own sentences, none of them held out."""
    from grammar import derivations  # from the folder `code`: it is not in the wheel

    held_out = {pair.source for part in splits[1:] for pair in part}
    parts = random_parts([made.pair for made in derivations(1, size)])
    drawn = (*splits.train, *(pair for part in parts for pair in part))
    distinct = {pair.source: pair for pair in drawn if pair.source not in held_out}
    return splits._replace(train=list(distinct.values()))


def one(name: str, seed: int, keep: Callable[[str, nn.Module], None]) -> dict:
    """One seed of one plan."""
    plan = PLANS[name]
    of = load(plan.split)
    learnt = of._replace(splits=further(of.splits)) if name == "more" else of
    model, _, losses = translators.train_and_keep(plan, learnt, seed, keep)
    row = {"seed": seed, "plan": name, "pairs": len(learnt.splits.train), **losses}
    return row | translators.judge(model, of, JUDGED)


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every plan, the long one with the first seed only."""
    return [one(name, seed, keep) for name in PLANS if name != "more" or seed == SEEDS[0]]
