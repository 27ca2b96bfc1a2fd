"""Models over token ids: an encoder, a classifier, a translator, a language model."""

from __future__ import annotations

from torch import Tensor, nn

from .._checks import check_count, shape
from .config import TransformerConfig
from .embedding import TokenEmbedding, check_ids, padding_mask
from .stacks import DecoderStack, EncoderStack, future_mask, no_past
from .states import (
    Classified,
    Encoding,
    LanguageState,
    Output,
    TransformerState,
    TransformerWeights,
)

TIES = ("none", "output", "all")


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
        self.stack = EncoderStack(self.config)

    def forward(
        self, source: Tensor, source_lens: Tensor | None = None, *, need_weights: bool = False
    ) -> Encoding:
        check_ids("source", source)
        mask = padding_mask(source, source_lens)
        if mask is not None:
            source = source.masked_fill(~mask.squeeze(1), 0)  # any id may stand at padding
        stacked = self.stack(self.embedding(source), mask=mask, need_weights=need_weights)
        return Encoding(stacked.x, mask, stacked.weights)


class Classifier(nn.Module):
    """Give a sequence to one of `num_classes`, from the mean of its tokens or from the first.

    Shapes: source (b, k), source_lens (b,) -> logits (b, classes). Arguments as in `Encoder`.
    The mean of no tokens is zero.

    Source: first token: Devlin et al. 2019, section 3.2.
    """

    def __init__(self, vocab_size: int, num_classes: int, *, pool: str = "mean", **options):
        super().__init__()
        if pool not in ("mean", "first"):
            raise ValueError(f"pool must be 'mean' or 'first', got {pool!r}")
        self.pool = pool
        self.encoder = Encoder(vocab_size, **options)
        d_model = self.encoder.config.d_model
        self.output = nn.Linear(d_model, check_count("num_classes", num_classes, least=1))

    def forward(
        self, source: Tensor, source_lens: Tensor | None = None, *, need_weights: bool = False
    ) -> Classified:
        x, mask, weights = self.encoder(source, source_lens, need_weights=need_weights)
        if self.pool == "first":
            pooled = x[:, 0]
        elif mask is None:
            pooled = x.mean(dim=1)
        else:
            kept = mask.mT.to(x.dtype)  # (b, k, 1)
            pooled = (x * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1)  # (b, k, d) -> (b, d)
        return Classified(self.output(pooled), weights)


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
        _check_tie(tie, TIES)
        if tie == "all" and source_size != target_size:
            raise ValueError(
                f"tie='all' needs one vocabulary, got sizes {source_size} and {target_size}"
            )
        self.encoder = Encoder(source_size, **options)
        self.config = self.encoder.config
        self.embedding = TokenEmbedding(target_size, self.config)
        if tie == "all":
            self.embedding.tokens = self.encoder.embedding.tokens
        self.stack = DecoderStack(self.config)
        self.output = _output_layer(self.embedding, tied=tie != "none")

    def start(self, source: Tensor, source_lens: Tensor | None = None) -> TransformerState:
        """Read sources (b, k), of which the first `source_lens` (b,) ids of each row count."""
        return self.begin(self.encoder(source, source_lens))

    def begin(self, encoding: Encoding) -> TransformerState:
        """The state before the first target token, from what an encoder has read."""
        memory = self.stack.project(encoding.outputs)
        return TransformerState(no_past(self.stack, encoding.outputs), memory, encoding.mask)

    def step(self, inputs: Tensor, state: TransformerState, need_weights: bool = False) -> Output:
        """Read target ids (b, q), one or many: logits for the token after each."""
        output, _ = self._step(inputs, state, need_weights)
        return output

    def forward(
        self,
        source: Tensor,
        source_lens: Tensor | None,
        inputs: Tensor,
        target_lens: Tensor | None = None,
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
        _check_inputs(inputs, state.past)
        x = self.embedding(inputs, offset=state.past[0].keys.shape[2])
        x, past, own, cross = self.stack(
            x, state.memory, memory_mask=state.mask, past=state.past, need_weights=need_weights
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
        _check_tie(tie, TIES[:2])
        self.config = TransformerConfig(**options)
        self.embedding = TokenEmbedding(vocab_size, self.config)
        self.stack = EncoderStack(self.config)
        self.output = _output_layer(self.embedding, tied=tie == "output")

    def start(self, source: Tensor, source_lens: Tensor | None = None) -> LanguageState:
        """Read prompts (b, k), k = 0 for none. They must have one length: a cache has no gaps."""
        check_ids("source", source)
        if source_lens is not None and bool((source_lens != source.shape[1]).any()):
            raise ValueError(
                f"source_lens must all be {source.shape[1]}, the length of the prompts: "
                "batch prompts of one length"
            )
        state = LanguageState(no_past(self.stack, source))
        return self._read(source, state).state if source.shape[1] else state

    def step(self, inputs: Tensor, state: LanguageState, need_weights: bool = False) -> Output:
        """Read ids (b, q), one or many: logits for the token after each."""
        read = self._read(inputs, state, need_weights)
        return read._replace(logits=self.output(read.logits))

    def forward(
        self,
        source: Tensor | None,
        source_lens: Tensor | None,
        inputs: Tensor,
        target_lens: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> Output:
        """Teacher forcing after a prompt, or after none (source None)."""
        source = inputs[:, :0] if source is None else source
        return self.step(inputs, self.start(source, source_lens), need_weights)

    def _read(self, inputs: Tensor, state: LanguageState, need_weights: bool = False) -> Output:
        """A step that stops before the output layer, which a prompt does not need."""
        _check_inputs(inputs, state.past)
        x = self.embedding(inputs, offset=state.past[0].keys.shape[2])
        mask = future_mask(x, state.past)
        x, past, weights, _ = self.stack(x, mask=mask, past=state.past, need_weights=need_weights)
        return Output(x, weights, LanguageState(past))


def _output_layer(embedding: TokenEmbedding, *, tied: bool) -> nn.Linear:
    """From features to logits, (b, q, d) -> (b, q, vocabulary)."""
    vocab_size, d_model = embedding.tokens.weight.shape
    layer = nn.Linear(d_model, vocab_size, bias=False)
    nn.init.normal_(layer.weight, std=d_model**-0.5)
    if tied:
        layer.weight = embedding.tokens.weight
    return layer


def _check_tie(tie: str, choices: tuple[str, ...]) -> None:
    if tie not in choices:
        raise ValueError(f"tie must be one of {choices}, got {tie!r}")


def _check_inputs(inputs: Tensor, past) -> None:
    check_ids("inputs", inputs)
    if inputs.shape[0] != past[0].keys.shape[0]:
        raise ValueError(
            f"inputs must have a row for each of the {past[0].keys.shape[0]} of the state, "
            f"got shape {shape(inputs)}"
        )
