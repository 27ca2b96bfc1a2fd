"""Hypothesis strategies: small tensors of every rank with masks of every rank that fits."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
JUNK = (float("nan"), float("inf"), float("-inf"), 3e38, -3e38, 65504.0, -1e4)


def tolerance(dtype, steps=8):
    """Absolute slack for numbers of size one: a few roundings of `dtype`."""
    return steps * torch.finfo(dtype).eps


def masks_for(shape, random, density):
    """One mask of every rank and every choice of size-1 axes that fits scores of `shape`."""
    ranks = {2: [2], 3: [2, 3], 4: [2, 3, 4]}[len(shape)]
    for rank in ranks:
        full = {2: shape[-2:], 3: (shape[0], *shape[-2:]), 4: shape}[rank]
        for ones in range(2**rank):
            sizes = [1 if ones >> axis & 1 else n for axis, n in enumerate(full)]
            yield torch.rand(sizes, generator=random) < density


@dataclass
class Case:
    """Inputs of one attention call, float64, made from drawn sizes and a drawn seed."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    mask: Tensor | None

    def to(self, dtype):
        floats = (self.queries, self.keys, self.values, self.scores)
        return Case(*(x.to(dtype) for x in floats), self.mask)


@st.composite
def cases(draw, axes=(2, 3, 4), masked=None, least=0, spread=3.0):
    """Draw a Case. `masked`: True always, False never, None either; `least`: smallest size."""
    rank = draw(st.sampled_from(axes))
    batch = tuple(draw(st.integers(least, 3)) for _ in range(rank - 2))
    q, k = draw(st.integers(least, 4)), draw(st.integers(least, 5))
    d, d_v = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))

    def normal(*shape):
        return torch.randn(shape, generator=random, dtype=torch.float64)

    shape = (*batch, q, k)
    if masked is None:
        masked = draw(st.integers(0, 4)) > 0
    mask = None
    if masked:
        density = draw(st.sampled_from((0.0, 0.3, 0.6, 1.0)))
        choices = list(masks_for(shape, random, density))
        mask = choices[draw(st.integers(0, len(choices) - 1))]
    return Case(
        normal(*batch, q, d),
        normal(*batch, k, d),
        normal(*batch, k, d_v),
        normal(*shape) * spread,
        mask,
    )
