"""A needle in a haystack: few keys matter to a query, and it is known which."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .._checks import check_count

NEEDLES = (2, 4)  # the fewest and the most


class Haystack(NamedTuple):
    """Examples of one query each (b batch, k keys, d features, v features of a value).

    Attention solves one if it takes the mean of the needles' values and leaves out the rest.
    """

    queries: Tensor  # (b, 1, d), the mark that is looked for
    keys: Tensor  # (b, k, d), each its own mark, and noise
    values: Tensor  # (b, k, v)
    needles: Tensor  # (b, 1, k) boolean, True where a key has the query's mark
    answers: Tensor  # (b, 1, v), mean of the needles' values

    def to(self, device: torch.device | str) -> Haystack:
        """Give the same examples on another device."""
        return Haystack(*(tensor.to(device) for tensor in self))


def haystack(
    b: int,
    k: int,
    *,
    d: int = 16,
    v: int = 8,
    marks: int = 32,
    noise: float = 0.3,
    generator: torch.Generator | None = None,
) -> Haystack:
    """Hide two to four needles among `k` keys; all others carry another mark than the query's.

    A mark is a vector of d standard normal numbers, the same in every call.

    Args:
        noise: standard deviation of what is added to each feature of a key.
        generator: source of randomness; fix it for examples that can be made again.

    Raises:
        ValueError: a count is too small: k for four needles, `marks` for two different ones.
    """
    b, d, v = check_count("b", b), check_count("d", d, least=1), check_count("v", v, least=1)
    k, marks = check_count("k", k, least=NEEDLES[1]), check_count("marks", marks, least=2)
    codes = torch.randn(marks, d, generator=torch.Generator().manual_seed(0))
    count = torch.randint(NEEDLES[0], NEEDLES[1] + 1, (b, 1), generator=generator)
    order = torch.rand(b, k, generator=generator).argsort(dim=-1).argsort(dim=-1)  # ranks, (b, k)
    needles = order < count
    asked = torch.randint(marks, (b, 1), generator=generator)
    others = (asked + torch.randint(1, marks, (b, k), generator=generator)) % marks
    keys = codes[torch.where(needles, asked, others)]  # (b, k, d)
    keys = keys + noise * torch.randn(b, k, d, generator=generator)
    values = torch.randn(b, k, v, generator=generator)
    answers = (needles / count)[:, None] @ values  # (b, 1, k) @ (b, k, v)
    return Haystack(codes[asked], keys, values, needles[:, None], answers)
