"""One way to train for all experiments: `attnbook.fit`, here on examples drawn at each step."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import OneCycleLR

from attnbook.training import History, fit

POINTS = 20  # of a learning curve


def learn(
    model: nn.Module,
    loss: Callable[[int], Tensor],
    *,
    steps: int,
    rate: float,
    warmup: float = 0.3,
    clip: float | None = None,
    fused: bool | None = None,
) -> list[float]:
    """Train a model in place; the loss after each step.

    Adam's rate goes up to `rate` in the share `warmup` of the steps and down again, and its first
    beta the other way round, as torch's `OneCycleLR` has it.

    Args:
        loss: given the step, counted from 0, the loss of the model on new examples.
    """

    def adam(parameters, lr: float) -> torch.optim.Optimizer:
        optimizer = torch.optim.Adam(parameters, lr, fused=fused)
        cycle = OneCycleLR(optimizer, rate, total_steps=max(steps, 2), pct_start=warmup)
        optimizer.register_step_post_hook(lambda *_: cycle.step())
        return optimizer

    options = {"schedule": None, "optimizer": adam, "clip": clip, "progress": False}
    of_step = {"epochs": 1, "loss": lambda _, step: (loss(step), 1)}
    return losses(fit(model, range(steps), learning_rate=rate, **of_step, **options))


def aside(loss: Tensor | float) -> Tensor | float:
    """A loss that trains and is not reported: 0, with the gradient of `loss`."""
    return loss - loss.detach() if isinstance(loss, Tensor) else 0.0


def losses(history: History) -> list[float]:
    """The loss of each step."""
    return [step["loss"] for step in history.steps]


def curve(values: list[float]) -> list[float]:
    """The means of `POINTS` stretches of losses."""
    return [part.mean().item() for part in torch.tensor(values).chunk(POINTS)]


def parameters(model: nn.Module) -> int:
    """How many numbers a model learns; a tied matrix counts once."""
    return sum(weight.numel() for weight in model.parameters())
