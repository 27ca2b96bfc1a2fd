"""Which offsets harm a rotary model past its trained length, and ALiBi given longer to learn one.

The rotary model of `position_lengths` reads `markov`, and all keys further away than it was trained
on stand at one offset: all pairs of features of a key, the fastest alone, or the others alone (the
rest then stays at the largest known offset). The model with ALiBi learns `back` for longer.
"""

from __future__ import annotations

import torch
from torch import nn

from . import position_lengths
from .position_lengths import KNOWN, LENGTHS

SEEDS = range(3)
OFFSETS = range(101)
SEQUENCES = 16
MOVED = "all", "fastest", "others"  # pairs of features
LONGER = 5 * position_lengths.STEPS


def far(model: nn.Module, moved: str, offset: int) -> torch.Tensor:
    """The offset of each pair of features of a far key, (p / 2,)."""
    layer = model.stack.blocks[0].self_attention.attention
    offsets = torch.full((layer.W_q.out_features // layer.num_heads // 2,), KNOWN)
    if moved != "others":
        offsets[0] = offset
    if moved != "fastest":
        offsets[1:] = offset
    return offsets


def reading(model: nn.Module, moved: str, offset: int, sequences: int = SEQUENCES) -> float:
    """Perplexity over the last quarter of the longest texts, all far keys at one offset."""
    options = {"sequences": sequences, "clip": KNOWN, "far": far(model, moved, offset)}
    loss = position_lengths.by_place(model, "markov", **options)
    return position_lengths.perplexity(loss, LENGTHS[-1])


def offsets(seed: int) -> dict:
    """The readings of one rotary model."""
    model = position_lengths.trained("rotary", "markov", seed)
    found = {moved: [reading(model, moved, n) for n in OFFSETS] for moved in MOVED}
    return {"seed": seed, "result": "offsets"} | found


def alibi(seed: int) -> dict:
    """One long training of ALiBi on `back`, and its perplexity at every length."""
    model = position_lengths.trained("alibi", "back", seed, steps=LONGER)
    found = position_lengths.perplexities(position_lengths.by_place(model, "back"))
    return {"seed": seed, "result": "ALiBi, longer", "steps": LONGER} | found


def trace() -> dict[str, list[float]]:
    """Readings of a briefly trained model, and a brief training with ALiBi."""
    model = position_lengths.trained("rotary", "markov", 0, steps=20)
    found = {moved: [reading(model, moved, n, 2) for n in (1, 39)] for moved in MOVED}
    other = position_lengths.build("alibi", 0)
    return found | {"alibi": position_lengths.train(other, "back", 0, steps=20)}


def run(seed: int) -> list[dict]:
    """One seed of both."""
    return [offsets(seed), alibi(seed)]
