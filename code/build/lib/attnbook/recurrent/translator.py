"""Encoder and decoder as one model."""

from __future__ import annotations

from torch import Tensor, nn

from .._checks import check_choice, check_count
from .decoders import AttentionDecoder, PlainDecoder, Score
from .encoder import RecurrentEncoder
from .states import Output, RecurrentState


class RecurrentTranslator(nn.Module):
    """Translate: an encoder, and a decoder that starts from what the encoder has read.

    Raises:
        ValueError: encoder and decoder differ in cell or layers, or do not fit in size.
    """

    def __init__(self, encoder: RecurrentEncoder, decoder: PlainDecoder | AttentionDecoder):
        super().__init__()
        for name, theirs in (
            ("cell", decoder.cell),
            ("num_layers", decoder.num_layers),
            ("output_size", decoder.encoder_size),
        ):
            if getattr(encoder, name) != theirs:
                raise ValueError(
                    f"encoder must have the {name} that the decoder expects, {theirs!r}, "
                    f"got {getattr(encoder, name)!r}"
                )
        self.encoder, self.decoder = encoder, decoder

    def start(self, source: Tensor, source_lens: Tensor) -> RecurrentState:
        """Read sources (b, k), of which the first `source_lens` (b,) ids of each row count."""
        return self.decoder.start(self.encoder(source, source_lens))

    def step(self, inputs: Tensor, state: RecurrentState, need_weights: bool = False) -> Output:
        """Read target ids (b, q), one or many: logits for the token after each."""
        return self.decoder(inputs, state, need_weights=need_weights)

    def forward(
        self,
        source: Tensor,
        source_lens: Tensor,
        inputs: Tensor,
        target_lens: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> Output:
        """Teacher forcing: logits (b, q, vocabulary) after each of the target ids (b, q).

        A position sees no later one, so that padding at the end of a target needs no lengths:
        `target_lens` is taken for models that want it, and not used.
        """
        return self.step(inputs, self.start(source, source_lens), need_weights)


def recurrent_translator(
    source_size: int,
    target_size: int,
    *,
    attention: str | None = None,
    score: str | Score = "additive",
    score_size: int | None = None,
    cell: str = "gru",
    embed_size: int = 64,
    hidden_size: int = 128,
    num_layers: int = 1,
    bidirectional: bool = True,
    dropout: float = 0.0,
) -> RecurrentTranslator:
    """A translator whose encoder gives as many features as its decoder has.

    Args:
        source_size, target_size: sizes of the two vocabularies.
        attention: None for `PlainDecoder`; "before" or "after", the query of `AttentionDecoder`.
        score, score_size: as in `AttentionDecoder`; not used without attention.
        hidden_size: of the decoder; the encoder has half of it in each direction, or all of it
            in its only one.
        cell, embed_size, num_layers, dropout: of both.
        bidirectional: whether the encoder reads from both ends.
    """
    check_choice("attention", attention, (None, "before", "after"))
    if bidirectional and check_count("hidden_size", hidden_size, least=1) % 2:
        raise ValueError(f"hidden_size must be even for two directions, got {hidden_size}")
    shared = {"cell": cell, "num_layers": num_layers, "dropout": dropout}
    encoder = RecurrentEncoder(
        source_size,
        embed_size,
        hidden_size // (1 + bidirectional),
        bidirectional=bidirectional,
        **shared,
    )
    shared["encoder_size"] = encoder.output_size
    if attention is None:
        decoder = PlainDecoder(target_size, embed_size, hidden_size, **shared)
    else:
        decoder = AttentionDecoder(
            target_size,
            embed_size,
            hidden_size,
            score=score,
            score_size=score_size,
            query=attention,
            **shared,
        )
    return RecurrentTranslator(encoder, decoder)
