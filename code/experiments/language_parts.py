"""Each change since 2017 by itself, and all together, against the model of 2017.

Every variant has as many parameters as the model of 2017, by the width of its feed-forward network,
as many steps on the same text, and the best of several learning rates, chosen on one half of the
held-out text by shorter trainings with a seed of its own, and judged on the other half. Two of them
are trained four times as long as well, at rates that were chosen by trainings four times as long.

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
PLANS = [(name, SMALL) for name in VARIANTS] + [(name, LONG) for name in ("2017", "rotary")]


def trial(name: str, size: Size, rate: float) -> dict:
    """A variant at one rate, after a quarter of the steps."""
    return row(name, VARIANTS[name], size._replace(steps=size.steps // 4), rate, TRIAL)[0]


@cache
def trials(name: str, size: Size) -> list[dict]:
    """A variant at every rate, with a seed of its own."""
    return ladder(partial(trial, name, size), RATES)


def trained(name: str, size: Size, seed: int) -> dict:
    """A variant at the rate with the lowest loss on the text to choose by."""
    rate = min(trials(name, size), key=lambda r: r["validation"])["rate"]
    found, model = row(name, VARIANTS[name], size, rate, seed)
    stretches = torch.cat(pieces(parts_of_text()[2])).chunk(POINTS)
    return found | {"test by part": [mean_loss(model, [part], loss=loss) for part in stretches]}


def run(seed: int) -> list[dict]:
    """The trials, for their seed; for another one every variant."""
    if seed == TRIAL:
        return [{"trial": True, **r} for plan in PLANS for r in trials(*plan)]
    return [{"trial": False, **trained(*plan, seed)} for plan in PLANS]


def trace() -> dict[str, list[float]]:
    """A brief training of each variant."""
    return {
        name: [step["loss"] for step in train(parts, SMALL, RATES[0], 0, steps=20)[1].steps]
        for name, parts in VARIANTS.items()
    }


def corpus() -> str:
    """The hash of the text."""
    return text_hash()
