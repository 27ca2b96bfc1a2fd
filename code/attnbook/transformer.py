"""The Transformer: models made of stacks.

`Encoder` and `Classifier` read a sequence in both directions, `Transformer` translates, and
`LanguageModel` continues. The last two are asked in two moves, as the recurrent models are:

    state = model.start(source, source_lens)   # read the source, once
    output = model.step(inputs, state)         # any number of tokens; output.state goes on

States and outputs are values: NamedTuples of tensors whose first axis is the batch. Nothing
changes them, so that a state can be kept, copied and branched; a module holds parameters only.

Shape letters: `b` batch, `l` layers, `h` heads, `q` target tokens, `k` source tokens, `t` tokens
read before, `d` features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ._checks import check_choice, check_ids, check_lengths, check_sizes, shape
from .masks import causal_mask, length_mask
from .multihead import KeyValues
from .normalize import _wide
from .stack import (
    BlockOutput,
    CrossAttention,
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    SelfAttention,
    Stack,
    Sublayer,
    TokenEmbedding,
    TransformerConfig,
)

__all__ = [
    "BlockOutput",
    "Classifier",
    "CrossAttention",
    "DecoderBlock",
    "Encoder",
    "EncoderBlock",
    "Encoding",
    "FeedForward",
    "LanguageModel",
    "Output",
    "SelfAttention",
    "Stack",
    "Sublayer",
    "TokenEmbedding",
    "Transformer",
    "TransformerConfig",
    "TransformerState",
    "TransformerWeights",
]


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
        check_sizes(num_classes=num_classes)
        self.output = nn.Linear(d_model, num_classes)

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
    rows, _, t, _ = past[0].keys.shape
    x = embedding(inputs, offset=t, name=name)
    if inputs.shape[0] != rows:  # len() would fix a size that torch.export leaves open
        raise ValueError(
            f"inputs must have a row for each of the {rows} of the state, got shape {shape(inputs)}"
        )
    q = inputs.shape[1]
    mask = None if q == 1 else causal_mask(q, t + q, offset=t, device=inputs.device)
    return x, mask


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
