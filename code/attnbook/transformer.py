"""Room 6, the Transformer: blocks, a stack of them, and the models made of stacks.

Read from the top: choices, embedding, sub-layers, blocks, stack; then `Encoder` and `Classifier`,
which read a sequence in both directions, `Transformer`, which translates, and `LanguageModel`,
which continues. The last two are asked in two moves, as the recurrent models are:

    state = model.start(source, source_lens)   # read the source, once
    output = model.step(inputs, state)         # any number of tokens; output.state goes on

States and outputs are values: NamedTuples of tensors whose first axis is the batch. Nothing
changes them, so that a state can be kept, copied and branched; a module holds parameters only.

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

from ._checks import (
    check_choice,
    check_count,
    check_ids,
    check_lengths,
    check_probability,
    look_up,
    shape,
)
from .masks import causal_mask, length_mask
from .multihead import Attended, KeyValues, MultiHeadAttention
from .normalize import _wide
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
        check_count("num_layers", self.num_layers, least=1)
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
        check_count("vocab_size", vocab_size, least=1)
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        added = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
        kind = added.get(config.positions)
        self.positions = kind and kind(config.d_model, max_len=config.max_len)
        self.scale = math.sqrt(config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, *, offset: int = 0, name: str = "inputs") -> Tensor:
        x = look_up(self.tokens, name, ids) * self.scale  # (b, n) -> (b, n, d)
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


class SelfAttention(Sublayer):
    """Attend to one's own sequence, and to its past where there is one.

    Shapes: x (b, q, d) -> (b, q, d), weights (b, h, q, t + q) or None, keys and values of all
    t + q tokens, (b, h_kv, t + q, d).
    """

    def __init__(self, d_model: int, *, dropout: float, norm: str, **heads):
        super().__init__(d_model, dropout=dropout, norm=norm)
        self.attention = MultiHeadAttention(d_model, **heads)

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


class CrossAttention(Sublayer):
    """Attend to another sequence, whose keys and values `attention.project` made once.

    Shapes: x (b, q, d), memory (b, h_kv, k, d) -> (b, q, d), weights (b, h, q, k) or None.
    """

    def __init__(self, d_model: int, *, dropout: float, norm: str, **heads):
        super().__init__(d_model, dropout=dropout, norm=norm)
        self.attention = MultiHeadAttention(d_model, **heads)

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
        d_ff = 4 * d_model if d_ff is None else check_count("d_ff", d_ff, least=1)
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


class Encoding(NamedTuple):
    """What an encoder makes of a source.

    `outputs` (b, k, d); `mask` (b, 1, k), True at tokens, or None where there is no padding;
    `weights` (b, l, h, k, k) or None.
    """

    outputs: Tensor
    mask: Tensor | None
    weights: Tensor | None


class TransformerState(NamedTuple):
    """Where a model stands after the tokens it has read.

    `past`: keys and values of those t tokens, for each layer, (b, h_kv, t, d). Of a source, None
    in a language model: `memory`, its keys and values for each layer, (b, h_kv, k, d), projected
    once, and `mask` (b, 1, k), True at tokens, or None.
    """

    past: tuple[KeyValues, ...]
    memory: tuple[KeyValues, ...] | None = None
    mask: Tensor | None = None


class Output(NamedTuple):
    """What a model answers: `logits`, `weights` or None, `state`.

    `logits` (b, q, vocabulary), of a `Classifier` (b, classes). `weights` of a `Transformer` look
    at the source, (b, l, h, q, k); those of a `LanguageModel` at the tokens so far,
    (b, l, h, q, t + q), and those of a `Classifier`, which has no state, at its source.
    """

    logits: Tensor
    weights: Tensor | None
    state: TransformerState | None = None


class Encoder(nn.Module):
    """Read tokens in both directions.

    Shapes: source (b, k), source_lens (b,) -> outputs (b, k, d). What stands at padding never
    matters, ids outside the vocabulary included; outputs there mean nothing.

    Args:
        vocab_size: token ids run from 0 to `vocab_size` - 1.
        options: as in `TransformerConfig`.

    Source: Vaswani et al. 2017, section 3.1; alone: Devlin et al. 2019 (BERT), section 3.
    """

    def __init__(self, vocab_size: int, **options):
        super().__init__()
        self.config = TransformerConfig(**options)
        self.embedding = TokenEmbedding(vocab_size, self.config)
        self.stack = Stack(self.config, EncoderBlock)

    def forward(
        self, source: Tensor, source_lens: Tensor | None = None, *, need_weights: bool = False
    ) -> Encoding:
        check_ids("source", source, empty=True)
        mask = _padding_mask(source, source_lens)
        if mask is not None:
            source = source.masked_fill(~mask.squeeze(1), 0)  # any id may stand at padding
        read = self.stack(
            self.embedding(source, name="source"), mask=mask, need_weights=need_weights
        )
        return Encoding(read.x, mask, read.weights)


class Classifier(nn.Module):
    """Give a sequence to one of `num_classes`, from the mean of its tokens or from the first.

    Shapes: source (b, k), source_lens (b,) -> logits (b, classes). Arguments as in `Encoder`.
    The mean of no tokens is zero.

    Source: first token: Devlin et al. 2019, section 3.2.
    """

    def __init__(self, vocab_size: int, num_classes: int, *, pool: str = "mean", **options):
        super().__init__()
        self.pool = check_choice("pool", pool, ("mean", "first"))
        self.encoder = Encoder(vocab_size, **options)
        d_model = self.encoder.config.d_model
        self.output = nn.Linear(d_model, check_count("num_classes", num_classes, least=1))

    def forward(
        self, source: Tensor, source_lens: Tensor | None = None, *, need_weights: bool = False
    ) -> Output:
        x, mask, weights = self.encoder(source, source_lens, need_weights=need_weights)
        if self.pool == "first":
            pooled = x[:, 0]
        elif mask is None:
            pooled = x.mean(dim=1)
        else:
            kept, wide = mask.mT, _wide(x)  # (b, k, 1); half precision cannot count the tokens
            pooled = (wide * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1)  # (b, k, d) -> (b, d)
            pooled = pooled.to(x.dtype)
        return Output(self.output(pooled), weights)


class TransformerWeights(NamedTuple):
    """All weights of one teacher-forced pass.

    `encoder` (b, l, h, k, k), `decoder` (b, l, h, q, q), `cross` (b, l, h, q, k).
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor


class Transformer(nn.Module):
    """Translate: an encoder for the source, and a decoder that writes the target.

    Shapes: source (b, k), source_lens (b,), inputs (b, q) -> logits (b, q, target_size).

    Args:
        source_size, target_size: sizes of the two vocabularies.
        tie: which matrices are one: "output" the decoder's embedding and its output layer, "all"
            the encoder's embedding too (one vocabulary for both), "none".
        options: as in `TransformerConfig`.

    Source: Vaswani et al. 2017.
    """

    def __init__(self, source_size: int, target_size: int, *, tie: str = "output", **options):
        super().__init__()
        check_choice("tie", tie, ("none", "output", "all"))
        if tie == "all" and source_size != target_size:
            raise ValueError(
                f"tie='all' needs one vocabulary, got sizes {source_size} and {target_size}"
            )
        self.encoder = Encoder(source_size, **options)
        self.config = self.encoder.config
        self.embedding = TokenEmbedding(target_size, self.config)
        if tie == "all":
            self.embedding.tokens = self.encoder.embedding.tokens
        self.stack = Stack(self.config, DecoderBlock)
        self.output = _output_layer(self.embedding, tied=tie != "none")

    def start(self, source: Tensor, source_lens: Tensor | None = None) -> TransformerState:
        """Read sources (b, k), of which the first `source_lens` (b,) ids of each row count."""
        return self.begin(self.encoder(source, source_lens))

    def begin(self, encoding: Encoding) -> TransformerState:
        """The state before the first target token, from what an encoder has read."""
        source = encoding.outputs  # (b, k, d), to keys and values of each layer
        memory = (block.cross_attention.attention.project(source) for block in self.stack.blocks)
        return TransformerState(self.stack.no_past(source), tuple(memory), encoding.mask)

    def step(self, inputs: Tensor, state: TransformerState, need_weights: bool = False) -> Output:
        """Read target ids (b, q), one or many: logits for the token after each."""
        output, _ = self._step(inputs, state, need_weights)
        return output

    def forward(
        self,
        source: Tensor,
        source_lens: Tensor | None,
        inputs: Tensor,
        *,
        need_weights: bool = False,
    ) -> Output:
        """Teacher forcing. A place sees no later one: padding at the end needs no lengths."""
        return self.step(inputs, self.start(source, source_lens), need_weights)

    def weights(
        self, source: Tensor, source_lens: Tensor | None, inputs: Tensor
    ) -> TransformerWeights:
        """All weights of a teacher-forced pass: of the encoder, the decoder, and between them."""
        encoding = self.encoder(source, source_lens, need_weights=True)
        output, own = self._step(inputs, self.begin(encoding), need_weights=True)
        return TransformerWeights(encoding.weights, own, output.weights)

    def _step(self, inputs: Tensor, state: TransformerState, need_weights: bool):
        """A step, and the decoder's weights over its own tokens beside its `Output`."""
        x, mask = _embed(self.embedding, inputs, state.past)
        x, past, own, cross = self.stack(
            x,
            mask=mask,
            past=state.past,
            memory=state.memory,
            memory_mask=state.mask,
            need_weights=need_weights,
        )
        return Output(self.output(x), cross, state._replace(past=past)), own


class LanguageModel(nn.Module):
    """Continue a sequence: encoder blocks under a causal mask, and nothing else.

    Shapes: source (b, k), a prompt, inputs (b, q) -> logits (b, q, vocab_size).

    Args:
        vocab_size: token ids run from 0 to `vocab_size` - 1.
        tie: "output" for one matrix of embedding and output layer, or "none".
        options: as in `TransformerConfig`.

    Source: Liu et al. 2018, section 4.2.3 (decoder only); Radford et al. 2019 (GPT-2), section 2.3.
    """

    def __init__(self, vocab_size: int, *, tie: str = "output", **options):
        super().__init__()
        check_choice("tie", tie, ("none", "output"))
        self.config = TransformerConfig(**options)
        self.embedding = TokenEmbedding(vocab_size, self.config)
        self.stack = Stack(self.config, EncoderBlock)
        self.output = _output_layer(self.embedding, tied=tie == "output")

    def start(self, source: Tensor, source_lens: Tensor | None = None) -> TransformerState:
        """Read prompts (b, k), k = 0 for none. They must have one length: a cache has no gaps."""
        check_ids("source", source, empty=True)
        if source_lens is not None and bool((source_lens != source.shape[1]).any()):
            raise ValueError(
                f"source_lens must all be {source.shape[1]}, the length of the prompts: "
                "batch prompts of one length"
            )
        state = TransformerState(self.stack.no_past(source))
        return self._step(source, state, name="source").state if source.shape[1] else state

    def step(self, inputs: Tensor, state: TransformerState, need_weights: bool = False) -> Output:
        """Read ids (b, q), one or many: logits for the token after each."""
        return self._step(inputs, state, need_weights)

    def _step(
        self, inputs: Tensor, state: TransformerState, need_weights=False, name: str = "inputs"
    ) -> Output:
        x, mask = _embed(self.embedding, inputs, state.past, name)
        x, past, weights, _ = self.stack(x, mask=mask, past=state.past, need_weights=need_weights)
        return Output(self.output(x), weights, TransformerState(past))

    def forward(
        self,
        source: Tensor | None,
        source_lens: Tensor | None,
        inputs: Tensor,
        *,
        need_weights: bool = False,
    ) -> Output:
        """Teacher forcing after a prompt, or after none (source None)."""
        source = inputs[:, :0] if source is None else source
        return self.step(inputs, self.start(source, source_lens), need_weights)


def _embed(embedding: TokenEmbedding, inputs: Tensor, past: Sequence[KeyValues], name="inputs"):
    """Vectors (b, q, d) of ids (b, q) after t others, and their causal mask (q, t + q).

    One token needs no mask: it may see all that is there.
    """
    check_ids("inputs", inputs, empty=True)
    rows, _, t, _ = past[0].keys.shape
    if inputs.shape[0] != rows:  # len() would fix a size that torch.export leaves open
        raise ValueError(
            f"inputs must have a row for each of the {rows} of the state, got shape {shape(inputs)}"
        )
    q = inputs.shape[1]
    mask = None if q == 1 else causal_mask(q, t + q, offset=t, device=inputs.device)
    return embedding(inputs, offset=t, name=name), mask


def _output_layer(embedding: TokenEmbedding, *, tied: bool) -> nn.Linear:
    """From features to logits, (b, q, d) -> (b, q, vocabulary)."""
    vocab_size, d_model = embedding.tokens.weight.shape
    layer = nn.Linear(d_model, vocab_size, bias=False)
    nn.init.normal_(layer.weight, std=d_model**-0.5)
    if tied:
        layer.weight = embedding.tokens.weight
    return layer


def _padding_mask(ids: Tensor, lengths: Tensor | None) -> Tensor | None:
    """True at the first `lengths` (b,) of ids (b, n), (b, 1, n); None where nothing is padding."""
    if lengths is None:
        return None
    n = ids.shape[1]
    lengths = torch.as_tensor(lengths, device=ids.device)
    if torch.compiler.is_compiling():  # lengths have no values yet that could be looked at
        return (torch.arange(n, device=ids.device) < lengths.unsqueeze(1)).unsqueeze(1)
    if len(ids):
        check_lengths("source_lens", lengths, ids)
    return None if (lengths == n).all() else length_mask(lengths, n)  # masks cost time
