"""From token ids to vectors: the embedding with its positions, and the mask of the padding."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .._checks import check_count, shape
from ..masks import length_mask
from .config import TransformerConfig


class TokenEmbedding(nn.Module):
    """Embed tokens, add their positions, drop out.

    Shapes: ids (b, n) -> (b, n, d), row 0 standing at `offset`.

    The matrix begins with variance 1 / d_model, so that the product with sqrt(d_model) has unit
    variance, beside which sinusoids (mean square 1/2) and learned positions are heard. A matrix
    of unit variance times sqrt(d_model) would drown them; and the smaller one can also be the
    output layer's, whose logits it gives unit variance.

    Source: Vaswani et al. 2017, sections 3.4 (scale, shared matrix), 3.5 and 5.4 (dropout).
    """

    def __init__(self, vocab_size: int, config: TransformerConfig):
        super().__init__()
        check_count("vocab_size", vocab_size, least=1)
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        self.positions = config.absolute_positions()
        self.scale = math.sqrt(config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, *, offset: int = 0) -> Tensor:
        x = self.tokens(ids) * self.scale  # (b, n) -> (b, n, d)
        if self.positions is not None:
            x = self.positions(x, offset=offset)
        return self.dropout(x)


def check_ids(name: str, ids: Tensor) -> None:
    """Raise unless `ids` are token ids (b, n) of an integer type."""
    if not isinstance(ids, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(ids).__name__}")
    if ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be token ids, int64 or int32, got {ids.dtype}")
    if ids.dim() != 2:
        raise ValueError(f"{name} must be (b, n), got shape {shape(ids)}")


def padding_mask(ids: Tensor, lengths: Tensor | None) -> Tensor | None:
    """True at the first `lengths` (b,) of the ids (b, n) of each row: (b, 1, n).

    None where there is no padding: masks cost time.

    Raises:
        ValueError: there is not one length for each row, or one is negative or above n.
    """
    if lengths is None:
        return None
    b, n = ids.shape
    if torch.compiler.is_compiling():  # lengths have no values yet that could be looked at
        return (torch.arange(n, device=ids.device) < lengths.unsqueeze(1)).unsqueeze(1)
    lengths = torch.as_tensor(lengths, device=ids.device)
    if tuple(lengths.shape) != (b,):
        raise ValueError(f"lengths must be ({b},), one for each row, got {shape(lengths)}")
    mask = length_mask(lengths, n)
    shortest, longest = (int(x) for x in lengths.aminmax()) if b else (n, n)
    if longest > n:
        raise ValueError(f"lengths must be at most {n}, the ids of a row, got {longest}")
    return None if shortest == n else mask
