"""Two results of chapters 6 and 7 once more, in a setting that a reader might have chosen.

`repeat` of `position_lengths`, with torch's initial values for every matrix in place of Xavier's.
Pre-norm of `norm_warmup`, four times as wide, at its two largest rates.
"""

from __future__ import annotations

from torch import nn

from . import norm_warmup, position_lengths

SEEDS = range(3)
KINDS = ("sinusoidal", "rotary")
WIDE = {"d_model": 128, "d_ff": 512}
RATES = norm_warmup.RATES[-2:]
WARMUPS = (0.1, 0.0)


def usual(kind: str, seed: int) -> nn.Module:
    """An untrained model of `position_lengths` whose linear layers begin as torch's do."""
    model = position_lengths.build(kind, seed)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.reset_parameters()
    return model


def repeat(kind: str, seed: int) -> dict:
    """Perplexity of a trained model at every length."""
    model = usual(kind, seed)
    position_lengths.train(model, "repeat", seed)
    loss = position_lengths.by_place(model, "repeat")
    found = {str(n): position_lengths.perplexity(loss, n) for n in position_lengths.LENGTHS}
    return {"seed": seed, "result": "repeat", "positions": kind} | found


def pre_norm(warmup: float, rate: float, seed: int) -> dict:
    """One training of the wide model."""
    return {"result": "pre-norm"} | norm_warmup.one("pre", warmup, rate, seed, **WIDE)


def trace() -> dict[str, list[float]]:
    """A brief training of each kind, and of the wide model."""
    found = {kind: position_lengths.train(usual(kind, 0), "repeat", 0, steps=20) for kind in KINDS}
    _, history = norm_warmup.train("pre", 0.1, RATES[0], 0, steps=20, **WIDE)
    return found | {"pre-norm": [step["loss"] for step in history.steps]}


def run(seed: int) -> list[dict]:
    """One seed of each."""
    rows = [repeat(kind, seed) for kind in KINDS]
    return rows + [pre_norm(warmup, rate, seed) for warmup in WARMUPS for rate in RATES]
