"""One, two, four and eight heads in a translator: equal parameters, data and steps.

The Transformer of chapter 7, one layer on each side, on the short sentences of the grammar corpus.
Seed 0 tries each number of heads at each learning rate; the other seeds take for each the rate with
the least held-out loss, which is in `CHOSEN`. The test pairs choose nothing.
"""

from __future__ import annotations

import functools

from attnbook.data import Splits, length_batches
from attnbook.metrics import exact_match
from attnbook.training import mean_loss

from . import translation, translators
from .transformers import Plan

SEEDS = range(3)
HEADS, RATES = (1, 2, 4, 8), (4e-3, 8e-3)
CHOSEN = {1: 8e-3, 2: 8e-3, 4: 8e-3, 8: 8e-3}  # by the held-out loss of seed 0
LONGEST = 10  # source tokens of a short sentence
D_MODEL, EPOCHS = 64, 12


def plan(heads: int, rate: float) -> Plan:
    """One number of heads at one learning rate."""
    sizes = {"d_model": D_MODEL, "num_heads": heads, "num_layers": 1, "d_ff": 4 * D_MODEL}
    return Plan(epochs=EPOCHS, learning_rate=rate, batch_size=64, **sizes)


@functools.cache
def load() -> translators.Corpus:
    """The short pairs of the grammar corpus, and the vocabularies of those to learn from."""
    parts = translation.load("random").splits
    short = ([pair for pair in part if len(pair.source) <= LONGEST] for part in parts)
    return translators.corpus_of(Splits(*short))


def corpus() -> str:
    """Hash of the short pairs."""
    return translators.digest(pair for part in load().splits for pair in part)


def trace() -> dict[str, list[float]]:
    """A brief training with the fewest and with the most heads."""
    ends = HEADS[0], HEADS[-1]
    return {f"{heads}": translators.trace(plan(heads, RATES[0]), load()) for heads in ends}


def one(heads: int, rate: float, seed: int) -> dict:
    """One training: its held-out loss after each epoch, and the test pairs at the end."""
    of = load()
    model, history = translators.train(plan(heads, rate), of, seed, progress=False)
    reading = translators.read(model, of.splits.test, of)
    batches = length_batches(of.splits.test, of.source_vocab, of.target_vocab, 100)
    return {
        "heads": heads,
        "rate": rate,
        "seed": seed,
        "parameters": sum(p.numel() for p in model.parameters()),
        "loss": history.epochs[-1]["loss"],
        "held out": [row["validation"] for row in history.epochs],
        "test loss": mean_loss(model, batches),
        "exact": exact_match(reading.written, [pair.target for pair in of.splits.test]),
    }


def run(seed: int) -> list[dict]:
    """Every number of heads: at every rate from the first seed, at its chosen one from others."""
    tried = [(heads, rate) for heads in HEADS for rate in RATES]
    if seed != SEEDS[0]:
        tried = list(CHOSEN.items())
    return [one(heads, rate, seed) for heads, rate in tried]
