"""Nadaraya-Watson regression on the toy curve: data, leave-one-out loss, training recipes.

Chapter 2 shows one seed of each; `make train` runs a hundred and stores the table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from attnbook.attention import attention
from attnbook.scores import gaussian

SEEDS = range(100)


def curve(x: Tensor) -> Tensor:
    """The true curve, 2 sin x + x^0.8 (Zhang et al. 2023, in release 0.17)."""
    return 2 * x.sin() + x**0.8


def toy_data(seed: int, n: int = 50, noise: float = 0.5) -> tuple[Tensor, Tensor]:
    """Draw `n` places on [0, 5), in order, and the curve there with Gaussian noise.

    Returns:
        x and y, each (n, 1).
    """
    generator = torch.Generator().manual_seed(seed)
    x = (5 * torch.rand(n, generator=generator)).sort().values
    y = curve(x) + noise * torch.randn(n, generator=generator)
    return x.unsqueeze(1), y.unsqueeze(1)


def grid() -> Tensor:
    """Fifty places without noise on which a fit is judged, (50, 1)."""
    return torch.arange(0, 5, 0.1).unsqueeze(1)


def fit(queries: Tensor, x: Tensor, y: Tensor, w: Tensor | float, mask=None) -> Tensor:
    """Attention pooling with score -((q - k) w)^2 / 2, that is a Gaussian of width 1 / |w|.

    Shapes: queries (q, 1), x and y (n, 1) -> (q, 1). Multiplying by w rather than dividing by a
    width keeps w = 0 (the plain average) within reach.
    """
    return attention(queries * w, x * w, y, score=gaussian, mask=mask)[0]


def leave_one_out(x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    """Squared error at each training place, predicted from all the others, (n, 1)."""
    others = ~torch.eye(len(x), dtype=torch.bool)
    return (fit(x, x, y, w, others) - y).square()


def descend(optimizer, error: Callable[[Tensor], Tensor], start: float, steps: int) -> list[float]:
    """Minimise an error of w; w at the start and after each step."""
    w = torch.tensor(start, requires_grad=True)
    optimizer, path = optimizer([w]), [w.item()]
    for _ in range(steps):
        optimizer.zero_grad()
        error(w).backward()
        optimizer.step()
        path.append(w.item())
    return path


def train_adam(x: Tensor, y: Tensor, start: float = 1.0, steps: int = 300) -> list[float]:
    """Minimise the mean leave-one-out error by Adam with rate 0.1; w after each step."""
    adam = partial(torch.optim.Adam, lr=0.1)
    return descend(adam, lambda w: leave_one_out(x, y, w).mean(), start, steps)


def train_sgd(
    x: Tensor, y: Tensor, start: float, factor: float = 1.0, steps: int = 5
) -> list[float]:
    """The classic recipe: five steps with rate 0.5 on the *sum* of errors, times `factor`.

    A factor of 1 / n makes the sum a mean; with 1 / 2 it is the recipe as older code has it.
    """
    sgd = partial(torch.optim.SGD, lr=0.5)
    return descend(sgd, lambda w: factor * leave_one_out(x, y, w).sum(), start, steps)


def classic_start(seed: int) -> float:
    """The classic recipe's first w, uniform on [0, 1)."""
    return torch.rand((), generator=torch.Generator().manual_seed(1000 + seed)).item()


def test_error(x: Tensor, y: Tensor, w: float) -> float:
    """Mean squared distance of the fit from the true curve over the grid."""
    return (fit(grid(), x, y, w) - curve(grid())).square().mean().item()


def trace() -> dict[str, list[float]]:
    """w after each of the first steps of the two that train."""
    x, y = toy_data(0)
    return {
        "adam": train_adam(x, y, steps=20),
        "classic": train_sgd(x, y, classic_start(0)),
    }


def best_w(x: Tensor, y: Tensor) -> float:
    """The w, of 400 from 0.1 to 40, whose fit is nearest to the true curve."""
    return min(torch.logspace(-1, 1.6, 400).tolist(), key=lambda w: test_error(x, y, w))


def run(seed: int) -> dict[str, float]:
    """One seed of every recipe: its last w and its test error.

    All that train begin at the same random start, but "adam from 1".
    """
    x, y = toy_data(seed)
    start, mean = classic_start(seed), 1 / len(x)
    ends = {
        "average": 0.0,
        "untrained": 1.0,
        "classic": train_sgd(x, y, start)[-1],
        "classic, halved": train_sgd(x, y, start, 1 / 2)[-1],
        "sum, 300 steps": train_sgd(x, y, start, steps=300)[-1],
        "mean, 5 steps": train_sgd(x, y, start, mean)[-1],
        "mean, 300 steps": train_sgd(x, y, start, mean, 300)[-1],
        "adam": train_adam(x, y, start)[-1],
        "adam from 1": train_adam(x, y)[-1],
        "best": best_w(x, y),
    }
    row = {"seed": seed}
    for name, w in ends.items():
        row[f"{name}: w"] = w
        row[f"{name}: test error"] = test_error(x, y, w)
    return row
