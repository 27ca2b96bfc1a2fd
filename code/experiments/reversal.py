"""Write a word backwards: a task whose one right place to look is known for every letter.

A small Transformer learns it in seconds. The famous one, with its bugs and with them mended, learns
it for a short and for a long time. Chapter 7 trains one seed of ours; `make train` trains six,
and all of the famous one.
"""

from __future__ import annotations

import functools
import random
import string

from torch import nn

from attnbook.data import AlignedPair, Splits, Vocabulary, length_batches
from attnbook.metrics import exact_match, hit_rate
from attnbook.training import Event, mean_loss

from . import famous, translators
from .transformers import Plan
from .translators import Corpus, by_head, read, train

SEEDS = range(6)
LENGTHS = (4, 12)  # letters of a word, both ends included
PLAN = Plan(epochs=1, learning_rate=3e-3, d_model=64, d_ff=256, dropout=0.0)
FAMOUS = famous.Plan(epochs=4, learning_rate=5e-3)
SHORT, LONG = 1_000, 4_000  # its steps
MENDED = {  # name: what is mended before training, what when decoding
    "as published": ((), ()),
    "positions mended only": ((), ("positions",)),
    "embedding mended": (("embedding",), ()),
    "embedding and positions mended": (("embedding",), ("positions",)),
}


def draw(n: int, chance: random.Random) -> list[AlignedPair]:
    """Words of random letters, and the same backwards, with gold links."""
    pairs = []
    for _ in range(n):
        letters = chance.choices(string.ascii_lowercase, k=chance.randint(*LENGTHS))
        k = len(letters)
        links = frozenset((q, k - 1 - q) for q in range(k))
        classes = ("letter",) * k
        pairs.append(AlignedPair(tuple(letters), tuple(letters[::-1]), links, links, classes))
    return pairs


@functools.cache
def load() -> Corpus:
    """64,000 words to learn from, and 1,000 each to look at and to judge on, not among them."""
    chance = random.Random(0)
    learnt = draw(64_000, chance)
    known = {pair.source for pair in learnt}
    others = [pair for pair in draw(3_000, chance) if pair.source not in known][:2_000]
    vocab = Vocabulary([list(string.ascii_lowercase)])
    return Corpus(Splits(learnt, others[:1_000], others[1_000:]), vocab, vocab)


def exact(model: nn.Module, of: Corpus, pairs=None) -> float:
    """Share of the test words that come out backwards, letter for letter."""
    pairs = of.splits.test if pairs is None else pairs
    written = read(model, pairs, of).written
    return exact_match(written, [pair.target for pair in pairs])


def heads(model: nn.Module, of: Corpus) -> list[list[float]]:
    """Hit rate of each layer and head: is the largest weight on the letter to be written?"""
    pairs = of.splits.test
    return by_head(hit_rate, read(model, pairs, of).weights, pairs)


def famous_rows(seed: int, embedding: tuple[str, ...]) -> list[dict]:
    """One training of the famous one, looked at after `SHORT` and `LONG` steps.

    What is mended when decoding changes no weight: every way to decode is tried on the same ones.
    """
    of, rows = load(), []
    held_out = length_batches(of.splits.validation, of.source_vocab, of.target_vocab, 100)

    def look(event: Event) -> bool:
        model = event.model
        if event.kind == "step" and event.step in (SHORT, LONG):
            causal = model.mend((*embedding, "mask"))
            losses = {
                "printed loss": mean_loss(model, held_out),
                "causal loss": mean_loss(causal, held_out),
            }
            for name, (before, decoding) in MENDED.items():
                if before == embedding:
                    found = exact(model.mend(before + decoding), of)
                    row = {"seed": seed, "model": name, "steps": event.step, "exact": found}
                    rows.append(row | losses)
        return event.step == LONG

    train(FAMOUS._replace(mended=embedding), of, seed, callbacks=[look])
    return rows


def trace() -> dict[str, list[float]]:
    """A brief training of ours and of the famous one."""
    plans = {"ours": PLAN, "as published": FAMOUS}
    return {name: translators.trace(plan, load()) for name, plan in plans.items()}


def run(seed: int) -> list[dict]:
    """One seed of ours and of the famous one, as published and with its embedding mended."""
    of = load()
    model, _ = train(PLAN, of, seed)
    steps = len(length_batches(of.splits.train, of.source_vocab, of.target_vocab, PLAN.batch_size))
    row = {"seed": seed, "model": "ours", "steps": steps, "exact": exact(model, of)}
    rows = [row | {"heads": heads(model, of)}]
    for embedding in ((), ("embedding",)):
        rows += famous_rows(seed, embedding)
    return rows
