"""Tasks: say here in a line what this room holds."""

from __future__ import annotations

from torch import Tensor

from ._checks import check_positive
from .normalize import masked_softmax
from .scores import dot


def tasks_weights(
    queries: Tensor, keys: Tensor, mask: Tensor | None = None, *, sharpness: float = 1.0
) -> Tensor:
    """Weigh keys by the softmax of their dot products with a query, times a sharpness.

    Shapes: queries (..., q, d), keys (..., k, d), mask (..., q, k) -> weights (..., q, k).

    Raises:
        TypeError: `mask` is not boolean.
        ValueError: features differ, or `sharpness` is not above 0.

    Source: an example of `make chapter`, to be replaced.
    """
    check_positive("sharpness", sharpness)
    return masked_softmax(sharpness * dot(queries, keys), mask)
