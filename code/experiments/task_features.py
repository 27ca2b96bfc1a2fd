"""The task says which feature of a key has to match: how can it reach the query?

Twelve items lie on a table, each of another colour and of another shape, each with a value. A
query names a colour and a shape, which belong to two different items. Under task 0 the value of
the item of that colour is asked for, under task 1 that of the item of that shape. A layer that
knows no task can at best choose one of the two, and is right for .56 of the queries.
"""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.attention import attention

from .loop import learn, parameters

SEEDS = range(6)
N, VALUES, D = 12, 8, 32  # items, values, features
FORMS = ("none", "added", "concatenated", "hidden layer", "gate")
STEPS, LONG, BATCH = 1000, 4000, 128
KINDS = (*product(FORMS, (1, 4), (STEPS,)), ("added", 1, LONG))  # form, heads, steps
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
RATE = 1e-2  # the best of them for every kind


class Items:
    """Drawn queries: colours and shapes (b, N) of the items, their values, and what is asked."""

    def __init__(self, b: int, random: torch.Generator):
        self.colours, self.shapes = (torch.rand(b, N, generator=random).argsort(-1) for _ in "cs")
        self.values = torch.randint(0, VALUES, (b, N), generator=random)
        self.task = torch.randint(0, 2, (b,), generator=random)
        one = torch.randint(0, N, (b,), generator=random)
        other = (one + torch.randint(1, N, (b,), generator=random)) % N
        at = torch.arange(b)
        self.colour, self.shape = self.colours[at, one], self.shapes[at, other]
        self.gold = torch.where(self.task == 0, one, other)
        self.rival = torch.where(self.task == 0, other, one)
        self.answer = self.values[at, self.gold]


class Layer(nn.Module):
    """Attention with one query, made from what is looked for and, in one of the `FORMS`, the task.

    Shapes: items -> logits (b, VALUES), weights (b, h, N).
    """

    def __init__(self, form: str, heads: int = 1):
        super().__init__()
        self.form, self.heads = form, heads
        self.colour, self.shape = nn.Embedding(N, D), nn.Embedding(N, D)
        self.value, task = nn.Embedding(VALUES, D), nn.Embedding(2, D)
        W_q = nn.Linear(2 * D if form == "concatenated" else D, D)
        # both are drawn for every form, so that what they share begins alike
        self.task = None if form in ("none", "gate") else task
        self.W_q = None if form == "hidden layer" else W_q
        self.W_k, self.W_v = nn.Linear(D, D), nn.Linear(D, D)
        self.hidden = nn.Linear(2 * D, 2 * D) if form == "hidden layer" else None
        self.back = nn.Linear(2 * D, D) if form == "hidden layer" else None
        self.gate = nn.Embedding(2, D) if form == "gate" else None
        self.output = nn.Linear(D, VALUES)

    def query(self, looked_for: Tensor, task: Tensor) -> Tensor:
        """The query (b, d) under a task (b,)."""
        if self.form == "none":
            return self.W_q(looked_for)
        if self.form == "gate":
            return (1 + self.gate(task)) * self.W_q(looked_for)
        t = self.task(task)
        if self.form == "added":
            return self.W_q(looked_for + t)
        if self.form == "concatenated":
            return self.W_q(torch.cat([looked_for, t], -1))
        return self.back(self.hidden(torch.cat([looked_for, t], -1)).relu())

    def forward(self, x: Items) -> tuple[Tensor, Tensor]:
        context, weights = self.read(x)
        return self.output(context.flatten(1)), weights

    def read(self, x: Items) -> tuple[Tensor, Tensor]:
        """What each head brings, context (b, h, d), and its weights (b, h, N)."""
        query = self.query(self.colour(x.colour) + self.shape(x.shape), x.task)
        keys = self.W_k(self.colour(x.colours) + self.shape(x.shapes))
        values = self.W_v(self.value(x.values))
        split = (self.heads, -1)
        q = query[:, None].unflatten(-1, split).transpose(1, 2)
        k, v = (y.unflatten(-1, split).transpose(1, 2) for y in (keys, values))
        context, weights = attention(q, k, v)
        return context[:, :, 0], weights[:, :, 0]


def train(form: str, heads: int, seed: int, *, rate: float = RATE, steps: int = STEPS):
    """A layer trained from `seed`, and its loss after each step."""
    torch.manual_seed(seed)
    model, random = Layer(form, heads), torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        items = Items(BATCH, random)
        return F.cross_entropy(model(items)[0], items.answer)

    return model, learn(model, loss, steps=steps, rate=rate)


@torch.no_grad()
def judge(model: Layer, seed: int = 10**6) -> dict[str, float]:
    """Accuracy; the weight on the item that is asked for; what each head does under each task.

    A head's own task is the one under which more of its weight lies on what is asked for.
    """
    items = Items(2000, torch.Generator().manual_seed(seed))
    logits, weights = model(items)
    at, mean, chosen = torch.arange(2000), weights.mean(1), weights.argmax(-1)
    serves = served(weights, items)
    own = serves.argmax(0)
    parked = []
    for head, task in enumerate(own):
        rows = items.task != task
        parked.append(_fixed(chosen[rows, head], items, rows))
    found = {
        "loss": F.cross_entropy(logits, items.answer),
        "accuracy": right(logits, items),
        "of two": (mean[at, items.gold] > mean[at, items.rival]).float().mean(),
        "its task": serves.amax(0).mean(),
        "the other": serves.amin(0).mean(),
        "parked": torch.stack(parked).mean(),
        "serve colour": (own == 0).float().mean(),
    }
    return {name: value.item() for name, value in found.items()}


def right(logits: Tensor, items: Items) -> Tensor:
    """The share of right answers."""
    return (logits.argmax(-1) == items.answer).float().mean()


def served(weights: Tensor, items: Items) -> Tensor:
    """The mean weight of each head on what is asked for, under either task: (2, h)."""
    return torch.stack([_share(weights, items.gold, items.task == t) for t in (0, 1)])


def _share(weights: Tensor, item: Tensor, rows: Tensor) -> Tensor:
    """The mean weight of each head (h,) on an item (b,), over some rows."""
    return weights[torch.arange(len(item)), :, item][rows].mean(0)


def _fixed(chosen: Tensor, items: Items, rows: Tensor) -> Tensor:
    """How often a head's chosen item has one and the same colour, or shape: the most frequent."""
    at = torch.arange(len(chosen))
    names = (items.colours[rows][at, chosen], items.shapes[rows][at, chosen])
    return torch.stack([x.bincount(minlength=N).max() / len(x) for x in names]).max()


def tried() -> list[dict]:
    """The validation loss of each kind at each rate, seed 0."""
    rows = []
    for (form, heads, steps), rate in product(KINDS[:-1], RATES):
        model, _ = train(form, heads, 0, rate=rate, steps=steps)
        loss = judge(model, seed=10**5)["loss"]
        rows.append({"form": form, "heads": heads, "rate": rate, "loss": loss})
    return rows


def trace() -> dict[str, list[float]]:
    """A brief training of each kind."""
    return {f"{form}, {heads}": train(form, heads, 0, steps=12)[1] for form, heads, _ in KINDS[:-1]}


def run(seed: int) -> list[dict]:
    """One seed of every kind."""
    rows = []
    for form, heads, steps in KINDS:
        model, _ = train(form, heads, seed, steps=steps)
        said = {"form": form, "heads": heads, "steps": steps}
        rows.append({"seed": seed, **said, "parameters": parameters(model), **judge(model)})
    return rows
