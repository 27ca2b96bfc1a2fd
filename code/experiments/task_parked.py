"""Does a head matter under the task that is not its own? Take its output from another query.

Four heads, as in `task_features`. A head's own task is the one under which more of its weight lies
on what is asked for. Under the other task its output is replaced by what it brings there for
another query and other items. Where the answers stay right, the head had nothing to say. The same
exchange under a head's own task shows that an exchange can do harm.
"""

from __future__ import annotations

import torch

from . import task_features as features
from .task_features import Items, Layer, right, served

SEEDS = range(6)
FORMS = ("added", "hidden layer")
HEADS, QUERIES = 4, 2000


@torch.no_grad()
def judge(model: Layer, seed: int = 10**6) -> dict[str, float]:
    """Right answers: as they are, with every head exchanged under the other task, or its own."""
    items = Items(QUERIES, torch.Generator().manual_seed(seed))
    context, weights = model.read(items)
    own = served(weights, items).argmax(0)  # (h,)
    stranger = torch.empty_like(context)  # of the next query with the same task
    for task in (0, 1):
        rows = (items.task == task).nonzero()[:, 0]
        stranger[rows] = context[rows.roll(1)]
    at_work = own == items.task[:, None]  # (b, h)
    changed = {"right": at_work & ~at_work, "other exchanged": ~at_work, "own exchanged": at_work}
    return {
        name: right(
            model.output(torch.where(which[..., None], stranger, context).flatten(1)), items
        ).item()
        for name, which in changed.items()
    }


def trace() -> dict[str, list[float]]:
    """A brief training of each form, and what becomes of its answers."""
    found = {}
    for form in FORMS:
        model, losses = features.train(form, HEADS, 0, steps=12)
        found[form] = [*losses, *judge(model).values()]
    return found


def run(seed: int) -> list[dict]:
    """One seed of each form."""
    return [
        {"seed": seed, "form": form, **judge(features.train(form, HEADS, seed)[0])}
        for form in FORMS
    ]
