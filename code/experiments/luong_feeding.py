"""Luong's global decoder with input feeding; pairs, passes, rate and judging are those of `luong`.

`make train` trains three seeds; chapter 9 reads them beside the seeds of `luong` without feeding.
"""

from __future__ import annotations

import time

from . import luong, translators

SEEDS = luong.SEEDS
PLAN = luong.PLANS["global"]._replace(feed=True, keep="")
corpus, load = luong.corpus, luong.load


def trace() -> dict[str, list[float]]:
    """A brief training."""
    return {"global, fed": translators.trace(PLAN, load())}


def run(seed: int) -> dict:
    """One seed."""
    start = time.process_time()
    model, history = translators.train(PLAN, load(), seed)
    seconds = time.process_time() - start
    last = history.epochs[-1]
    losses = {"loss": last["loss"], "held-out loss": last["validation"]}
    row = {"seed": seed, "plan": "global, fed", "seconds": seconds, **losses}
    return {**row, **luong.judge(model, load())}
