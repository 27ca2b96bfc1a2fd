"""Associative recall by states of a fixed size, and by softmax attention.

A sequence shows pairs of a key and a value, then asks for each key once, in random order. All
models are alike but for how a layer mixes its tokens: causal softmax attention, or a state of `d`
times 64 numbers that is written once a token. No layer knows positions, but each token's queries,
keys and values also see those of the token before it. There is no feed-forward layer.

Every plan is trained at each of its rates, from each of its seeds. The best rate of a plan is the
one with the highest mean recall on validation sequences; what is reported comes from others.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.states import delta_rule, linear_attention

from .loop import learn, parameters

SEEDS = range(4)
RATES = (3e-3, 1e-2, 3e-2)
KEYS, VALUES, PAIRS = 32, 32, 16  # different keys, different values, pairs of a sequence
WIDTH, STEPS, BATCH = 64, 500, 32
VALIDATE, JUDGE = 10**5, 10**6  # seeds of sequences that no training has


STATES = ("linear", "sum", "decay", "delta", "gated delta")  # what a layer may mix by,
SOFTMAX = "softmax"  # or this
MIDDLE = 8  # features of a query and a key


class Plan(NamedTuple):
    """A model and its training: how each layer mixes, the features of a query and a key."""

    layers: tuple[str, ...]
    d: int = MIDDLE
    rates: tuple[float, ...] = RATES
    steps: int = STEPS


PLANS = {mixer: Plan((mixer,)) for mixer in (SOFTMAX, *STATES)}


class Batch(NamedTuple):
    """Sequences x (b, 3 p), and the values asked for in their last third, (b, p)."""

    x: Tensor
    values: Tensor


def draw(b: int, generator: torch.Generator, pairs: int = PAIRS) -> Batch:
    """New sequences; the keys of one are all different."""
    keys = torch.rand(b, KEYS, generator=generator).argsort(-1)[:, :pairs]
    values = torch.randint(VALUES, (b, pairs), generator=generator)
    order = torch.rand(b, pairs, generator=generator).argsort(-1)
    shown = torch.stack((keys, KEYS + values), dim=-1).flatten(1)  # (b, 2 p)
    return Batch(torch.cat((shown, keys.gather(1, order)), dim=1), values.gather(1, order))


def mix(mixer: str, q: Tensor, k: Tensor, v: Tensor, gates: Tensor) -> Tensor:
    """Queries, keys (b, n, d), values (b, n, d_v), gates (b, n, 2) -> (b, n, d_v)."""
    if mixer == "softmax":
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    if mixer == "linear":
        ones = F.pad(v, (0, 1), value=1.0)
        read, _ = linear_attention(F.elu(q) + 1, F.elu(k) + 1, ones)
        return read[..., :-1] / read[..., -1:]
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    decay = F.logsigmoid(gates[..., 1]) if mixer in ("decay", "gated delta") else None
    if mixer in ("sum", "decay"):
        return linear_attention(q, k, v, log_decay=decay).output
    return delta_rule(q, k, v, gates[..., 0].sigmoid(), log_decay=decay).output


class Layer(nn.Module):
    """Mix the tokens, and add the result to them: (b, n, WIDTH) -> the same."""

    def __init__(self, mixer: str, d: int):
        super().__init__()
        self.mixer, self.parts = mixer, (d, d, WIDTH)
        self.before, self.after = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.W_in = nn.Linear(WIDTH, 2 * d + WIDTH, bias=False)
        self.W_gates = nn.Linear(WIDTH, 2)  # of writing, of decay
        self.W_out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.last = nn.Parameter(0.3 * torch.randn(2 * d + WIDTH))  # how much of the token before
        nn.init.constant_(self.W_gates.bias[1:], 4.0)  # little is forgotten at first

    def forward(self, x: Tensor) -> Tensor:
        h = self.before(x)
        z = self.W_in(h)
        z = z + self.last * F.pad(z, (0, 0, 1, 0))[:, :-1]
        q, k, v = z.split(self.parts, dim=-1)
        return x + self.W_out(self.after(mix(self.mixer, q, k, v, self.W_gates(h))))


class Recaller(nn.Module):
    """Logits of the value at each question: x (b, 3 p) -> (b, p, VALUES)."""

    def __init__(self, plan: Plan):
        super().__init__()
        self.embedding = nn.Embedding(KEYS + VALUES, WIDTH)
        self.layers = nn.Sequential(*(Layer(mixer, plan.d) for mixer in plan.layers))
        self.output = nn.Sequential(nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VALUES))

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.layers(self.embedding(x))[:, -(x.shape[1] // 3) :])


def train(plan: Plan, rate: float, seed: int, steps: int | None = None):
    """A model trained from `seed`, and its loss after each step."""
    torch.manual_seed(seed)
    model, random = Recaller(plan), torch.Generator().manual_seed(1000 + seed)

    def loss(step: int) -> Tensor:
        batch = draw(BATCH, random)
        return F.cross_entropy(model(batch.x).flatten(0, 1), batch.values.flatten())

    options = {"warmup": 0.2, "clip": 1.0, "fused": True}
    return model, learn(model, loss, steps=steps or plan.steps, rate=rate, **options)


@torch.no_grad()
def judge(model: Recaller, seed: int = JUDGE) -> float:
    """The share of questions that are answered."""
    batch = draw(256, torch.Generator().manual_seed(seed))
    return (model(batch.x).argmax(-1) == batch.values).float().mean().item()


def numbers_kept(plan: Plan, n: int) -> int:
    """Numbers that the layers keep after n tokens: states, or keys and values."""
    state, token = plan.d * WIDTH, plan.d + WIDTH
    return sum(n * token if mixer == SOFTMAX else state for mixer in plan.layers)


def trace() -> dict[str, list[float]]:
    """The first steps of each plan."""
    return {name: train(plan, plan.rates[-1], 0, steps=4)[1] for name, plan in PLANS.items()}


def run(seed: int) -> list[dict]:
    """One seed of every plan, at each of its rates."""
    return [row for name, plan in PLANS.items() for row in rows(name, plan, seed)]


def rows(name: str, plan: Plan, seed: int) -> list[dict]:
    """One seed of a plan, at each of its rates."""
    found = []
    for rate in plan.rates:
        model, losses = train(plan, rate, seed)
        row = {"seed": seed, "plan": name, "rate": rate, "parameters": parameters(model)}
        row |= {"validation": judge(model, VALIDATE), "recall": judge(model)}
        found.append(row | {"loss": sum(losses[-20:]) / 20})
    return found
