"""Attention that computes only what it keeps."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ._checks import check_count
from .attention import _checked, attention
from .masks import window_mask

ROWS, KEYS = 64, 4096  # queries that are scored together, and keys that are copied at once


def window_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    width: int,
    *,
    causal: bool = False,
    mask: Tensor | None = None,
) -> Tensor:
    """Attention under `window_mask(n, n, width, causal=causal)`, in time and memory linear in n.

    The sequence is cut into blocks of `width` places, at most 64. A block's queries see no further
    than `width` places before it, their own block and, unless `causal`, `width` places behind: so
    much is scored, and what of it is outside the window is masked.

    Args:
        queries, keys, values: (n, d), (b, n, d) or (b, h, n, d), as in `attention`; the last
            axis of the values may differ.
        width: as in `window_mask`.
        causal: as in `window_mask`.
        mask: boolean, True = may attend, of keys alone: one row for all queries, (1, n), (b, 1, n)
            or (b, h, 1, n), as `length_mask` gives it, or None.

    Returns:
        Output (..., n, d_v), that of `attention` under both masks.

    Raises:
        TypeError, ValueError: as in `attention`; there are more or fewer keys than queries; the
            mask has a row for each query.

    Source: Beltagy et al. 2020 (Longformer), section 3.1 and appendix A, "sliding chunks".
    """
    width = check_count("width", width, least=1)
    n = queries.shape[-2]
    if keys.shape[-2:-1] != (n,):
        raise ValueError(f"keys must be as many as queries, {n}, got {keys.shape[-2]}")
    if mask is not None and mask.shape[-2:-1] != (1,):
        raise ValueError(
            f"mask must have one row for all queries, (..., 1, {n}), got {tuple(mask.shape)}"
        )
    allowed = _checked(queries, keys, values, mask, 0.0)
    if allowed is not None:
        allowed = allowed[..., 0, :].expand(*queries.shape[:-1])  # (..., n)
    width = min(width, max(n, 1))  # a wider window sees no more
    rows, after = min(width, ROWS), 0 if causal else width
    taped = torch.is_grad_enabled() and any(x.requires_grad for x in (queries, keys, values))
    if taped or torch.compiler.is_compiling():
        return _chunks(queries, keys, values, allowed, width, rows, causal, 0)
    # piece by piece, so that few copies are held; into one tensor, for small ones scatter the heap
    few = KEYS // max((width + rows + after) * queries.shape[:-2].numel(), 1)
    step, output = max(few, 1) * rows, None
    for start in range(0, max(n, 1), step):
        first, last = max(start - width, 0), min(start + step + after, n)
        rest = (x[..., first:last, :] for x in (keys, values))
        seen = None if allowed is None else allowed[..., first:last]
        piece = queries[..., start : start + step, :]
        piece = _chunks(piece, *rest, seen, width, rows, causal, start - first)
        if output is None:
            output = piece.new_empty(*queries.shape[:-1], values.shape[-1])
        output[..., start : start + step, :] = piece
    return output


def _chunks(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    allowed: Tensor | None,
    width: int,
    rows: int,
    causal: bool,
    offset: int,
) -> Tensor:
    """Blocks of `rows` queries, all at once, each with the keys around it.

    The first query stands at key `offset`; `allowed` (..., k) are the keys that anyone may see.
    """
    (q, k), axes = (queries.shape[-2], keys.shape[-2]), queries.shape[:-2]
    blocks = max(-(-q // rows), 1)
    if blocks == 1:
        mask = window_mask(q, k, width, causal=causal, offset=offset, device=keys.device)
        mask = mask if allowed is None else mask & allowed.unsqueeze(-2)
        return attention(queries, keys, values, mask=mask, need_weights=False)[0]
    after = 0 if causal else width
    span = width + rows + after  # keys that a block is scored with
    front, behind = width - offset, offset + blocks * rows + after - k

    def around(x: Tensor) -> Tensor:
        """(..., k, d) -> (... blocks, span, d): what each block may see, zeros past the ends."""
        x = F.pad(x, (0, 0, front, behind)).unfold(-2, span, rows)  # (..., blocks, d, span)
        return x.mT.reshape(-1, span, x.shape[-2])

    mask = window_mask(rows, span, width, causal=causal, offset=width, device=queries.device)
    if allowed is not None or front or behind:
        inside = torch.ones(k, dtype=torch.bool, device=keys.device) if allowed is None else allowed
        inside = F.pad(inside, (front, behind)).unfold(-1, span, rows)  # (..., blocks, span)
        mask = mask & inside.expand(*axes, blocks, span).reshape(-1, 1, span)
    cut = F.pad(queries, (0, 0, 0, blocks * rows - q)).reshape(-1, rows, queries.shape[-1])
    output, _ = attention(cut, around(keys), around(values), mask=mask, need_weights=False)
    return output.reshape(*axes, blocks * rows, values.shape[-1])[..., :q, :]
