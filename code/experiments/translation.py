"""Translation of the grammar corpus, with and without attention: by length, by split, against gold.

`make train` trains three seeds of each plan; chapter 4 reads them.
"""

from __future__ import annotations

import functools

from attnbook.data import grammar_corpus
from attnbook.training import History

from . import translators
from .translators import Corpus, Plan, Study

SEEDS = range(3)
JUDGED = 2_000  # test pairs

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
KEPT = {name: plan for name, plan in PLANS.items() if plan.keep}


def losses(history: History) -> dict[str, float]:
    """The last losses, and the least of those on validation pairs."""
    return translators.last(history) | {"least held-out loss": history.best["validation"]}


@functools.cache
def load(split: str) -> Corpus:
    """The grammar corpus under one of its splits."""
    return translators.corpus_of(grammar_corpus(split))


def corpus() -> str:
    """Hash of every pair, link and class of every split that a plan learns from."""
    splits = sorted({plan.split for plan in PLANS.values()})
    parts = (part for split in splits for part in load(split).splits)
    return translators.digest((pair for part in parts for pair in part), classes=True)


judge = functools.partial(translators.judge, most=JUDGED)
STUDY = Study(PLANS, load, judge=judge, losses=losses, traced=KEPT)
run, stored, trace, reread = STUDY.run, STUDY.stored, STUDY.trace, STUDY.reread
