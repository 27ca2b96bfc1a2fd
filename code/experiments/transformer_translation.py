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
from .translators import Corpus, Study

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


def further(splits: Splits, size: int = FURTHER) -> Splits:
    """The splits with more to learn from: the grammar's own sentences, none of them held out."""
    from grammar import derivations  # from the folder `code`: it is not in the wheel

    held_out = {pair.source for part in splits[1:] for pair in part}
    parts = random_parts([made.pair for made in derivations(1, size)])
    drawn = (*splits.train, *(pair for part in parts for pair in part))
    distinct = {pair.source: pair for pair in drawn if pair.source not in held_out}
    return splits._replace(train=list(distinct.values()))


def judge(model: nn.Module, of: Corpus) -> dict:
    """What the table holds of one trained model."""
    return {"pairs": len(of.splits.train), **translators.judge(model, of, JUDGED)}


STUDY = Study(PLANS, load, judge=judge, traced=("random", "more"))
trace, reread = STUDY.trace, STUDY.reread
stored = partial(STUDY.stored, "more")  # with given weights


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every plan, the long one with the first seed only."""
    rows = [STUDY.row(name, seed) for name in ("random", "templates")]
    if seed == SEEDS[0]:
        of = load("random")
        of = of._replace(splits=further(of.splits))
        rows.append(STUDY.row("more", seed, keep, of))
    return rows
