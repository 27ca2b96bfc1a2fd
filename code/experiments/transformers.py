"""Chapter 7's Transformers: their plan, and how their heads are scored.

`transformer_translation` and `transformer_everyday` put them beside chapter 4's translators, on
the same pairs and read by the same functions.
"""

from __future__ import annotations

from functools import partial

from attnbook.transformer import Transformer

from .plans import plan_of
from .translators import against_gold, build, by_head, train

__all__ = ["Plan", "build", "heads_against_gold", "train"]

heads_against_gold = partial(by_head, against_gold)  # of weights (l, h, q, k) of each pair

Plan = plan_of(
    Transformer,
    split="random",
    epochs=10,
    learning_rate=2e-3,
    d_model=128,
    num_heads=4,
    num_layers=2,
    d_ff=512,
    dropout=0.1,
    betas=(0.9, 0.98),  # of Adam; Vaswani et al., 5.3
)
