"""The encoder: one state for each token of the source."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from .._checks import check_choice, check_count, check_ids, check_lengths, check_probability
from ..masks import length_mask
from .states import Encoding

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}


class RecurrentEncoder(nn.Module):
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
        super().__init__()
        self.vocab_size = check_count("vocab_size", vocab_size, least=1)
        self.cell = check_choice("cell", cell, CELLS)
        self.num_layers = check_count("num_layers", num_layers, least=1)
        self.output_size = check_count("hidden_size", hidden_size, least=1) * (1 + bidirectional)
        self.embedding = nn.Embedding(vocab_size, check_count("embed_size", embed_size, 1), 0)
        self.dropout = nn.Dropout(check_probability("dropout", dropout))
        self.rnn = CELLS[cell](
            embed_size,
            hidden_size,
            num_layers,
            batch_first=True,
            bidirectional=bidirectional,
            dropout=dropout if num_layers > 1 else 0.0,
        )

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
            outputs, last = self.rnn(self._embed(source))
        else:
            mask = length_mask(lengths.to(source.device), k)  # (b, 1, k)
            packed = pack_padded_sequence(
                self._embed(source.masked_fill(~mask.squeeze(1), 0)),
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

    def _embed(self, source: Tensor) -> Tensor:
        """(b, k) -> (b, k, e)."""
        embedded = look_up(self.embedding, "source", source)
        return self.dropout(embedded) if self.training else embedded


def look_up(embedding: nn.Embedding, name: str, ids: Tensor) -> Tensor:
    """Embeddings of ids, with an error that names them: looked up first, and checked after."""
    try:
        return embedding(ids)
    except IndexError:
        check_ids(name, ids, embedding.num_embeddings)
        raise
