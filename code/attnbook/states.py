"""A state that forgets: causal attention whose memory is one matrix, however long the text.

Each token adds the outer product of its key and its value to a state (d, d_v), and a query reads
the state by a product. A token may first let the state fade (`log_decay`), and `delta_rule` first
takes out what its key reads. Both functions compute all places together, by products of (n, n)
matrices; that they do what one step after the other does is tested. Give them chunks, each with
the state that the last one left, and a text of any length takes memory for one chunk.

Shape letters: `n` places, `d` features of queries and keys, `d_v` features of values.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ._checks import check_floating, shape

__all__ = ["Remembered", "delta_rule", "linear_attention"]


class Remembered(NamedTuple):
    """What the queries read, output (..., n, d_v), and the state afterwards, (..., d, d_v)."""

    output: Tensor
    state: Tensor


def linear_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    log_decay: Tensor | None = None,
    mask: Tensor | None = None,
    state: Tensor | None = None,
) -> Remembered:
    """Add every key's value to a state, and read it: S_t = exp(log_decay_t) S_{t-1} + k_t v_t^T.

    The output at t is q_t S_t: attention without a softmax. With keys and queries that are nowhere
    negative, and a last value of 1, the rest of the output divided by its last is a weighted mean.

    Args:
        queries, keys: (..., n, d).
        values: (..., n, d_v).
        log_decay: (..., n), finite and at most 0, by which the state fades before a token is added;
            None: it stays as it is.
        mask: boolean (..., n), True where a token is; others are not added, and let nothing fade.
        state: (..., d, d_v), what earlier tokens left; None: nothing.

    Raises:
        TypeError: a tensor is not floating point, the mask not boolean.
        ValueError: shapes do not fit, or a `log_decay` is above 0 or not finite.

    Source: Katharopoulos et al. 2020, equations 16 to 20; with decay: Sun et al. 2023 (RetNet),
    section 2.1, here with a decay for each token.
    """
    kept, since, until = _times(queries, keys, values, log_decay, mask, state)
    keys = keys if mask is None else keys * mask.unsqueeze(-1)
    output = (queries @ keys.mT * kept) @ values  # (..., n, n) @ (..., n, d_v)
    left = (keys * until.unsqueeze(-1)).mT @ values
    return _joined(output, left, queries, since, state)


def delta_rule(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    write: Tensor,
    *,
    log_decay: Tensor | None = None,
    mask: Tensor | None = None,
    state: Tensor | None = None,
) -> Remembered:
    """Move what a key reads towards its value: S_t = S' + write_t k_t (v_t - k_t S')^T.

    S' is the faded state, exp(log_decay_t) S_{t-1}. This is a step of gradient descent on the
    squared error of what the key reads. With keys of length 1 and `write` 1 it reads its value
    exactly afterwards. The output at t is q_t S_t.

    Args:
        queries, keys, values, log_decay, mask, state: as in `linear_attention`. Keys of length 1,
            or shorter, and `write` from 0 to 2 keep the state from growing on its own.
        write: (..., n), how far to move, 0: not at all.

    Raises:
        TypeError, ValueError: as in `linear_attention`.

    Source: Schlag, Irie and Schmidhuber 2021, section 4.2; all places together: Yang et al. 2024
    (DeltaNet), section 3; with decay: Yang, Kautz and Hatamizadeh 2025 (Gated DeltaNet),
    equation 10.
    """
    kept, since, until = _times(queries, keys, values, log_decay, mask, state)
    check_floating("write", write)
    if write.shape[-1:] != keys.shape[-2:-1]:
        raise ValueError(f"write must be (..., {keys.shape[-2]}), got {shape(write)}")
    write = (write if mask is None else write * mask).unsqueeze(-1)  # (..., n, 1)
    wanted = values
    if state is not None:
        wanted = values - since.unsqueeze(-1) * (keys @ state)
    # what is added at i depends on what was added before: (I + A) added = write * wanted
    read = (write * (keys @ keys.mT) * kept).tril(-1)
    one = torch.eye(keys.shape[-2], dtype=read.dtype, device=read.device)
    added = torch.linalg.solve_triangular(
        one + read, (write * wanted).to(read.dtype), upper=False, unitriangular=True
    )
    output = (queries @ keys.mT * kept) @ added
    left = (keys * until.unsqueeze(-1)).mT @ added
    return _joined(output, left, queries, since, state)


def _times(queries, keys, values, log_decay, mask, state) -> tuple[Tensor, Tensor, Tensor]:
    """What is left of j at i, (..., n, n), 0 where j > i; of the state at i; of j at the end."""
    for name, x in (("queries", queries), ("keys", keys), ("values", values)):
        check_floating(name, x)
        if x.dim() < 2:
            raise ValueError(f"{name} must be (..., n, features), got {shape(x)}")
    n, d = keys.shape[-2:]
    if queries.shape[-2:] != (n, d) or values.shape[-2] != n:
        raise ValueError(
            "queries and keys must be (..., n, d) and values (..., n, d_v), "
            f"got {shape(queries)}, {shape(keys)} and {shape(values)}"
        )
    if state is not None and state.shape[-2:] != (d, values.shape[-1]):
        raise ValueError(f"state must be (..., {d}, {values.shape[-1]}), got {shape(state)}")
    if mask is not None:
        if mask.dtype != torch.bool:
            raise TypeError(f"mask must be boolean, True = a token, got {mask.dtype}")
        if mask.shape[-1:] != (n,):
            raise ValueError(f"mask must be (..., {n}), got {shape(mask)}")
    if log_decay is None:
        log_decay = keys.new_zeros(n)
    check_floating("log_decay", log_decay)
    if log_decay.shape[-1:] != (n,):
        raise ValueError(f"log_decay must be (..., {n}), got {shape(log_decay)}")
    if not (log_decay.isfinite() & (log_decay <= 0)).all():
        raise ValueError("log_decay must be finite and at most 0")
    log_decay = log_decay if mask is None else log_decay * mask
    total = log_decay.cumsum(-1)  # (..., n)
    past = torch.ones(n, n, dtype=torch.bool, device=keys.device).tril()
    between = total.unsqueeze(-1) - total.unsqueeze(-2)  # (..., n, n), i - j
    kept = between.masked_fill(~past, -torch.inf).exp()
    return kept, total.exp(), (total[..., -1:] - total).exp()


def _joined(output, left, queries, since, state) -> Remembered:
    """With what the earlier state still gives."""
    if state is None:
        return Remembered(output, left)
    output = output + since.unsqueeze(-1) * (queries @ state)
    if since.shape[-1]:
        state = since[..., -1:, None] * state
    return Remembered(output, left + state)
