"""The recurrent encoder, and what it shares with the decoders of `recurrent`.

Shape letters: `b` batch, `k` source tokens, `d` features, `l` layers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ._checks import (
    check_choice,
    check_ids,
    check_lengths,
    check_probability,
    check_sizes,
    look_up,
)
from .cells import CELLS
from .masks import length_mask


class Encoding(NamedTuple):
    """What an encoder makes of a source.

    `outputs` (b, k, d): its state at each token, zero at padding. `hidden`: its last states, each
    (b, l, d): one for a GRU, two (h and c) for an LSTM. `mask` (b, 1, k): True at tokens.
    """

    outputs: Tensor
    hidden: tuple[Tensor, ...]
    mask: Tensor


class Reader(nn.Module):
    """What encoder and decoders share: embeddings of tokens and recurrent layers that read them.

    In two moves, so that a decoder's bridge comes before both.
    """

    def __init__(self, vocab_size: int, hidden_size: int, *, cell: str, num_layers: int):
        super().__init__()
        sizes = {"vocab_size": vocab_size, "hidden_size": hidden_size, "num_layers": num_layers}
        self.vocab_size, self.hidden_size, self.num_layers = check_sizes(**sizes)
        self.cell = check_choice("cell", cell, CELLS)

    def make_layers(
        self, embed_size: int, dropout: float, *, beside: int = 0, bidirectional: bool = False
    ) -> None:
        """Layers that read an embedding and `beside` further features."""
        check_sizes(embed_size=embed_size)
        self.embedding = nn.Embedding(self.vocab_size, embed_size, padding_idx=0)
        self.dropout = nn.Dropout(check_probability("dropout", dropout))
        between = dropout if self.num_layers > 1 else 0.0  # torch warns of one that has no place
        self.rnn = CELLS[self.cell](
            embed_size + beside,
            self.hidden_size,
            self.num_layers,
            dropout=between,
            batch_first=True,
            bidirectional=bidirectional,
        )


class RecurrentEncoder(Reader):
    """Read a source in one or both directions with a GRU or an LSTM.

    Args:
        vocab_size: token ids run from 0 to `vocab_size` - 1; 0 is padding.
        embed_size: features of a token's embedding.
        hidden_size: features of a state, in each direction, as in `nn.GRU`.
        cell: "gru" or "lstm".
        num_layers: recurrent layers.
        bidirectional: read from both ends; `output_size` is then twice `hidden_size`.
        dropout: probability on embeddings and between layers, in training only.

    Source: Bahdanau et al. 2015, section 3.2 and appendix A.2.1.
    """

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        cell: str = "gru",
        num_layers: int = 1,
        bidirectional: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__(vocab_size, hidden_size, cell=cell, num_layers=num_layers)
        self.output_size = hidden_size * (1 + bidirectional)
        self.make_layers(embed_size, dropout, bidirectional=bidirectional)

    def forward(self, source: Tensor, source_lens: Tensor) -> Encoding:
        """Encode ids (b, k) of which the first `source_lens` (b,) of each row count.

        What stands at padding never matters, ids outside the vocabulary included. A source of
        length 0 has zero states.

        Raises:
            TypeError: ids or lengths are not integers.
            ValueError: shapes do not fit, an id is outside the vocabulary, a length above k.
        """
        check_ids("source", source)
        lengths = check_lengths("source_lens", source_lens, source)
        (b, k), shortest = source.shape, int(lengths.min())
        if shortest == k:  # packing would cost time and change nothing
            mask = torch.ones(b, 1, k, dtype=torch.bool, device=source.device)
            outputs, last = self.rnn(self.dropout(look_up(self.embedding, "source", source)))
        else:
            mask = length_mask(lengths.to(source.device), k)  # (b, 1, k)
            source = source.masked_fill(~mask.squeeze(1), 0)
            packed = pack_padded_sequence(
                self.dropout(look_up(self.embedding, "source", source)),  # (b, k) -> (b, k, e)
                lengths.clamp(min=1),
                batch_first=True,
                enforce_sorted=False,
            )  # so that the backward direction begins at each row's own end
            outputs, last = self.rnn(packed)
            outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=k)
        last = last if isinstance(last, tuple) else (last,)
        # (l x directions, b, d) -> (b, l, directions x d)
        hidden = tuple(
            h.unflatten(0, (self.num_layers, -1)).permute(2, 0, 1, 3).flatten(2) for h in last
        )
        if shortest == 0:
            something = mask.any(dim=-1, keepdim=True)  # (b, 1, 1)
            outputs = torch.where(something, outputs, 0.0)
            hidden = tuple(torch.where(something, h, 0.0) for h in hidden)
        return Encoding(outputs, hidden, mask)


def encoder_for(
    hidden_size: int, vocab_size: int, embed_size: int, bidirectional: bool = True, **options
) -> RecurrentEncoder:
    """An encoder that gives as many features as a decoder of `hidden_size` has."""
    check_sizes(hidden_size=hidden_size)
    if bidirectional and hidden_size % 2:
        raise ValueError(f"hidden_size must be even for two directions, got {hidden_size}")
    half = hidden_size // (1 + bidirectional)
    return RecurrentEncoder(vocab_size, embed_size, half, bidirectional=bidirectional, **options)
