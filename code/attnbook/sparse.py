"""Attention that computes only what it keeps."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ._checks import check_count
from .attention import _checked, attention
from .masks import window_mask


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

    The sequence is cut into blocks of `width` places. A block's queries see no further than the
    block before, their own and, unless `causal`, the one behind: so much is scored, and what of it
    is outside the window is masked.

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
    width = min(width, max(n, 1))  # a wider window sees no more
    blocks = max(-(-n // width), 1)
    span = (2 if causal else 3) * width  # keys that a block is scored with
    behind = blocks * width - n + (0 if causal else width)

    def cut(x: Tensor) -> Tensor:
        """(..., n, d) -> (... blocks, width, d): the queries of each block."""
        x = F.pad(x, (0, 0, 0, blocks * width - n))
        return x.reshape(-1, width, x.shape[-1])

    def around(x: Tensor) -> Tensor:
        """(..., n, d) -> (... blocks, span, d): what each block may see, zeros past the ends."""
        x = F.pad(x, (0, 0, width, behind)).unfold(-2, span, width)  # (..., blocks, d, span)
        return x.mT.reshape(-1, span, x.shape[-2])

    inside = torch.ones(n, dtype=torch.bool, device=queries.device)  # no key past the ends
    if allowed is not None:
        inside = inside & allowed[..., 0, :].expand(*queries.shape[:-1])  # (..., n)
    inside = F.pad(inside, (width, behind)).unfold(-1, span, width)  # (..., blocks, span)
    inside = inside.expand(*queries.shape[:-2], blocks, span).reshape(-1, 1, span)
    near = window_mask(width, span, width, causal=causal, offset=width, device=queries.device)
    output, _ = attention(
        cut(queries), around(keys), around(values), mask=near & inside, need_weights=False
    )
    output = output.reshape(*queries.shape[:-2], blocks * width, values.shape[-1])
    return output[..., :n, :]
