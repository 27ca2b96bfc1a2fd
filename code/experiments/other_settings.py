"""Four results of chapters 6 and 7 once more, in a setting that a reader might have chosen.

`repeat` of `position_lengths`, with torch's initial values for every matrix in place of Xavier's.
Its models on `markov`, each kind at the best of three rates: chosen by the perplexity of a seed of
its own on other texts. Its model without positions there, for five times as many steps. Pre-norm
of `norm_warmup`, four times as wide, at its two largest rates.
"""

from __future__ import annotations

import torch
from torch import nn

from . import norm_warmup, position_lengths
from .loop import losses
from .position_lengths import trained

SEEDS = range(3)
KINDS = ("sinusoidal", "rotary")
LONGER = 5 * position_lengths.STEPS
TRIED = {  # at other rates
    "markov": ("sinusoidal", "rotary", "alibi"),
    "repeat": ("rotary", "alibi"),
    "back": ("alibi",),
}
PEAKS = position_lengths.RATE, 1e-2, 3e-2
BEST, TRIAL = 1e-2, 100  # of them in `markov`, for each kind; the seed that chooses
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
    return position_lengths.perplexities(position_lengths.by_place(model, language))


def repeat(kind: str, seed: int) -> dict:
    """One training from torch's initial values."""
    model = usual(kind, seed)
    position_lengths.train(model, "repeat", seed)
    found = perplexities(model, "repeat")
    return {"seed": seed, "result": "repeat", "positions": kind} | found


@torch.no_grad()
def trial(language: str, kind: str, rate: float) -> dict:
    """The perplexity by which a rate is chosen, at the trained length of texts of their own."""
    model, n = trained(kind, language, TRIAL, rate=rate), position_lengths.TRAINED
    x = position_lengths.LANGUAGES[language](256, n + 1, torch.Generator().manual_seed(4000))
    loss = position_lengths.losses(model, language, x).mean(dim=0)
    found = position_lengths.perplexity(loss, n)
    return {"language": language, "positions": kind, "rate": rate, "perplexity": found}


def tried() -> list[dict]:
    """Every rate of each kind."""
    ways = [(language, kind) for language, kinds in TRIED.items() for kind in kinds]
    return [trial(*way, rate) for way in ways for rate in PEAKS]


def at_best(kind: str, seed: int) -> dict:
    """One training on `markov` at the best rate."""
    found = perplexities(trained(kind, "markov", seed, rate=BEST), "markov")
    return {"seed": seed, "result": "best rate", "kind": kind, "rate": BEST} | found


def without_positions(seed: int) -> dict:
    """One long training without positions."""
    model = trained("none", "markov", seed, steps=LONGER)
    return {"seed": seed, "result": "longer", "steps": LONGER} | perplexities(model, "markov")


def pre_norm(warmup: float, rate: float, seed: int) -> dict:
    """One training of the wide model."""
    return {"result": "pre-norm"} | norm_warmup.one("pre", warmup, rate, seed, **WIDE)


def trace() -> dict[str, list[float]]:
    """A brief training of each kind, and of the wide model."""
    found = {kind: position_lengths.train(usual(kind, 0), "repeat", 0, steps=20) for kind in KINDS}
    _, history = norm_warmup.train("pre", 0.1, RATES[0], 0, steps=20, **WIDE)
    model = position_lengths.build("alibi", 0)
    found["best rate"] = position_lengths.train(model, "markov", 0, steps=20, rate=BEST)
    return found | {"pre-norm": losses(history)}


def run(seed: int) -> list[dict]:
    """One seed of each."""
    rows = [*(repeat(kind, seed) for kind in KINDS), without_positions(seed)]
    rows += [at_best(kind, seed) for kind in TRIED["markov"]]
    return rows + [pre_norm(warmup, rate, seed) for warmup in WARMUPS for rate in RATES]
