"""Masks: which query may attend to which key.

Every mask is boolean, **True = may attend**, and its rank says what it is: (q, k), (b, q, k) or
(b, h, q, k). Masks are combined with `m & n` (both allow) and `m | n` (either).

Shape letters: `b` batch, `h` heads, `q` queries, `k` keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ._checks import check_count, shape


def length_mask(lengths: Tensor | Sequence, n: int) -> Tensor:
    """Allow the first `lengths` of `n` keys.

    Args:
        lengths: valid keys per sequence, (b,), or per query, (b, q); any integer type. A length
            above `n` masks nothing; 0 masks everything.
        n: number of keys.

    Returns:
        Boolean mask, (b, 1, k) for lengths (b,), (b, q, k) for lengths (b, q), with k = n.

    Raises:
        TypeError: `lengths` is boolean (a mask, not lengths) or not of an integer type.
        ValueError: a length is negative, or `lengths` is neither 1-D nor 2-D.
    """
    n = check_count("n", n)
    lengths = _as_lengths(lengths)
    if lengths.dtype == torch.bool:
        raise TypeError(
            "lengths must be integers, got torch.bool: this looks like a mask, "
            "which can be passed as it is"
        )
    if lengths.is_floating_point() or lengths.is_complex():
        raise TypeError(
            f"lengths must be of an integer type, got {lengths.dtype}: a length counts keys, "
            "so convert whole numbers with .long() and mend fractional ones"
        )
    if lengths.dim() not in (1, 2):
        raise ValueError(f"lengths must be (b,) or (b, q), got shape {shape(lengths)}")
    counts = lengths.long()
    if not lengths.dtype.is_signed:
        counts = counts.where(counts >= 0, n)  # beyond int64: longer than any n
    elif torch.compiler.is_compiling() or not counts.numel():
        pass  # a look at the values would break the graph
    elif (least := counts.min().item()) < 0:
        raise ValueError(f"lengths must be at least 0, got {least}")
    mask = torch.arange(n, device=counts.device) < counts.unsqueeze(-1)  # (b[, q], k)
    return mask.unsqueeze(1) if lengths.dim() == 1 else mask


def causal_mask(q: int, k: int | None = None, *, offset: int = 0, device=None) -> Tensor:
    """Allow a query its own place and those before it.

    Args:
        q: number of queries.
        k: number of keys, `q` if None.
        offset: place of the first query among the keys (cached decoding starts later than 0).

    Returns:
        Boolean mask (q, k), True where key j <= query i + `offset`.

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    i, j = _places(q, k, offset, device)
    return j <= i


def window_mask(
    q: int, k: int | None, width: int, *, causal: bool = False, offset: int = 0, device=None
) -> Tensor:
    """Allow keys fewer than `width` places away: `width` keys up to one's own, as many after it.

    Args:
        q, k: how many queries and keys; None: as many keys as queries.
        width: at least 1, one's own place; a causal window holds `width` keys in all.
        causal: none after one's own place.
        offset: the place of the first query among the keys.
        device: where the mask is made.

    Returns:
        Boolean mask (q, k), True where |i + offset - j| < width, and j <= i + offset if `causal`.

    Source: Beltagy et al. 2020 (Longformer), section 3.1, "sliding window", whose w is 2 * width.
    """
    width = check_count("width", width, least=1)
    i, j = _places(q, k, offset, device)
    return (j > i - width) & (j <= i if causal else j < i + width)  # no (q, k) of differences


def dilated_mask(
    q: int, k: int | None = None, *, radius: int, dilation: int, offset: int = 0, device=None
) -> Tensor:
    """Allow every `dilation`-th key, `radius` of them on either side, and the query's own place.

    Returns:
        Boolean mask (q, k), True where i + offset - j is a multiple of `dilation` and at most
        `radius` multiples away.

    Source: Beltagy et al. 2020 (Longformer), section 3.1, "dilated sliding window".
    """
    radius = check_count("radius", radius)
    dilation = check_count("dilation", dilation, least=1)
    i, j = _places(q, k, offset, device)
    distance = (i - j).abs()
    return (distance % dilation == 0) & (distance <= radius * dilation)


def block_mask(q: int, k: int | None = None, *, size: int, offset: int = 0, device=None) -> Tensor:
    """Allow keys in the query's own block of `size` neighbouring places.

    Returns:
        Boolean mask (q, k), True where i + offset and j fall in one block.

    Source: Child et al. 2019 (Sparse Transformer), section 4; blocks without overlap.
    """
    size = check_count("size", size, least=1)
    i, j = _places(q, k, offset, device)
    return i // size == j // size


def global_mask(q: int, k: int | None = None, *, places: Sequence[int], device=None) -> Tensor:
    """Allow everyone to attend to `places`, and the queries at `places` to attend to everyone.

    Args:
        places: indices of the global tokens, each from 0 to max(q, k) - 1.

    Returns:
        Boolean mask (q, k).

    Source: Beltagy et al. 2020 (Longformer), section 3.1, "global attention".
    """
    i, j = _places(q, k, 0, device)
    longest = max(i.numel(), j.numel())
    chosen = torch.zeros(longest, dtype=torch.bool, device=device)
    for place in places:
        if check_count("places", place) >= longest:
            raise ValueError(f"places must be below {longest}, got {place}")
        chosen[place] = True
    return chosen[i] | chosen[j]


def random_mask(
    q: int, k: int | None = None, *, count: int, generator: torch.Generator | None = None
) -> Tensor:
    """Allow each query `count` distinct keys, drawn uniformly.

    Args:
        count: keys per query, at most k.
        generator: source of randomness; fix it for a pattern that can be made again.

    Returns:
        Boolean mask (q, k) with exactly `count` True in each row.

    Source: Zaheer et al. 2020 (BigBird), section 2, "random attention".
    """
    q = check_count("q", q)
    k = q if k is None else check_count("k", k)
    count = check_count("count", count)
    if count > k:
        raise ValueError(f"count must be at most the number of keys, {k}, got {count}")
    device = "cpu" if generator is None else generator.device
    draws = torch.empty(q, k, device=device).uniform_(generator=generator)
    order = draws.argsort(dim=-1, stable=True)  # equal draws: the same keys on every machine
    return torch.zeros(q, k, dtype=torch.bool, device=device).scatter(1, order[:, :count], True)


def _as_lengths(lengths: Tensor | Sequence) -> Tensor:
    if isinstance(lengths, Tensor):
        return lengths
    try:
        tensor = torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged, None, text
        raise TypeError(
            f"lengths must be a tensor or a list of integers, got {lengths!r}: {error}"
        ) from None
    return tensor if tensor.numel() else tensor.long()  # torch takes [] for floats


def _places(q: int, k: int | None, offset: int, device) -> tuple[Tensor, Tensor]:
    """Places of the queries as a column (q, 1), of the keys as a row (1, k)."""
    q = check_count("q", q)
    k = q if k is None else check_count("k", k)
    offset = check_count("offset", offset)
    i = torch.arange(offset, offset + q, device=device).unsqueeze(1)
    return i, torch.arange(k, device=device).unsqueeze(0)
