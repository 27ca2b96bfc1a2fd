"""How chapter 7's Transformers are built and trained, and how their heads are scored.

`transformer_translation` and `transformer_everyday` put them beside chapter 4's translators, on
the same pairs and read by the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..training import History, set_seed, translation_loss
from ..transformer import Transformer
from . import translators
from .translators import Corpus, against_gold

SOURCES = (  # what the numbers of a Transformer rest on
    *(name for name in translators.SOURCES if name != "recurrent"),
    "experiments/transformers.py",
    "masks.py",
    "multihead.py",
    "positions.py",
    "transformer.py",
)


class Plan(NamedTuple):
    """One Transformer, and how it is trained."""

    split: str = "random"
    epochs: int = 10
    learning_rate: float = 2e-3
    d_model: int = 128
    num_heads: int = 4
    num_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.1
    label_smoothing: float = 0.0
    batch_size: int = 64
    size: int | None = None  # how many of the training pairs, None: all
    keep: str = ""  # the name under which seed 0 is stored, "" if it is not


def build(plan: Plan, of: Corpus, seed: int) -> nn.Module:
    """The untrained model of a plan."""
    set_seed(seed)
    return Transformer(
        len(of.source_vocab),
        len(of.target_vocab),
        d_model=plan.d_model,
        num_heads=plan.num_heads,
        num_layers=plan.num_layers,
        d_ff=plan.d_ff,
        dropout=plan.dropout,
    )


def train(plan: Plan, of: Corpus, seed: int, **options) -> tuple[nn.Module, History]:
    """The trained model of a plan, and what its training saw; options as in `fit`."""
    options = {
        "loss": partial(translation_loss, label_smoothing=plan.label_smoothing),
        "optimizer": partial(torch.optim.Adam, betas=(0.9, 0.98)),  # Vaswani et al., section 5.3
        **options,
    }
    return translators.train(plan, of, seed, build=build, **options)


def heads_against_gold(weights: Sequence[Tensor], pairs: Sequence) -> list[list[dict]]:
    """What `against_gold` says of each layer and head, from weights (l, h, q, k) of each pair."""
    layers, heads = weights[0].shape[:2]
    return [
        [against_gold([w[layer, head] for w in weights], pairs) for head in range(heads)]
        for layer in range(layers)
    ]
