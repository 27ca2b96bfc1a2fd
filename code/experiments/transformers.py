"""Chapter 7's Transformers: their plan, and how their heads are scored.

`transformer_translation` and `transformer_everyday` put them beside chapter 4's translators, on
the same pairs and read by the same functions.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from torch import nn

from attnbook.transformer import Transformer

from .translators import against_gold, build, by_head, train, training_options

__all__ = ["Plan", "build", "heads_against_gold", "train"]

heads_against_gold = partial(by_head, against_gold)  # of weights (l, h, q, k) of each pair


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
    betas: tuple[float, float] = (0.9, 0.98)  # of Adam; Vaswani et al., 5.3
    batch_size: int = 64
    size: int | None = None  # how many of the training pairs, None: all
    keep: str = ""  # the name under which seed 0 is stored, "" if it is not

    def model(self, source_size: int, target_size: int) -> nn.Module:
        """An untrained one for vocabularies of these sizes."""
        names = "d_model", "num_heads", "num_layers", "d_ff", "dropout"
        sizes = {name: getattr(self, name) for name in names}
        return Transformer(source_size, target_size, **sizes)

    def options(self) -> dict:
        """What `fit` is told besides epochs and rate."""
        return training_options(self)
