"""Blocks: sub-layers in the order in which the paper draws them."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from ..multihead import KeyValues
from .sublayers import CrossAttention, FeedForward, SelfAttention


class BlockOutput(NamedTuple):
    """What a block returns: x (b, q, d), its own keys and values, and weights or None.

    `weights` (b, h, q, t + q) look at the block's own sequence, `cross` (b, h, q, k) at the
    source.
    """

    x: Tensor
    own: KeyValues
    weights: Tensor | None
    cross: Tensor | None = None


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward. Under a causal mask, a block of a language model.

    Shapes: x (b, q, d) -> (b, q, d). Arguments as in `TransformerConfig`; `positions` as in
    `MultiHeadAttention`.

    Source: Vaswani et al. 2017, figure 1, left.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int | None = None,
        *,
        num_kv_heads: int | None = None,
        dropout: float = 0.0,
        norm: str = "pre",
        positions: nn.Module | None = None,
    ):
        super().__init__()
        around = {"dropout": dropout, "norm": norm}
        heads = {"num_heads": num_heads, "num_kv_heads": num_kv_heads, "positions": positions}
        self.self_attention = SelfAttention(d_model, **around, **heads)
        self.feed_forward = FeedForward(d_model, d_ff, **around)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        past: KeyValues | None = None,
        need_weights: bool = False,
    ) -> BlockOutput:
        options = {"mask": mask, "past": past, "need_weights": need_weights}
        x, weights, own = self.self_attention(x, **options)
        return BlockOutput(self.feed_forward(x), own, weights)


class DecoderBlock(nn.Module):
    """Self-attention, then attention to the source, then feed-forward.

    Shapes: x (b, q, d), memory (b, h_kv, k, d) -> (b, q, d). Arguments as in `EncoderBlock`;
    `positions` serve self-attention only, for a target and a source share no places.

    Source: Vaswani et al. 2017, figure 1, right.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int | None = None,
        *,
        num_kv_heads: int | None = None,
        dropout: float = 0.0,
        norm: str = "pre",
        positions: nn.Module | None = None,
    ):
        super().__init__()
        around = {"dropout": dropout, "norm": norm}
        heads = {"num_heads": num_heads, "num_kv_heads": num_kv_heads}
        self.self_attention = SelfAttention(d_model, **around, **heads, positions=positions)
        self.cross_attention = CrossAttention(d_model, **around, **heads)
        self.feed_forward = FeedForward(d_model, d_ff, **around)

    def forward(
        self,
        x: Tensor,
        memory: KeyValues,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        past: KeyValues | None = None,
        need_weights: bool = False,
    ) -> BlockOutput:
        options = {"mask": mask, "past": past, "need_weights": need_weights}
        x, weights, own = self.self_attention(x, **options)
        x, cross = self.cross_attention(x, memory, mask=memory_mask, need_weights=need_weights)
        return BlockOutput(self.feed_forward(x), own, weights, cross)
