"""What the models pass on: values, never changed in place."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Encoding(NamedTuple):
    """What an encoder makes of a source.

    `outputs` (b, k, d): its state at each token, zero at padding. `hidden`: its last states, each
    (b, l, d): one for a GRU, two (h and c) for an LSTM. `mask` (b, 1, k): True at tokens.
    """

    outputs: Tensor
    hidden: tuple[Tensor, ...]
    mask: Tensor


class Memory(NamedTuple):
    """What attention may look at: depends on the source alone, and is made once for it.

    `outputs` (b, k, d): the values, the encoder's states. `keys` (b, k, d_k): the values as the
    score has projected them, or the values themselves. `mask` (b, 1, k): True at tokens.
    `closed` (b, 1, k): what no weight may pass, padding; but a source of length 0 stays open, for
    its values are zeros anyway.
    """

    outputs: Tensor
    keys: Tensor
    mask: Tensor
    closed: Tensor


class RecurrentState(NamedTuple):
    """Where a decoder stands after the target tokens it has read.

    `hidden`: (h,) of a GRU or (h, c) of an LSTM, each (b, l, d). `context` (b, d): what the last
    step read of the source: the last context of attention (zeros before the first step), or the
    fixed vector of the decoder without. `memory`: None without attention.
    """

    hidden: tuple[Tensor, ...]
    context: Tensor
    memory: Memory | None


class Output(NamedTuple):
    """What a model answers: `logits` (b, q, vocabulary), `weights` (b, q, k) or None, `state`."""

    logits: Tensor
    weights: Tensor | None
    state: RecurrentState
