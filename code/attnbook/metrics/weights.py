"""Two models of alignment that know no words."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from .._checks import check_sizes


def uniform_weights(q_len: int, k_len: int) -> Tensor:
    """Weights (q, k) of a model that looks everywhere alike: 1 / k.

    Raises:
        ValueError: a length is below 1.
    """
    q_len, k_len = check_sizes(q_len=q_len, k_len=k_len)
    return torch.full((q_len, k_len), 1 / k_len)


def diagonal_weights(q_len: int, k_len: int) -> Tensor:
    """Weights (q, k) of a model that translates word for word: one key a row, corner to corner.

    Query i looks at key i (k - 1) / (q - 1), rounded, halves to even; a single query at key 0.

    Raises:
        ValueError: a length is below 1.
    """
    q_len, k_len = check_sizes(q_len=q_len, k_len=k_len)
    places = torch.arange(q_len, dtype=torch.float64) * (k_len - 1) / max(q_len - 1, 1)  # (q,)
    return F.one_hot(places.round().long(), k_len).float()  # (q,) -> (q, k)
