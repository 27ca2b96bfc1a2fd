"""Attention: score, mask, normalise, pool."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from ._checks import align_mask, check_floating, check_probability, check_same_features, shape
from .normalize import _forward_mode, _masked_softmax_over, masked_softmax
from .scores import _scaled_dot_of_checked, scaled_dot


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    score: Callable[[Tensor, Tensor], Tensor] = scaled_dot,
    mask: Tensor | None = None,
    normalize: Callable[[Tensor, Tensor | None], Tensor] = masked_softmax,
    dropout: float = 0.0,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """Score each key, mask, normalise to weights, pool the values.

    Args:
        queries: (q, d_q), (b, q, d_q) or (b, h, q, d_q).
        keys: the same rank and batch axes, (..., k, d_k); `score` says which d_q and d_k fit.
        values: (..., k, d_v).
        score: callable (queries, keys) -> scores (..., q, k).
        mask: boolean, True = may attend: (q, k), (b, q, k) or (b, h, q, k), or None.
        normalize: callable (scores, mask) -> weights.
        dropout: probability of dropping a weight, applied whenever it is above 0, as in
            `F.scaled_dot_product_attention`: pass 0 in evaluation.
        need_weights: if False, the second result is None, and scaled dot products under a softmax
            take torch's fused implementation, which never holds the (q, k) weights.

    Returns:
        Output (..., q, d_v), and weights (..., q, k) before dropout, or None. A query that may
        attend to nothing gets zero weights and a zero output. Keys and values that no query may
        attend to, and queries that may attend to nothing, never matter, whatever they hold; a key
        or value that some query may attend to must be finite (0 x NaN is NaN), and under scaled
        dot products and a softmax their q . k must not overflow.

    Raises:
        TypeError: a tensor is not floating point or differs in dtype, the mask is not boolean.
        ValueError: shapes, mask rank or dropout do not fit, or the score has a wrong shape.

    Source: Vaswani et al. 2017, equation 1, with the score and the normaliser as arguments.
    """
    mask = _checked(queries, keys, values, mask, dropout)
    if mask is not None:
        queries, keys, values = _without_unused(queries, keys, values, mask)
    if score is scaled_dot and normalize is masked_softmax and not _forward_mode():
        check_same_features(queries, keys)
        if not need_weights:
            return _fused(queries, keys, values, mask, dropout), None
        scores, normalize = _scaled_dot_of_checked(queries, keys), _masked_softmax_over
    else:
        scores = _checked_scores(score(queries, keys), queries, keys)  # (..., q, k)
    weights = normalize(scores, mask)  # (..., q, k)
    kept = F.dropout(weights, dropout) if dropout else weights
    output = kept @ values  # (..., q, k) @ (..., k, d_v) -> (..., q, d_v)
    return output, weights if need_weights else None


def _without_unused(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Zeros for queries that see nothing, and for keys and values that nobody sees.

    0 x NaN is NaN, forward and backward, so a weight of zero alone keeps nothing out.
    """
    active = mask.any(dim=-1, keepdim=True)  # (..., q, 1): sees some key
    seen = mask.any(dim=-2).unsqueeze(-1)  # (..., k, 1): by some query
    return _keep(queries, active), _keep(keys, seen), _keep(values, seen)


def _keep(tensor: Tensor, places: Tensor) -> Tensor:
    """A new tensor: `tensor` at `places`, zeros elsewhere, whatever stood there, NaN included."""
    return torch.where(places, tensor, 0.0)


def _fused(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
) -> Tensor:
    """The same output from torch's fused implementation, which wants four axes."""
    axes = queries.dim()
    if axes < 4:
        queries, keys, values = (_with_heads(x) for x in (queries, keys, values))
    if mask is not None:
        mask = _with_heads(mask)  # (b, h, q, k)
        active = mask.any(dim=-1, keepdim=True)  # (b, h, q, 1)
        # kernels differ on rows with nothing allowed: open them, then blank their outputs
        mask = mask | ~active
    output = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, dropout_p=dropout
    )
    if mask is not None and active.shape[-2] > 1:
        output = _keep(output, active)  # where one row serves all queries, its values are zero
    return output.flatten(0, 4 - axes) if axes < 4 else output


def _with_heads(tensor: Tensor) -> Tensor:
    """(q, x) -> (1, 1, q, x), (b, q, x) -> (b, 1, q, x); four axes stay."""
    while tensor.dim() < 4:
        tensor = tensor.unsqueeze(0 if tensor.dim() == 2 else 1)
    return tensor


def _checked(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
) -> Tensor | None:
    """The mask, aligned with scores (..., q, k), or raise: whatever enters is looked at here."""
    for name, tensor in (("queries", queries), ("keys", keys), ("values", values)):
        check_floating(name, tensor)
        if tensor.dtype != queries.dtype:
            raise TypeError(
                f"{name} must have the dtype of queries, {queries.dtype}, got {tensor.dtype}"
            )
    if not 2 <= queries.dim() <= 4:
        raise ValueError(
            f"queries must be (q, d), (b, q, d) or (b, h, q, d), got shape {shape(queries)}"
        )
    if keys.shape[:-2] != queries.shape[:-2] or keys.dim() != queries.dim():
        raise ValueError(
            f"keys must have the batch axes of queries, {tuple(queries.shape[:-2])}, "
            f"and one axis of keys and one of features; got shape {shape(keys)}"
        )
    if values.shape[:-1] != keys.shape[:-1]:
        raise ValueError(
            f"values must be {(*keys.shape[:-1], 'd_v')}, one value for each key; "
            f"got shape {shape(values)}"
        )
    check_probability("dropout", dropout)
    return None if mask is None else align_mask(mask, _target(queries, keys))


def _checked_scores(scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    target = _target(queries, keys)
    if tuple(scores.shape) != target:
        raise ValueError(f"score must give {target}, (..., q, k), got {shape(scores)}")
    return scores


def _target(queries: Tensor, keys: Tensor) -> tuple[int, ...]:
    return (*queries.shape[:-1], keys.shape[-2])  # (..., q, k)
