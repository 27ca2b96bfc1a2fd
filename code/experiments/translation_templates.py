"""The two translators of `translation_plateau` with some templates held out.

All else as there: passes, batches, dropout and the rates, which were chosen on the random split.
The validation pairs of this split are of known templates, the test pairs of new ones; each model
is judged on both.
"""

from __future__ import annotations

from torch import nn

from . import translation_plateau, translators
from .translators import Study

SEEDS = translation_plateau.SEEDS
JUDGED = translation_plateau.JUDGED  # of known templates, and as many of new ones
PLANS = {name: plan._replace(split="templates") for name, plan in translation_plateau.PLANS.items()}
corpus, load = translation_plateau.corpus, translation_plateau.load


def judge(model: nn.Module, of: translators.Corpus) -> dict:
    """What a table holds of one model on known templates, and on new ones."""
    known = of._replace(splits=of.splits._replace(test=of.splits.validation))
    return {
        "pairs": len(of.splits.train),
        "known": translators.judge(model, known, JUDGED),
        "new": translators.judge(model, of, JUDGED),
    }


STUDY = Study(PLANS, load, judge=judge, losses=translators.curves)
run, trace = STUDY.run, STUDY.trace
