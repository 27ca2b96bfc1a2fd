"""Cells of recurrent layers, one step at a time, and what maps their states.

One step of a layer starts from gates whose input share is already there: a decoder that knows part
of its input beforehand (the target's embeddings, when teacher-forced) projects that part for all
steps at once; torch's own cells would project it step by step. The order of gates is torch's.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}


def gru_step(gates: Tensor, hidden: tuple[Tensor], weight: Tensor, bias: Tensor) -> tuple[Tensor]:
    """The next (h,) of a GRU layer.

    Shapes: gates W_ih x + b_ih (b, 3 d), h (b, d), weight W_hh (3 d, d), bias b_hh (3 d,).

    Source: Cho et al. 2014, section 2.3, with the reset gate after the product as in `nn.GRU`.
    """
    (h,) = hidden
    sizes = (2 * h.shape[-1], h.shape[-1])  # reset and update together, then the new state
    x_rz, x_n = gates.split_with_sizes(sizes, dim=-1)
    h_rz, h_n = F.linear(h, weight, bias).split_with_sizes(sizes, dim=-1)
    reset, update = (x_rz + h_rz).sigmoid_().chunk(2, dim=-1)
    new = x_n.addcmul(reset, h_n).tanh_()
    return (new.lerp(h, update),)  # (1 - update) new + update h


def lstm_step(
    gates: Tensor, hidden: tuple[Tensor, Tensor], weight: Tensor, bias: Tensor
) -> tuple[Tensor, Tensor]:
    """The next (h, c) of an LSTM layer.

    Shapes: gates W_ih x + b_ih (b, 4 d), h and c (b, d), weight W_hh (4 d, d), bias b_hh (4 d,).

    Source: Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000.
    """
    h, c = hidden
    take, forget, new, give = (gates + F.linear(h, weight, bias)).chunk(4, dim=-1)
    c = forget.sigmoid() * c + take.sigmoid() * new.tanh()
    return give.sigmoid() * c.tanh(), c


STEPS = {"gru": gru_step, "lstm": lstm_step}


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
