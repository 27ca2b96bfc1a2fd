"""One step of a GRU or an LSTM layer, from gates whose input share is already there.

A decoder whose input is partly known beforehand (the target's embeddings, when teacher-forced)
projects that part for all steps at once; torch's own cells would project it step by step.
The order of the gates in the parameters is torch's.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


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
