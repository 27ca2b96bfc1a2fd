"""The Transformer on everyday sentences (Tatoeba): the pairs that chapter 4's models learn from."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

from torch import Tensor, nn

from attnbook.data import tokenize
from attnbook.data.fra_eng import _lines

from . import everyday, translators
from .stored import load_weights
from .transformers import Plan
from .translators import Corpus

SEEDS = range(3)
PLAN = Plan(
    d_model=96, d_ff=384, learning_rate=4e-3, keep="transformer_everyday", **everyday.RECIPE
)
corpus, load = everyday.corpus, everyday.load


def names() -> list[str]:
    """The French words that mostly have a capital where no sentence begins, in lower case."""
    counts = Counter()
    for _, french in _lines():
        words = tokenize(french, "fr", lower=False)
        for before, word in itertools.pairwise(words):
            if before[-1].isalnum() or before in ("d'", "l'", "qu'"):
                counts[word.lower(), word.istitle()] += 1
    known = set(load().target_vocab.tokens)
    return sorted(
        word
        for (word, large), n in counts.items()
        if large and n > 3 + 3 * counts[word, False] and word in known and word.isalpha()
    )


def stored(weights: dict[str, Tensor]) -> tuple[nn.Module, Corpus]:
    """The model with given weights, in evaluation mode, and its corpus."""
    return translators.stored(PLAN, load(), weights)


def tried() -> list[dict]:
    """The rows by which the rate was chosen, as for chapter 4's models."""
    return everyday.trials("Transformer", PLAN)


def trace() -> dict[str, list[float]]:
    """A brief training."""
    return {PLAN.keep: translators.trace(PLAN, load())}


def reread() -> dict[str, dict[str, float]]:
    """What the stored weights do."""
    return {PLAN.keep: translators.reread(*stored(load_weights(PLAN.keep)))}


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> dict:
    """One seed."""
    model, _, losses = translators.train_and_keep(PLAN, load(), seed, keep)
    return {"seed": seed, **losses, **everyday.judge(model, load(), aligned=True)}
