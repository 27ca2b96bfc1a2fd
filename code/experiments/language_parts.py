"""Each change since 2017 by itself, and all together, against the model of 2017.

Every variant has as many parameters as the model of 2017, by the width of its feed-forward network,
as many steps on the same text, and the best of several learning rates, chosen on one half of the
held-out text by shorter trainings with a seed of its own, and judged on the other half. Those
that differed from it were trained with three more seeds, and two of them four times as long as
well, at the rate that was best in the short trials, and at the best of trials four times as long.

Sources: as in `language_model`.
"""

from __future__ import annotations

from functools import cache

import torch

from attnbook.training import mean_loss

from . import language_model
from .ladder import best_rate, ladder
from .language_model import OF_2017, TODAY, Size, loss, parts_of_text, pieces, row, train
from .loop import POINTS, losses

TRIAL = 100  # the seed that chooses rates
SEEDS = TRIAL, *range(6)  # it comes first
RATES = 4e-3, 8e-3, 1.6e-2  # and half or double, as long as the best is the first or the last
VARIANTS = {
    "2017": OF_2017,
    "RMSNorm": OF_2017._replace(norm="rms"),
    "SwiGLU": OF_2017._replace(network="swiglu"),
    "rotary": OF_2017._replace(positions="rotary"),
    "no biases": OF_2017._replace(bias=False),
    "grouped, 2 of 4": OF_2017._replace(kv_heads=2),
    "multi-query": OF_2017._replace(kv_heads=1),
    "not tied": OF_2017._replace(tied=False),
    "today": TODAY,
}
corpus = language_model.corpus
SMALL = Size(d=64, heads=4, layers=2, steps=1_200)
LONG = SMALL._replace(steps=4_800)
TRIED = 300, 1_200  # steps to choose a rate by, the latter for LONG alone
LONGER = "2017", "rotary"
AGAIN = "2017", "SwiGLU", "rotary", "not tied", "today"


@cache
def trials(name: str, steps: int) -> list[dict]:
    """A variant after shorter trainings at every rate, with a seed of its own."""
    size = SMALL._replace(steps=steps)
    return ladder(lambda rate: row(name, VARIANTS[name], size, rate, TRIAL)[0], RATES)


def trained(name: str, size: Size, rate: float, seed: int) -> dict:
    """A variant, and its loss on each of some stretches of the text to judge on."""
    found, model = row(name, VARIANTS[name], size, rate, seed)
    stretches = torch.cat(pieces(parts_of_text()[2])).chunk(POINTS)
    return found | {"test by part": [mean_loss(model, [part], loss=loss) for part in stretches]}


def run(seed: int) -> list[dict]:
    """The trials, for their seed; for the next three every variant, for the others some."""
    if seed == TRIAL:
        plans = [(name, TRIED[0]) for name in VARIANTS] + [(name, TRIED[1]) for name in LONGER]
        return [{"trial": True, **r} for plan in plans for r in trials(*plan)]
    names = VARIANTS if seed < 3 else AGAIN
    plans = [(name, SMALL, best_rate(trials(name, TRIED[0]))) for name in names]
    for name in LONGER if seed < 3 else ():
        best = {best_rate(trials(name, steps)) for steps in TRIED}
        plans += [(name, LONG, rate) for rate in sorted(best)]
    return [{"trial": False, **trained(*plan, seed)} for plan in plans]


def trace() -> dict[str, list[float]]:
    """A brief training of each variant."""
    return {n: losses(train(p, SMALL, RATES[0], 0, steps=20)[1]) for n, p in VARIANTS.items()}
