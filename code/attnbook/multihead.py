"""Many heads: attention several times side by side, each head in a subspace of its own.

Shape letters: `b` batch, `h` heads, `g` heads that share one key-value head, `q` queries, `k`
keys, `d` features of one head (d_model / h).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ._cache import KeyValues
from ._checks import align_mask, check_count, check_floating, check_probability, check_sizes, shape
from .attention import attention
from .normalize import masked_softmax
from .positions import AlibiPositions, RotaryPositions
from .scores import scaled_dot


class Attended(NamedTuple):
    """What attention returns: output (b, q, d_model), and weights (b, h, q, k) or None."""

    output: Tensor
    weights: Tensor | None


class MultiHeadAttention(nn.Module):
    """Project to heads, attend in each, join the heads.

    Shapes: queries (b, q, d_model), keys (b, k, key_size), values (b, k, value_size) -> output
    (b, q, d_model), weights (b, h, q, k). Keys are the queries if None, values the keys.

    Args:
        num_heads: any divisor of d_model; each head has d = d_model / num_heads features.
        key_size, value_size: features of keys and values where they differ from d_model.
        num_kv_heads: heads of keys and values, a divisor of num_heads: head i asks key-value head
            i // (num_heads / num_kv_heads). 1 is multi-query; None is as many as num_heads.
        dropout: probability of dropping a weight in training.
        bias: whether the four projections have one.
        positions: `RotaryPositions(d)`, `AlibiPositions(num_heads)` or None.
        normalize: callable (scores, mask) -> weights, as in `attention`.

    Raises:
        ValueError: a number of heads does not divide, `positions` does not fit, a shape is wrong.

    Source: Vaswani et al. 2017, section 3.2.2; shared key-value heads: Ainslie et al. 2023.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        key_size: int | None = None,
        value_size: int | None = None,
        num_kv_heads: int | None = None,
        dropout: float = 0.0,
        bias: bool = True,
        positions: RotaryPositions | AlibiPositions | None = None,
        normalize: Callable[[Tensor, Tensor | None], Tensor] = masked_softmax,
    ):
        super().__init__()
        (self.d_model,) = check_sizes(d_model=d_model)
        self.num_heads = _divisor("num_heads", num_heads, "d_model", d_model)
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.num_kv_heads = _divisor("num_kv_heads", num_kv_heads, "num_heads", num_heads)
        self.dropout = check_probability("dropout", dropout)
        if not callable(normalize):
            raise TypeError(f"normalize must be callable, got {type(normalize).__name__}")
        self.normalize = normalize
        d = d_model // num_heads
        self.positions = _check_positions(positions, num_heads, d)
        self.W_q = _linear(d_model, d_model, bias)
        key_size = d_model if key_size is None else key_size
        value_size = d_model if value_size is None else value_size
        check_sizes(key_size=key_size, value_size=value_size)
        self.W_k = _linear(key_size, num_kv_heads * d, bias)
        self.W_v = _linear(value_size, num_kv_heads * d, bias)
        self.W_o = _linear(d_model, d_model, bias)

    def project(self, keys: Tensor, values: Tensor | None = None, *, offset: int = 0) -> KeyValues:
        """Heads of keys (b, k, key_size) and values; the first key stands at `offset`."""
        values = keys if values is None else values
        _check_input("keys", keys, self.W_k.in_features)
        _check_input("values", values, self.W_v.in_features)
        return self._project_checked(keys, values, offset)

    def _project_checked(self, keys: Tensor, values: Tensor, offset: int) -> KeyValues:
        heads = _split(self.W_k(keys), self.num_kv_heads)  # (b, h_kv, k, d)
        return KeyValues(self._turn(heads, offset), _split(self.W_v(values), self.num_kv_heads))

    def attend(
        self,
        queries: Tensor,
        memory: KeyValues,
        *,
        mask: Tensor | None = None,
        head_mask: Tensor | None = None,
        offset: int = 0,
        need_weights: bool = False,
    ) -> Attended:
        """Attend from queries (b, q, d_model) to what `project` made.

        Args:
            mask: boolean, True = may attend: (q, k), (b, q, k) or (b, h, q, k), or None.
            head_mask: factor of each head's output, (h,) or (b, h): 0 takes a head out.
            offset: place of the first query.
            need_weights: if False, the fused implementation is used where it can be.
        """
        _check_input("queries", queries, self.d_model)
        return self._attend_checked(queries, memory, mask, head_mask, offset, need_weights)

    def _attend_checked(
        self, queries: Tensor, memory: KeyValues, mask, head_mask, offset: int, need_weights: bool
    ) -> Attended:
        heads = self._turn(_split(self.W_q(queries), self.num_heads), offset)  # (b, h, q, d)
        bias = None
        if isinstance(self.positions, AlibiPositions):
            bias = self.positions(heads.shape[2], memory.keys.shape[2], offset=offset)
        keys, values = (x.to(heads.dtype) for x in memory[:2])  # older than autocast, maybe
        pooled, weights = grouped_attention(
            heads,
            keys,
            values,
            bias=bias,
            mask=mask,
            normalize=self.normalize,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
        )
        if head_mask is not None:
            pooled = pooled * _check_head_mask(head_mask, pooled)[..., None, None]
        output = self.W_o(pooled.transpose(1, 2).flatten(2))  # (b, q, h, d) -> (b, q, d_model)
        return Attended(output, weights)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        head_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> Attended:
        keys = queries if keys is None else keys
        values = keys if values is None else values
        _check_input("queries", queries, self.d_model)
        _check_input("keys", keys, self.W_k.in_features)
        _check_input("values", values, self.W_v.in_features)
        memory = self._project_checked(keys, values, 0)
        return self._attend_checked(queries, memory, mask, head_mask, 0, need_weights)

    def _turn(self, heads: Tensor, offset: int) -> Tensor:
        rotary = isinstance(self.positions, RotaryPositions)
        return self.positions(heads, offset=offset) if rotary else heads


def grouped_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    normalize: Callable[[Tensor, Tensor | None], Tensor] = masked_softmax,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attend with more heads of queries than of keys: neighbouring heads share keys and values.

    Heads that share are laid end to end, as further queries of one head, so that no key is
    copied.

    Args:
        queries: (b, h, q, d).
        keys, values: (b, h_kv, k, d), h_kv a divisor of h.
        bias: (h, q, k), added to the scores, or None.
        mask, normalize, dropout, need_weights: as in `attention`, the mask against (b, h, q, k).

    Returns:
        Output (b, h, q, d), and weights (b, h, q, k) or None.

    Source: Ainslie et al. 2023 (GQA), section 2.2.
    """
    b, h, q, _ = queries.shape
    shared, k = keys.shape[1:3]
    if h != shared:  # (b, h, q, d) -> (b, h_kv, g q, d); a reshape would fix open sizes
        parts = (shared, h // shared)
        queries = queries.unflatten(1, parts).flatten(2, 3)
        if bias is not None:
            bias = torch.cat(bias.unflatten(0, parts).unbind(1), dim=1)  # (h_kv, g q, k)
        mask = mask if mask is None else _group_mask(mask, (b, h, q, k), shared)
    score, weigh = scaled_dot, normalize
    if bias is not None:  # half precision is joined with it in the precision of the bias
        score = partial(_biased_dot, bias=bias)

        def weigh(scores: Tensor, mask: Tensor | None) -> Tensor:
            return normalize(scores, mask).to(values.dtype)

    output, weights = attention(
        queries,
        keys,
        values,
        score=score,
        mask=mask,
        normalize=weigh,
        dropout=dropout,
        need_weights=need_weights,
    )
    if h != shared:
        output, weights = (
            x if x is None else x.unflatten(2, (h // shared, q)).flatten(1, 2)
            for x in (output, weights)
        )
    return output, weights


def _group_mask(mask: Tensor, target: tuple[int, ...], shared: int) -> Tensor:
    """A mask over (b, h, q, k) as one over (b, h_kv, g q, k)."""
    _, h, q, _ = target
    mask = align_mask(mask, target)
    mask = mask if mask.dim() == 4 else mask[None, None]
    heads, rows = mask.shape[1:3]
    if heads == 1 and rows == 1:
        return mask  # one row for all: so it stays
    if heads == 1:  # each of the g heads has the same rows: (b, 1, q, k) -> (b, 1, g q, k)
        return mask.expand(-1, -1, q, -1).repeat(1, 1, h // shared, 1)
    mask = mask.expand(-1, h, q, -1)
    return mask.unflatten(1, (shared, -1)).flatten(2, 3)  # (b, h_kv, g, q, k) -> (b, h_kv, g q, k)


def _biased_dot(queries: Tensor, keys: Tensor, *, bias: Tensor) -> Tensor:
    return scaled_dot(queries, keys) + bias


def _split(x: Tensor, heads: int) -> Tensor:
    """(b, n, h d) -> (b, h, n, d)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _linear(inputs: int, outputs: int, bias: bool) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(linear.weight)  # keeps the variance of features, and so of scores
    if bias:
        nn.init.zeros_(linear.bias)
    return linear


def _divisor(name: str, value: int, of: str, whole: int) -> int:
    value = check_count(name, value, least=1)
    if whole % value:
        raise ValueError(f"{name} must divide {of}, {whole}, got {value}")
    return value


def _check_positions(positions, num_heads: int, d: int):
    if not isinstance(positions, RotaryPositions | AlibiPositions | None):
        raise TypeError(
            "positions must be RotaryPositions, AlibiPositions or None (others are added to the "
            f"inputs), got {type(positions).__name__}"
        )
    if (got := getattr(positions, "d", d)) != d:
        raise ValueError(f"positions must turn d = {d} features of a head, not {got}")
    if (got := getattr(positions, "num_heads", num_heads)) != num_heads:
        raise ValueError(f"positions must have a slope for each of {num_heads} heads, not {got}")
    return positions


def _check_input(name: str, x: Tensor, size: int) -> None:
    check_floating(name, x)
    if x.dim() != 3 or x.shape[-1] != size:
        raise ValueError(f"{name} must be (b, n, {size}), got shape {shape(x)}")


def _check_head_mask(head_mask: Tensor, pooled: Tensor) -> Tensor:
    """`head_mask`, (h,) or (b, h), in the dtype of `pooled`, (b, h, q, d)."""
    if not isinstance(head_mask, Tensor):
        raise TypeError(f"head_mask must be a torch.Tensor, got {type(head_mask).__name__}")
    b, h = pooled.shape[:2]
    if tuple(head_mask.shape) not in ((h,), (b, h)):
        raise ValueError(f"head_mask must be {(h,)} or {(b, h)}, got shape {shape(head_mask)}")
    return head_mask.to(pooled.dtype)
