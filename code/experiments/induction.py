"""Two layers of attention that continue what repeats, and what their heads are needed for.

A sequence is a random row of tokens again and again. From the second round on the next token can
be known: find the same token one round earlier, and say what came after it. Six to sixteen tokens
make a round in training, so the distance has to be found each time. Judged are sequences of two
rounds of sixteen: `right` is the share of right tokens in the second.

A change of a map is a function from the weights (b, h, q, k) of a layer to others. `even`: heads
look at all earlier places alike; `zero`: they say nothing; `force`: they look at one place alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.explanation import rollout

from .loop import learn

SEEDS = range(6)
TOKENS, LENGTH, D, HEADS, STEPS, BATCH, RATE = 32, 32, 64, 4, 1500, 64, 1e-2
ROUND, JUDGED = 16, 256
PAST = 0.3  # the share of its weight by which a head counts as one of the previous token

Change = Callable[[Tensor], Tensor]


class Layer(nn.Module):
    """Causal attention of several heads, added to its input; queries, keys and values apart."""

    def __init__(self, d: int = D, heads: int = HEADS):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(d)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d, bias=False) for _ in range(4))
        for part in (self.W_q, self.W_k, self.W_v, self.W_o):
            nn.init.normal_(part.weight, std=d**-0.5)

    def forward(self, x: Tensor, change: Change | None = None, **given: Tensor):
        """Output (b, n, d) and weights (b, h, n, n); `queries`, `keys`, `values` as x if None."""

        def heads(name: str, matrix: nn.Linear) -> Tensor:
            y = matrix(self.norm(given.get(name, x)))
            return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (b, h, n, d / h)

        q, k = heads("queries", self.W_q), heads("keys", self.W_k)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        weights = scores.masked_fill(~past, -torch.inf).softmax(dim=-1)
        if change is not None:
            weights = change(weights)
        pooled = weights @ heads("values", self.W_v)
        return x + self.W_o(pooled.transpose(1, 2).flatten(2)), weights


class Copier(nn.Module):
    """Layers of attention and nothing else: ids (b, n) -> logits (b, n, tokens), maps by layer."""

    def __init__(self, layers: int = 2, d: int = D, heads: int = HEADS, length: int = LENGTH):
        super().__init__()
        self.token, self.place = nn.Embedding(TOKENS, d), nn.Embedding(length, d)
        for table in (self.token, self.place):
            nn.init.normal_(table.weight, std=0.5)
        self.layers = nn.ModuleList(Layer(d, heads) for _ in range(layers))
        self.norm, self.out = nn.LayerNorm(d), nn.Linear(d, TOKENS, bias=False)

    def embed(self, ids: Tensor) -> Tensor:
        """Token and place, added: (b, n, d)."""
        return self.token(ids) + self.place.weight[: ids.shape[1]]

    def read(self, x: Tensor) -> Tensor:
        """Logits from what the last layer leaves."""
        return self.out(self.norm(x))

    def forward(self, ids: Tensor, change: Mapping[int, Change] | None = None):
        x, maps, change = self.embed(ids), [], change or {}
        for n, layer in enumerate(self.layers):
            x, weights = layer(x, change.get(n))
            maps.append(weights)
        return self.read(x), maps


def draw(count: int, generator: torch.Generator) -> Tensor:
    """Sequences to learn from, (count, LENGTH + 1), all with rounds of one length."""
    n = int(torch.randint(6, ROUND + 1, (), generator=generator))
    once = torch.randint(TOKENS, (count, n), generator=generator)
    return once.repeat(1, LENGTH // n + 2)[:, : LENGTH + 1]


def train(model: nn.Module, seed: int, steps: int = STEPS) -> list[float]:
    """Train on new sequences at each step; the losses."""
    generator = torch.Generator().manual_seed(seed)

    def loss(_: int) -> Tensor:
        ids = draw(BATCH, generator)
        return F.cross_entropy(model(ids[:, :-1])[0].flatten(0, 1), ids[:, 1:].flatten())

    losses = learn(model, loss, steps=steps, rate=RATE, fused=True)
    model.eval()
    return losses


def trained(seed: int, layers: int = 2, steps: int = STEPS) -> tuple[Copier, list[float]]:
    """A model of one seed, and its losses."""
    torch.manual_seed(seed)
    model = Copier(layers)
    return model, train(model, seed, steps)


def judged() -> Tensor:
    """Two rounds of sixteen tokens each, (256, 32), the same for every model."""
    return torch.randint(
        TOKENS, (JUDGED, ROUND), generator=torch.Generator().manual_seed(10**6)
    ).repeat(1, 2)


IDS = judged()
PLACES = torch.arange(ROUND, 2 * ROUND - 1)  # in the second round; what comes next is known
SOURCE = PLACES - ROUND + 1  # of each: the place of the token that has to be copied


def even(*heads: int) -> Change:
    """These heads give all places up to their own the same weight."""

    def change(weights: Tensor) -> Tensor:
        past = torch.ones(weights.shape[-2:]).tril()
        weights = weights.clone()
        weights[:, list(heads)] = past / past.sum(-1, keepdim=True)
        return weights

    return change


def zero(*heads: int) -> Change:
    """These heads add nothing."""

    def change(weights: Tensor) -> Tensor:
        weights = weights.clone()
        weights[:, list(heads)] = 0.0
        return weights

    return change


def force(shift: int) -> Change:
    """In the second round all heads look at one place, `shift` after the one to be copied."""

    def change(weights: Tensor) -> Tensor:
        weights = weights.clone()
        weights[:, :, PLACES] = 0.0
        weights[:, :, PLACES, SOURCE + shift] = 1.0
        return weights

    return change


@torch.no_grad()
def said(model: nn.Module, change: Mapping[int, Change] | None = None, ids: Tensor = IDS) -> Tensor:
    """What a model says next at each of the judged places, (b, places)."""
    return model(ids[:, :-1], change)[0][:, PLACES].argmax(-1)


def right(model: nn.Module, change: Mapping[int, Change] | None = None, shift: int = 0) -> float:
    """The share of places where it says the token to be copied, or the one `shift` after it."""
    return (said(model, change) == IDS[:, SOURCE + shift]).float().mean().item()


@torch.no_grad()
def seen(model: nn.Module) -> dict:
    """How much weight each head gives to the place before (layer 1) and to the source (2)."""
    first, second = model(IDS[:, :-1])[1]
    place = torch.arange(1, 2 * ROUND - 1)
    return {
        "previous": first[:, :, place, place - 1].mean((0, 2)).tolist(),
        "source": second[:, :, PLACES, SOURCE].mean((0, 2)).tolist(),
    }


@torch.no_grad()
def shares(model: nn.Module) -> dict[str, list[float]]:
    """What the last map, and roll-out, give to the source, to the place before it, and to itself.

    The last map is a mean over its heads.
    """
    maps = torch.stack(model(IDS[:, :-1])[1], dim=1)  # (b, l, h, n, n)
    found = {"last map": maps[:, -1].mean(1), "roll-out": rollout(maps)}
    places = {"source": SOURCE, "before": SOURCE - 1, "itself": PLACES}
    return {
        name: [rows[:, PLACES[1:], at[1:]].mean().item() for at in places.values()]
        for name, rows in found.items()
    }


def replaced(model: nn.Module) -> dict[str, float]:
    """The share of answers that change when one token of the first round becomes another one.

    "source" is the token to be copied, "before" and "after" its neighbours.
    """
    before = said(model)
    found = {}
    for name, shift in (("source", 0), ("before", -1), ("after", 1)):
        turned = []
        for n, place in enumerate(SOURCE.tolist()):
            if not 0 <= place + shift < ROUND:
                continue
            ids = IDS.clone()
            ids[:, place + shift] = (ids[:, place + shift] + 1 + 7 * n % 31) % TOKENS
            turned.append((said(model, ids=ids)[:, n] != before[:, n]).float().mean().item())
        found[name] = sum(turned) / len(turned)
    return found


@torch.no_grad()
def paths(model: nn.Module) -> dict[str, float]:
    """Right answers when one of layer 2's inputs comes from another sequence's previous tokens.

    What the heads of the previous token write is exchanged between sequences, and only the
    queries, the keys, the values of layer 2, or its residual, see the exchanged one.
    """
    one, two = model.layers
    chosen = [n for n, share in enumerate(seen(model)["previous"]) if share > PAST]
    x = model.embed(IDS[:, :-1])
    clean, _ = one(x)
    without, _ = one(x, zero(*chosen))
    exchanged = without + (clean - without).roll(1, dims=0)
    found = {}
    for name in ("queries", "keys", "values"):
        y, _ = two(clean, **{name: exchanged})
        found[name] = y
    found["residual"] = exchanged + two(clean)[0] - clean
    target = IDS[:, SOURCE]
    return {
        name: (model.read(y)[:, PLACES].argmax(-1) == target).float().mean().item()
        for name, y in found.items()
    }


def judge(model: nn.Module) -> dict:
    """All that the table holds of a model of two layers."""
    each = range(HEADS)
    changes = {
        "all even": {1: even(*each)},
        "all zero": {1: zero(*each)},
        "all forced": {1: force(0)},
        "forced one earlier": {1: force(-1)},
    }
    row = {"right": right(model), **seen(model)}
    row["one of layer 1 out"] = [right(model, {0: zero(n)}) for n in each]
    row["one of layer 2 out"] = [right(model, {1: zero(n)}) for n in each]
    row["three of layer 2 out"] = [right(model, {1: zero(*({*each} - {n}))}) for n in each]
    row |= {name: right(model, change) for name, change in changes.items()}
    row["copies the earlier"] = right(model, {1: force(-1)}, shift=-1)
    return row | {"shares": shares(model), "replaced": replaced(model), "paths": paths(model)}


def trace() -> dict[str, list[float]]:
    """The first steps of one layer and of two."""
    return {f"{layers} layers": trained(0, layers, steps=12)[1] for layers in (1, 2)}


def run(seed: int) -> list[dict]:
    """One seed of one layer, and of two."""
    rows = []
    for layers in (1, 2):
        model, losses = trained(seed, layers)
        row = {"seed": seed, "layers": layers, "loss": sum(losses[-50:]) / 50}
        rows.append(row | (judge(model) if layers == 2 else {"right": right(model)}))
    return rows
