"""Each change since 2017 by itself, and all together, against the model of 2017.

Every variant has as many parameters as the model of 2017, by the width of its feed-forward network,
as many steps on the same text, and the best of several learning rates, chosen on one half of the
held-out text by shorter trainings with a seed of its own, and judged on the other half.

Sources: as in `language_model`.
"""

from __future__ import annotations

from functools import cache, partial

from .language_model import OF_2017, TODAY, Size, ladder, row, text_hash, train

TRIAL = 100  # the seed that chooses rates
SEEDS = TRIAL, 0, 1, 2  # it comes first
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
TRIED = SMALL._replace(steps=300)  # to choose a rate


def trial(name: str, rate: float) -> dict:
    """A variant after a shorter training at one rate."""
    return row(name, VARIANTS[name], TRIED, rate, TRIAL)[0]


@cache
def trials() -> tuple[dict, ...]:
    """Every variant at every rate, with a seed of its own."""
    return tuple(r for name in VARIANTS for r in ladder(partial(trial, name), RATES))


def best_rate(name: str) -> float:
    """The rate with the lowest loss on the text to choose by."""
    return min((r for r in trials() if r["name"] == name), key=lambda r: r["validation"])["rate"]


def run(seed: int) -> list[dict]:
    """The trials, for their seed; for another one every variant."""
    if seed == TRIAL:
        return [{"trial": True, **r} for r in trials()]
    plans = [(name, parts, SMALL, best_rate(name)) for name, parts in VARIANTS.items()]
    return [{"trial": False, **row(*plan, seed)[0]} for plan in plans]


def trace() -> dict[str, list[float]]:
    """A brief training of each variant."""
    return {
        name: [step["loss"] for step in train(parts, SMALL, RATES[0], 0, steps=20)[1].steps]
        for name, parts in VARIANTS.items()
    }


def corpus() -> str:
    """The hash of the text."""
    return text_hash()
