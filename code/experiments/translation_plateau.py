"""Chapter 4's recurrent translator and chapter 7's Transformer, both trained to a plateau.

The same 20,000 pairs, passes, batches and dropout for both; the rate of each is the best of `RATES`
after two passes, on validation pairs. Each row holds both losses after every pass: the curves that
show whether the plateau was reached.
"""

from __future__ import annotations

from functools import partial

from . import transformers, translation, translators
from .translators import Study

SEEDS = range(3)
JUDGED = 1_000  # test pairs
RATES = (2e-3, 4e-3, 8e-3, 16e-3)
TRIAL = 2  # passes
SHARED = {"epochs": 20, "dropout": 0.1, "batch_size": 64}
RECURRENT = translators.Plan("after", "additive", learning_rate=8e-3, **SHARED)
TRANSFORMER = transformers.Plan(d_model=96, d_ff=384, learning_rate=4e-3, **SHARED)
PLANS = {"recurrent": RECURRENT, "Transformer": TRANSFORMER}
corpus, load = translation.corpus, translation.load
judge = partial(translators.judge, most=JUDGED)
STUDY = Study(PLANS, load, judge=judge, losses=translators.curves)
run, trace = STUDY.run, STUDY.trace
tried = partial(STUDY.tried, RATES, TRIAL)
