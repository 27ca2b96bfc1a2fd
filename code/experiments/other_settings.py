"""Three results of chapters 6 and 7 once more, in a setting that a reader might have chosen.

`repeat` of `position_lengths`, with torch's initial values for every matrix in place of Xavier's.
Its model without positions on `markov`, trained for five times as many steps. Pre-norm of
`norm_warmup`, four times as wide, at its two largest rates.
"""

from __future__ import annotations

from torch import nn

from . import norm_warmup, position_lengths

SEEDS = range(3)
KINDS = ("sinusoidal", "rotary")
LONGER = 5 * position_lengths.STEPS
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


def perplexities(model: nn.Module, language: str) -> dict[str, float]:
    """Of a trained model at every length."""
    loss = position_lengths.by_place(model, language)
    return {str(n): position_lengths.perplexity(loss, n) for n in position_lengths.LENGTHS}


def repeat(kind: str, seed: int) -> dict:
    """One training from torch's initial values."""
    model = usual(kind, seed)
    position_lengths.train(model, "repeat", seed)
    found = perplexities(model, "repeat")
    return {"seed": seed, "result": "repeat", "positions": kind} | found


def without_positions(seed: int) -> dict:
    """One long training without positions."""
    model = position_lengths.build("none", seed)
    position_lengths.train(model, "markov", seed, steps=LONGER)
    return {"seed": seed, "result": "longer", "steps": LONGER} | perplexities(model, "markov")


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
    rows = [*(repeat(kind, seed) for kind in KINDS), without_positions(seed)]
    return rows + [pre_norm(warmup, rate, seed) for warmup in WARMUPS for rate in RATES]
