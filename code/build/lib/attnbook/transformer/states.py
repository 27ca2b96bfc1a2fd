"""What the models pass on: values, never changed in place."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from ..multihead import KeyValues


class Encoding(NamedTuple):
    """What an encoder makes of a source.

    `outputs` (b, k, d); `mask` (b, 1, k), True at tokens, or None where there is no padding;
    `weights` (b, l, h, k, k) or None.
    """

    outputs: Tensor
    mask: Tensor | None
    weights: Tensor | None


class Classified(NamedTuple):
    """What a classifier answers: `logits` (b, classes), `weights` (b, l, h, k, k) or None."""

    logits: Tensor
    weights: Tensor | None


class TransformerState(NamedTuple):
    """Where a decoder stands after the target tokens it has read.

    `past`: keys and values of those t tokens, for each layer, (b, h_kv, t, d). `memory`: keys and
    values of the source for each layer, (b, h_kv, k, d), projected once. `mask` (b, 1, k): True
    at source tokens, or None.
    """

    past: tuple[KeyValues, ...]
    memory: tuple[KeyValues, ...]
    mask: Tensor | None


class LanguageState(NamedTuple):
    """Where a language model stands: `past`, keys and values of what it has read, by layer."""

    past: tuple[KeyValues, ...]


class Output(NamedTuple):
    """What a model answers: `logits` (b, q, vocabulary), `weights` or None, `state`.

    `weights` of a `Transformer` look at the source, (b, l, h, q, k); those of a `LanguageModel`
    at the tokens so far, (b, l, h, q, t + q).
    """

    logits: Tensor
    weights: Tensor | None
    state: TransformerState | LanguageState


class TransformerWeights(NamedTuple):
    """All weights of one teacher-forced pass.

    `encoder` (b, l, h, k, k), `decoder` (b, l, h, q, q), `cross` (b, l, h, q, k).
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor
