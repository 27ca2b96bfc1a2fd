"""What every recurrent decoder has: embedding, first state, recurrent layers, output layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .._checks import check_choice, check_count, check_ids, check_probability, shape
from .encoder import CELLS, look_up
from .states import Encoding, RecurrentState


class Bridge(nn.Module):
    """The decoder's first state from the encoder's last, layer by layer: tanh(W h + b).

    An LSTM's cell state, which has no bounds, gets W c + b of its own.

    Shapes: each (b, l, input_size) -> (b, l, hidden_size).

    Source: Bahdanau et al. 2015, appendix A.2.2; both directions instead of the backward one.
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int, cell: str):
        super().__init__()
        parts = 2 if cell == "lstm" else 1
        self.maps = nn.ModuleList(
            nn.Linear(input_size, hidden_size) for _ in range(parts * num_layers)
        )

    def forward(self, hidden: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        maps = iter(self.maps)
        moved = [torch.stack([next(maps)(x) for x in part.unbind(1)], dim=1) for part in hidden]
        return (moved[0].tanh(), *moved[1:])


class Decoder(nn.Module):
    """What the decoders share: embedding, recurrent layers, first state, output layer."""

    def __init__(
        self,
        vocab_size: int,
        embed_size: int,
        hidden_size: int,
        *,
        encoder_size: int,
        context_size: int,
        readout_size: int,
        cell: str,
        num_layers: int,
        bridge: bool,
        dropout: float,
    ):
        super().__init__()
        self.vocab_size = check_count("vocab_size", vocab_size, least=1)
        self.hidden_size = check_count("hidden_size", hidden_size, least=1)
        self.encoder_size = check_count("encoder_size", encoder_size, least=1)
        self.cell = check_choice("cell", cell, CELLS)
        self.num_layers = check_count("num_layers", num_layers, least=1)
        if not bridge and encoder_size != hidden_size:
            raise ValueError(
                "bridge=False hands the encoder's last state on as it is: encoder_size must equal "
                f"hidden_size, got {encoder_size} and {hidden_size}"
            )
        self.bridge = Bridge(encoder_size, hidden_size, num_layers, cell) if bridge else None
        self.embedding = nn.Embedding(vocab_size, check_count("embed_size", embed_size, 1), 0)
        self.dropout = nn.Dropout(check_probability("dropout", dropout))
        self.rnn = CELLS[cell](
            embed_size + context_size,
            hidden_size,
            num_layers,
            batch_first=True,
            dropout=dropout if num_layers > 1 else 0.0,
        )
        self.output = nn.Linear(readout_size, vocab_size)

    def first_hidden(self, encoding: Encoding) -> tuple[Tensor, ...]:
        """The hidden state before the first token, each (b, l, d)."""
        wanted = (2 if self.cell == "lstm" else 1, self.num_layers, self.encoder_size)
        got = (len(encoding.hidden), *encoding.hidden[0].shape[1:])
        if got != wanted:
            raise ValueError(
                "encoding must come from an encoder with this decoder's cell and num_layers, and "
                f"output_size {self.encoder_size}: (states, layers, features) must be {wanted}, "
                f"got {got}"
            )
        return self.bridge(encoding.hidden) if self.bridge else encoding.hidden

    def embed(self, inputs: Tensor, state: RecurrentState) -> Tensor:
        """Embeddings (b, q, e) of ids (b, q)."""
        check_ids("inputs", inputs)
        if len(inputs) != len(state.context):
            raise ValueError(
                f"inputs must have the {len(state.context)} rows of the state, "
                f"got shape {shape(inputs)}"
            )
        embedded = look_up(self.embedding, "inputs", inputs)
        return self.dropout(embedded) if self.training else embedded

    def run(self, x: Tensor, hidden: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """All steps in one call of torch's kernel: (b, q, ...) -> states (b, q, d), and last."""
        first = tuple(h.transpose(0, 1).contiguous() for h in hidden)  # (b, l, d) -> (l, b, d)
        top, last = self.rnn(x, first if self.cell == "lstm" else first[0])
        last = last if isinstance(last, tuple) else (last,)
        return top, tuple(h.transpose(0, 1) for h in last)
