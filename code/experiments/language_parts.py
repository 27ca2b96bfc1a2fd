"""Each change since 2017 by itself, and all together, against the model of 2017.

Every variant has as many parameters as the model of 2017, by the width of its feed-forward network,
as many steps on the same text, and the best of several learning rates, chosen on one half of the
held-out text by shorter trainings with a seed of its own, and judged on the other half. Those
that differed from it were trained with three more seeds, and two of them four times as long as
well, at the rate that was best in the short trials, and at the best of trials four times as long.

Sources: as in `language_model`.
"""

from __future__ import annotations

from functools import cache, partial

import torch

from attnbook.training import mean_loss

from .language_model import (
    OF_2017,
    POINTS,
    TODAY,
    Size,
    ladder,
    loss,
    parts_of_text,
    pieces,
    row,
    text_hash,
    train,
)

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
SMALL = Size(d=64, heads=4, layers=2, steps=1_200)
LONG = SMALL._replace(steps=4_800)
TRIED = 300, 1_200  # steps to choose a rate by, the latter for LONG alone
LONGER = "2017", "rotary"
AGAIN = "2017", "SwiGLU", "rotary", "not tied", "today"


def trial(name: str, steps: int, rate: float) -> dict:
    """A variant after a shorter training at one rate."""
    return row(name, VARIANTS[name], SMALL._replace(steps=steps), rate, TRIAL)[0]


@cache
def trials(name: str, steps: int) -> list[dict]:
    """A variant at every rate, with a seed of its own."""
    return ladder(partial(trial, name, steps), RATES)


def best_rate(name: str, steps: int) -> float:
    """The rate with the lowest loss on the text to choose by."""
    return min(trials(name, steps), key=lambda r: r["validation"])["rate"]


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
    plans = [(n, SMALL, best_rate(n, TRIED[0])) for n in (VARIANTS if seed < 3 else AGAIN)]
    if seed < 3:
        plans += [(n, LONG, r) for n in LONGER for r in sorted({best_rate(n, t) for t in TRIED})]
    return [{"trial": False, **trained(*plan, seed)} for plan in plans]


def trace() -> dict[str, list[float]]:
    """A brief training of each variant."""
    return {
        name: [step["loss"] for step in train(parts, SMALL, RATES[0], 0, steps=20)[1].steps]
        for name, parts in VARIANTS.items()
    }


def corpus() -> str:
    """The hash of the text."""
    return text_hash()
