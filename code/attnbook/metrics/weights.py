"""What weights say of themselves, and the two models of alignment that know no words."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from .._checks import align_mask, check_count, check_floating
from ..normalize import _wide


def weight_entropy(
    weights: Tensor, mask: Tensor | None = None, *, normalize: bool = False
) -> Tensor:
    """Entropy of each row of weights, in nats: 0 for one key, log k for an even spread.

    Args:
        weights: (..., q, k), each row summing to one, or all zero where nothing may be attended.
        mask: boolean, True = may attend: (q, k), (b, q, k) or (b, h, q, k), or None. What stands
            in masked places, NaN too, does not matter.
        normalize: divide by the log of the number of keys that the row may attend to, so that
            rows of different lengths compare; a row with one such key or none gives 0.

    Returns:
        (..., q); a row of zeros gives 0.

    Raises:
        TypeError: weights are not floating point, or the mask is not boolean.
        ValueError: weights have fewer than two axes, or the mask does not fit them.

    Source: Shannon 1948, section 6; Ghader and Monz 2017 for attention.
    """
    check_floating("weights", weights)
    if weights.dim() < 2:
        raise ValueError(f"weights must be (..., q, k), got shape {tuple(weights.shape)}")
    dtype, weights = weights.dtype, _wide(weights)  # half precision cannot count the keys
    allowed = torch.full_like(weights[..., 0], weights.shape[-1])  # (..., q)
    if mask is not None:
        mask = align_mask(mask, tuple(weights.shape))
        weights = torch.where(mask, weights, 0.0)
        allowed = mask.expand_as(weights).sum(-1).to(weights.dtype)  # (..., q, k) -> (..., q)
    entropy = torch.special.entr(weights).sum(-1)  # (..., q, k) -> (..., q); 0 log 0 is 0
    if normalize:
        entropy = torch.where(allowed > 1, entropy / allowed.clamp(min=2).log(), 0.0)
    return entropy.to(dtype)


def uniform_weights(q_len: int, k_len: int) -> Tensor:
    """Weights (q, k) of a model that looks everywhere alike: 1 / k.

    Raises:
        ValueError: a length is below 1.
    """
    q_len, k_len = check_count("q_len", q_len, least=1), check_count("k_len", k_len, least=1)
    return torch.full((q_len, k_len), 1 / k_len)


def diagonal_weights(q_len: int, k_len: int) -> Tensor:
    """Weights (q, k) of a model that translates word for word: one key a row, corner to corner.

    Query i looks at key i (k - 1) / (q - 1), rounded, halves to even; a single query at key 0.

    Raises:
        ValueError: a length is below 1.
    """
    q_len, k_len = check_count("q_len", q_len, least=1), check_count("k_len", k_len, least=1)
    places = torch.arange(q_len, dtype=torch.float64) * (k_len - 1) / max(q_len - 1, 1)  # (q,)
    return F.one_hot(places.round().long(), k_len).float()  # (q,) -> (q, k)
