"""A famous Transformer with its three bugs, and a switch to mend each.

d2l ships the encoder, the norms, the attention and the feed-forward layers of its chapter, but not
its decoder. The decoder here is made of those parts and does as the chapter does:

- "embedding": token vectors begin with unit variance and are multiplied by sqrt(d), which drowns
  the sinusoids added to them;
- "positions": when decoding, each token is embedded alone, and so is told that it stands at 0;
- "mask": the mask that hides the future is made in training mode only.

Source: Zhang et al. 2023, section 11.7, as of d2l 0.17; their classes are imported, not repeated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.peers import import_d2l
from attnbook.training import set_seed

from .plans import plan_of

BUGS = ("embedding", "positions", "mask")


class FamousState(NamedTuple):
    """`memory` (b, k, d), `lengths` (b,) of the sources, and each block's inputs so far."""

    memory: Tensor
    lengths: Tensor
    past: tuple[Tensor, ...]  # (b, t, d) each


class FamousOutput(NamedTuple):
    """`logits` (b, q, vocabulary), no weights, and the state to go on from."""

    logits: Tensor
    weights: None
    state: FamousState


class FamousBlock(nn.Module):
    """Self-attention, attention to the source, feed-forward, from d2l's parts."""

    def __init__(self, d: int, d_ff: int, num_heads: int, dropout: float):
        super().__init__()
        d2l = import_d2l()
        heads = (d, d, d, d, num_heads, dropout)
        self.attention1, self.attention2 = (d2l.MultiHeadAttention(*heads) for _ in range(2))
        self.addnorm1, self.addnorm2, self.addnorm3 = (d2l.AddNorm([d], dropout) for _ in range(3))
        self.ffn = d2l.PositionWiseFFN(d, d_ff, d)

    def forward(self, x: Tensor, past: Tensor, state: FamousState, causal: bool):
        keys = torch.cat((past, x), dim=1)  # (b, t + q, d)
        (b, q), t = x.shape[:2], past.shape[1]
        seen = torch.arange(t + 1, t + q + 1).expand(b, q) if causal else None
        y = self.addnorm1(x, self.attention1(x, keys, keys, seen))
        y = self.addnorm2(y, self.attention2(y, state.memory, state.memory, state.lengths))
        return self.addnorm3(y, self.ffn(y)), keys


class FamousTransformer(nn.Module):
    """The chapter's encoder and decoder, asked as our models are: `start`, then `step`.

    Shapes: source (b, k), source_lens (b,), inputs (b, q) -> logits (b, q, size).

    Args:
        size: of the one vocabulary.
        mended: those of `BUGS` that are mended; "positions" and "mask" may also be set later, for
            they change no weight and nothing in training.
    """

    def __init__(
        self,
        size: int,
        *,
        mended: Iterable[str] = (),
        d: int = 32,
        d_ff: int = 64,
        num_heads: int = 4,
        num_layers: int = 2,
        dropout: float = 0.1,
    ):
        super().__init__()
        self.mended = _bugs(mended)
        d2l, sizes = import_d2l(), (d, d_ff, num_heads)
        self.encoder = d2l.TransformerEncoder(
            size, d, d, d, d, [d], d, d_ff, num_heads, num_layers, dropout
        )
        self.embedding = nn.Embedding(size, d)
        self.pos_encoding = d2l.PositionalEncoding(d, dropout)
        self.blocks = nn.ModuleList(FamousBlock(*sizes, dropout) for _ in range(num_layers))
        self.dense = nn.Linear(d, size)
        if "embedding" in self.mended:
            for embedding in (self.encoder.embedding, self.embedding):
                nn.init.normal_(embedding.weight, std=d**-0.5)

    def start(self, source: Tensor, source_lens: Tensor) -> FamousState:
        memory = self.encoder(source, source_lens)
        return FamousState(memory, source_lens, tuple(memory[:, :0] for _ in self.blocks))

    def step(self, inputs: Tensor, state: FamousState, need_weights: bool = False) -> FamousOutput:
        x = self.embedding(inputs) * math.sqrt(self.embedding.embedding_dim)
        t = state.past[0].shape[1] if "positions" in self.mended else 0
        x = self.pos_encoding.dropout(x + self.pos_encoding.P[:, t : t + x.shape[1]])
        causal, past = self.training or "mask" in self.mended, []
        for block, before in zip(self.blocks, state.past, strict=True):
            x, keys = block(x, before, state, causal)
            past.append(keys)
        return FamousOutput(self.dense(x), None, state._replace(past=tuple(past)))

    def forward(
        self, source: Tensor, source_lens: Tensor, inputs: Tensor, *, need_weights: bool = False
    ) -> FamousOutput:
        return self.step(inputs, self.start(source, source_lens))

    def mend(self, mended: Iterable[str]) -> FamousTransformer:
        """This model, its weights shared, with other bugs of "positions" and "mask" mended."""
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {"mended": _bugs(mended)}
        return other


def _untrained(size: int, target_size: int, **options) -> FamousTransformer:
    """One for a vocabulary that is both the source's and the target's."""
    return FamousTransformer(size, **options)


Plan = plan_of(_untrained, mended=(), dropout=0.1, schedule=None)  # a constant rate, as published


def famous(size: int, seed: int, **options) -> FamousTransformer:
    """An untrained one, as in `FamousTransformer`; its attention matrices as torch begins them."""
    set_seed(seed)
    return FamousTransformer(size, **options)


def _bugs(names: Iterable[str]) -> frozenset[str]:
    chosen = frozenset(names)
    if not chosen <= set(BUGS):
        raise ValueError(f"mended must be some of {BUGS}, got {sorted(chosen)}")
    return chosen
