"""What Transformers are made of: choices, embedding, sub-layers, blocks, and a stack of blocks.

Shape letters: `b` batch, `l` layers, `h` heads, `q` target tokens, `k` source tokens, `t` tokens
read before, `d` features.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ._checks import check_choice, check_probability, check_sizes, look_up
from .multihead import Attended, KeyValues, MultiHeadAttention
from .positions import AlibiPositions, LearnedPositions, RotaryPositions, SinusoidalPositions


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and choices that all parts of one model share.

    Args:
        d_model: features of a token.
        num_heads, num_kv_heads: as in `MultiHeadAttention`.
        num_layers: blocks, in the encoder and in the decoder.
        d_ff: features inside the feed-forward layers, 4 `d_model` if None.
        dropout: probability, in training, on the output of each sub-layer before it is added, and
            on the sum of token and position (Vaswani et al. 2017, section 5.4).
        norm: "pre" normalises what a sub-layer reads (Xiong et al. 2020), "post" the sum after
            it, as Vaswani et al. 2017.
        positions: "sinusoidal" or "learned", added to the tokens; "rotary" or "alibi", inside
            self-attention; or None.
        max_len: places that tables hold; only learned positions end there.

    Raises:
        ValueError: a name is unknown, a size does not fit.
    """

    d_model: int = 128
    num_heads: int = 4
    num_layers: int = 2
    d_ff: int | None = None
    dropout: float = 0.1
    norm: str = "pre"
    positions: str | None = "sinusoidal"
    num_kv_heads: int | None = None
    max_len: int = 1024

    def __post_init__(self):
        check_sizes(num_layers=self.num_layers)
        choices = ("sinusoidal", "learned", "rotary", "alibi", None)
        check_choice("positions", self.positions, choices)


class TokenEmbedding(nn.Module):
    """Embed tokens, add their positions, drop out.

    Shapes: ids (b, n) -> (b, n, d), row 0 standing at `offset`.

    The matrix begins with variance 1 / d_model, so that the product with sqrt(d_model) has unit
    variance, beside which sinusoids (mean square 1/2) and learned positions are heard. A matrix
    of unit variance times sqrt(d_model) would drown them; and the smaller one can also be the
    output layer's, whose logits it gives unit variance.

    Source: Vaswani et al. 2017, sections 3.4 (scale, shared matrix), 3.5 and 5.4 (dropout).
    """

    def __init__(self, vocab_size: int, config: TransformerConfig):
        super().__init__()
        check_sizes(vocab_size=vocab_size)
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        added = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        kind = added.get(config.positions)
        self.positions = kind and kind(config.d_model, max_len=config.max_len)
        self.scale = math.sqrt(config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, *, offset: int = 0, name: str = "inputs") -> Tensor:
        x = look_up(self.tokens, name, ids, empty=True) * self.scale  # (b, n) -> (b, n, d)
        if self.positions is not None:
            x = self.positions(x, offset=offset)
        return self.dropout(x)


class Sublayer(nn.Module):
    """What surrounds a function f: x + f(norm(x)) where "pre", norm(x + f(x)) where "post".

    Layer norm and not batch norm: each token is normalised by itself, so that neither padding
    nor the rest of a batch of unequal lengths has a say.

    Source: Vaswani et al. 2017, sections 3.1 and 5.4; "pre": Xiong et al. 2020, table 1.
    """

    def __init__(self, d_model: int, *, dropout: float, norm: str):
        super().__init__()
        self.pre = check_choice("norm", norm, ("pre", "post")) == "pre"
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(check_probability("dropout", dropout))

    def before(self, x: Tensor) -> Tensor:
        """What f reads."""
        return self.norm(x) if self.pre else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """What goes on, from x and y = f(before(x))."""
        y = x + self.dropout(y)
        return y if self.pre else self.norm(y)


class _AttentionSublayer(Sublayer):
    """A sub-layer around `attention`, a `MultiHeadAttention` of `heads`."""

    def __init__(self, d_model: int, *, dropout: float, norm: str, **heads):
        super().__init__(d_model, dropout=dropout, norm=norm)
        self.attention = MultiHeadAttention(d_model, **heads)


class SelfAttention(_AttentionSublayer):
    """Attend to one's own sequence, and to its past where there is one.

    Shapes: x (b, q, d) -> (b, q, d), weights (b, h, q, t + q) or None, keys and values of all
    t + q tokens, (b, h_kv, t + q, d).
    """

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        past: KeyValues | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None, KeyValues]:
        read = self.before(x)
        offset = 0 if past is None else past.keys.shape[2]  # t
        own = self.attention.project(read, offset=offset)
        own = own if past is None else past.append(own)  # (b, h_kv, t + q, d)
        output, weights = self.attention.attend(
            read, own, mask=mask, offset=offset, need_weights=need_weights
        )
        return self.after(x, output), weights, own


class CrossAttention(_AttentionSublayer):
    """Attend to another sequence, whose keys and values `attention.project` made once.

    Shapes: x (b, q, d), memory (b, h_kv, k, d) -> (b, q, d), weights (b, h, q, k) or None.
    """

    def forward(
        self,
        x: Tensor,
        memory: KeyValues,
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Attended:
        output, weights = self.attention.attend(
            self.before(x), memory, mask=mask, need_weights=need_weights
        )
        return Attended(self.after(x, output), weights)


class FeedForward(Sublayer):
    """Two linear layers with a ReLU between, the same for each token by itself.

    Shapes: x (b, q, d) -> (b, q, d); `d_ff` features inside, 4 d if None.

    Source: Vaswani et al. 2017, equation 2.
    """

    def __init__(self, d_model: int, d_ff: int | None = None, *, dropout: float, norm: str):
        super().__init__(d_model, dropout=dropout, norm=norm)
        d_ff = 4 * d_model if d_ff is None else d_ff
        check_sizes(d_ff=d_ff)
        self.layers = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        for linear in (self.layers[0], self.layers[2]):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.after(x, self.layers(self.before(x)))


class BlockOutput(NamedTuple):
    """What a block returns, or a stack of l blocks.

    `x` (b, q, d); `own`: keys and values of all t + q tokens, of a stack for each layer;
    `weights` (b, [l,] h, q, t + q) look at these tokens, `cross` (b, [l,] h, q, k) at the source,
    None where they were not asked for.
    """

    x: Tensor
    own: KeyValues | tuple[KeyValues, ...]
    weights: Tensor | None
    cross: Tensor | None = None


class _Block(nn.Module):
    """What blocks are made of: self-attention, attention to a source where one is read, and layers.

    Arguments as in `TransformerConfig`; `positions` as in `MultiHeadAttention`.
    """

    reads_source = False

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
        if self.reads_source:
            self.cross_attention = CrossAttention(d_model, **around, **heads)
        self.feed_forward = FeedForward(d_model, d_ff, **around)


class EncoderBlock(_Block):
    """Self-attention, then feed-forward. Under a causal mask, a block of a language model.

    Shapes: x (b, q, d) -> (b, q, d). Arguments as in `TransformerConfig`; `positions` as in
    `MultiHeadAttention`.

    Source: Vaswani et al. 2017, figure 1, left.
    """

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


class DecoderBlock(_Block):
    """Self-attention, then attention to the source, then feed-forward.

    Shapes: x (b, q, d), memory (b, h_kv, k, d) -> (b, q, d). Arguments as in `EncoderBlock`;
    `positions` serve self-attention only, for a target and a source share no places.

    Source: Vaswani et al. 2017, figure 1, right.
    """

    reads_source = True

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


class Stack(nn.Module):
    """Blocks of one kind; where they normalise first, a last norm for what they have summed.

    Shapes: x (b, q, d), past (b, h_kv, t, d) and, for decoder blocks, memory (b, h_kv, k, d) of
    each layer -> `BlockOutput`. Masks as in the block.
    """

    def __init__(self, config: TransformerConfig, block: type[nn.Module]):
        super().__init__()
        positions = None  # one module for all blocks: a table need be there once
        if config.positions == "rotary":
            positions = RotaryPositions(config.d_model // config.num_heads, max_len=config.max_len)
        elif config.positions == "alibi":
            positions = AlibiPositions(config.num_heads)
        sizes = config.d_model, config.num_heads, config.d_ff
        options = {"dropout": config.dropout, "norm": config.norm, "positions": positions}
        self.blocks = nn.ModuleList(
            block(*sizes, num_kv_heads=config.num_kv_heads, **options)
            for _ in range(config.num_layers)
        )
        self.norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor | None = None,
        past: Sequence[KeyValues] | None = None,
        memory: Sequence[KeyValues] | None = None,
        memory_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> BlockOutput:
        outputs = []
        for i, block in enumerate(self.blocks):
            options = {"mask": mask, "past": past and past[i], "need_weights": need_weights}
            if memory is not None:
                options |= {"memory": memory[i], "memory_mask": memory_mask}
            outputs.append(block(x, **options))
            x = outputs[-1].x
        _, own, weights, cross = zip(*outputs, strict=True)
        by_layer = (None if w[0] is None else torch.stack(w, dim=1) for w in (weights, cross))
        return BlockOutput(self.norm(x), own, *by_layer)  # weights (b, l, h, q, k)

    def no_past(self, like: Tensor) -> tuple[KeyValues, ...]:
        """The past of sequences that have not begun: (b, h_kv, 0, d), with the batch of `like`."""
        heads = (block.self_attention.attention for block in self.blocks)
        sizes = ((like.shape[0], a.num_kv_heads, 0, a.d_model // a.num_heads) for a in heads)
        dtype = next(self.parameters()).dtype
        empty = (like.new_empty(size, dtype=dtype) for size in sizes)
        return tuple(KeyValues(e, e) for e in empty)
