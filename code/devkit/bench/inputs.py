"""Seeded inputs that the subjects share."""

from __future__ import annotations

import torch
from torch import Tensor

import attnbook as ab


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Unit normals."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def queries_keys_values(*shape: int) -> list[Tensor]:
    """Three tensors of one shape (..., n, d)."""
    return [normal(*shape, seed=seed) for seed in range(3)]


def padding(b: int, n: int) -> tuple[Tensor, Tensor]:
    """Lengths (b,) from half of n to n, and their mask (b, 1, n)."""
    lengths = torch.randint(n // 2, n + 1, (b,), generator=torch.Generator().manual_seed(3))
    return lengths, ab.length_mask(lengths, n)
