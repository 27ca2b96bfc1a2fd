"""Stacks: blocks one after the other, over vectors of any origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..masks import causal_mask
from ..multihead import KeyValues
from .blocks import BlockOutput, DecoderBlock, EncoderBlock
from .config import TransformerConfig


class StackOutput(NamedTuple):
    """What a stack returns: x (b, q, d), keys and values by layer, and weights or None.

    `weights` (b, l, h, q, t + q) look at the stack's own sequence, `cross` (b, l, h, q, k) at
    the source.
    """

    x: Tensor
    own: tuple[KeyValues, ...]
    weights: Tensor | None
    cross: Tensor | None


class Stack(nn.Module):
    """Blocks of one kind; where they normalise first, a last norm for what they have summed."""

    def __init__(self, config: TransformerConfig, block: type[nn.Module]):
        super().__init__()
        options = config.block()  # one positions module for all: a table need be there once
        self.blocks = nn.ModuleList(block(**options) for _ in range(config.num_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def _collect(self, x: Tensor, outputs: Sequence[BlockOutput]) -> StackOutput:
        weights, cross = (
            None if parts[0] is None else torch.stack(parts, dim=1)  # (b, l, h, q, k)
            for parts in ([o.weights for o in outputs], [o.cross for o in outputs])
        )
        return StackOutput(self.norm(x), tuple(o.own for o in outputs), weights, cross)


class EncoderStack(Stack):
    """Encoder blocks over vectors x (b, q, d), with any mask and, for language models, a past.

    Shapes: x (b, q, d), past (b, h_kv, t, d) for each layer or None -> `StackOutput`.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__(config, EncoderBlock)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        past: Sequence[KeyValues] | None = None,
        need_weights: bool = False,
    ) -> StackOutput:
        outputs = []
        for i, block in enumerate(self.blocks):
            own = past and past[i]
            outputs.append(block(x, mask=mask, past=own, need_weights=need_weights))
            x = outputs[-1].x
        return self._collect(x, outputs)


class DecoderStack(Stack):
    """Decoder blocks over vectors x (b, q, d): causal, with a past and a source.

    Shapes: x (b, q, d), memory (b, h_kv, k, d) and past (b, h_kv, t, d) for each layer,
    memory_mask (b, 1, k) -> `StackOutput`.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__(config, DecoderBlock)

    def project(self, outputs: Tensor) -> tuple[KeyValues, ...]:
        """Keys and values of an encoder's outputs (b, k, d), once for each layer."""
        return tuple(block.cross_attention.project(outputs) for block in self.blocks)

    def forward(
        self,
        x: Tensor,
        memory: Sequence[KeyValues],
        *,
        memory_mask: Tensor | None = None,
        past: Sequence[KeyValues],
        need_weights: bool = False,
    ) -> StackOutput:
        mask = future_mask(x, past)
        outputs = []
        for block, source, own in zip(self.blocks, memory, past, strict=True):
            options = {"memory_mask": memory_mask, "past": own, "need_weights": need_weights}
            outputs.append(block(x, source, mask=mask, **options))
            x = outputs[-1].x
        return self._collect(x, outputs)


def future_mask(x: Tensor, past: Sequence[KeyValues]) -> Tensor | None:
    """The causal mask (q, t + q) of x (b, q, d) after t tokens; one token needs none."""
    q, t = x.shape[1], past[0].keys.shape[2]
    return None if q == 1 else causal_mask(q, t + q, offset=t, device=x.device)


def no_past(stack: Stack, like: Tensor) -> tuple[KeyValues, ...]:
    """The past of sequences that have not begun: (b, h_kv, 0, d), with the batch of `like`."""
    heads = (block.self_attention.attention for block in stack.blocks)
    sizes = ((a.num_kv_heads, 0, a.d_model // a.num_heads) for a in heads)
    dtype = next(stack.parameters()).dtype
    empty = (like.new_empty((like.shape[0], *size), dtype=dtype) for size in sizes)
    return tuple(KeyValues(e, e) for e in empty)
