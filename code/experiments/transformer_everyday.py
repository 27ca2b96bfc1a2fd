"""The Transformer on everyday sentences (Tatoeba): the pairs that chapter 4's models learn from."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from functools import partial

from torch import nn

from attnbook.data import tokenize
from attnbook.data.fra_eng import _lines

from . import everyday
from .transformers import Plan

SEEDS = range(3)
PLAN = Plan(
    d_model=96, d_ff=384, learning_rate=4e-3, keep="transformer_everyday", **everyday.RECIPE
)
corpus, load = everyday.corpus, everyday.load
STUDY = everyday.study({PLAN.keep: PLAN})
trace, reread = STUDY.trace, STUDY.reread
stored = partial(STUDY.stored, PLAN.keep)  # with given weights
tried = partial(
    everyday.study({"Transformer": PLAN}).tried, everyday.RATES, everyday.TRIED, "learning rate"
)


def names() -> list[str]:
    """The French words that mostly have a capital where no sentence begins, in lower case."""
    counts = Counter()
    for _, french in _lines():
        words = tokenize(french, "fr", lower=False)
        for before, word in itertools.pairwise(words):
            if before[-1].isalnum() or before in ("d'", "l'", "qu'"):
                counts[word.lower(), word.istitle()] += 1
    known = set(load().target_vocab.tokens)
    return sorted(
        word
        for (word, large), n in counts.items()
        if large and n > 3 + 3 * counts[word, False] and word in known and word.isalpha()
    )


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> dict:
    """One seed."""
    row = STUDY.row(PLAN.keep, seed, keep)
    del row["plan"]  # there is one
    return row
