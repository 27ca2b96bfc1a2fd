"""What a cache keeps, and what can still be recalled from it, for layers that share more or less.

Every token of a sequence carries a name and a value, and asks two questions. "Near" asks for the
value two places back: it is found by place. "Far" asks for the value of the token with a certain
name, somewhere before: it is found by content. For one question in four no such token has come
yet, and the answer is "none"; a layer can give it by looking at the first token, which is always
the same.

One layer of attention with four heads of queries answers both. Its keys and values are heads of
their own, or one head that all share, or made from a small latent vector beside a rotary key, as
in DeepSeek-V2. Each is trained as it is and then read through caches that keep less: fewer
bits, or a window, with and without the first tokens.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.masks import causal_mask, window_mask
from attnbook.positions import RotaryPositions

from .ladder import best_rate, ladder
from .loop import learn

SEEDS = range(3)
N, NAMES, VALUES = 64, 128, 16
NONE = VALUES  # the answer where the name has not come yet
D, HEADS, P = 64, 4, 16
CODE = 24  # features of a name's code; a value's has the rest, as a name is there twice
SETTLED = 8  # places judged from here on, so that there is a past
STEPS, BATCH = 800, 32
RATES = (1e-2, 2e-2, 4e-2)
BASE = 10_000.0  # of the rotation
WINDOW, SINKS = 32, 4
BITS = (8, 4, 2)
JUDGE, VALIDATE, TEST = 10**6, 10**5, 256


class Kind(NamedTuple):
    """How keys and values are made: heads of their own, or a latent vector and a rotary key."""

    heads: int = 0
    latent: int = 0
    rotary: int = 0

    @property
    def numbers(self) -> int:
        """How many numbers the cache holds for a token."""
        return 2 * self.heads * P + self.latent + self.rotary


KINDS = {
    "four heads": Kind(heads=4),
    "one shared": Kind(heads=1),
    "latent": Kind(latent=24, rotary=8),
    "latent, no rotary key": Kind(latent=32),
}


COMPARED = ("four heads", "one shared", "latent")  # the last kind is a control, at the latent rate


class Batch(NamedTuple):
    """Names, values and asked names (b, n); what is near and far (b, n), and where "far" is."""

    names: Tensor
    values: Tensor
    asked: Tensor
    near: Tensor
    far: Tensor
    source: Tensor  # the place of the far token; -1 where there is none


def draw(b: int, random: torch.Generator) -> Batch:
    """New sequences of N tokens, in each of which all names differ."""
    order = torch.rand(b, NAMES, generator=random).argsort(1)
    names, values = order[:, :N], torch.randint(VALUES, (b, N), generator=random)
    places = torch.arange(N).expand(b, N)
    back = (torch.rand(b, N, generator=random) * places).long()  # an earlier place
    absent = torch.rand(b, N, generator=random) < 0.25
    absent[:, 0] = True
    other = N + torch.randint(NAMES - N, (b, N), generator=random)  # a name that is nowhere
    asked = order.gather(1, torch.where(absent, other, back))
    far = torch.where(absent, NONE, values.gather(1, back))
    return Batch(names, values, asked, values.roll(2, 1), far, torch.where(absent, -1, back))


class Layer(nn.Module):
    """One layer of attention, read through what its cache holds.

    `hold(batch)` gives what is kept of each token, (b, n, numbers), and `read` answers from it;
    between them it can be shortened.
    """

    def __init__(self, kind: Kind):
        super().__init__()
        self.kind = kind
        fixed = torch.Generator().manual_seed(0)  # the same codes in every layer
        for name, count, size in (("names", NAMES, CODE), ("values", VALUES, D - 2 * CODE)):
            codes = torch.randn(count, size, generator=fixed)
            self.register_buffer(name, codes, persistent=False)
        self.first = nn.Parameter(torch.zeros(D))
        turned = kind.rotary if kind.latent else P
        self.W_q = nn.Linear(D, HEADS * (P + kind.rotary), bias=False)
        self.W_down = nn.Linear(D, kind.numbers, bias=False)
        if kind.latent:
            self.W_k = nn.Linear(kind.latent, HEADS * P, bias=False)
            self.W_v = nn.Linear(kind.latent, HEADS * P, bias=False)
        self.turn = RotaryPositions(turned, max_len=N, base=BASE) if turned else None
        self.near, self.far = nn.Linear(HEADS * P, VALUES), nn.Linear(HEADS * P, VALUES + 1)

    def _inputs(self, batch: Batch) -> Tensor:
        parts = self.names[batch.names], self.values[batch.values], self.names[batch.asked]
        return torch.cat(parts, -1) + (torch.arange(N) == 0)[:, None] * self.first

    def hold(self, batch: Batch) -> Tensor:
        """What the cache holds: (b, n, numbers), keys already turned."""
        held = self.W_down(self._inputs(batch))
        if self.kind.latent:
            c, r = held.split((self.kind.latent, self.kind.rotary), -1)
            return torch.cat((c, self.turn(r)), -1) if self.kind.rotary else c
        keys, values = held.chunk(2, -1)
        keys = self.turn(keys.unflatten(-1, (-1, P)).transpose(1, 2))  # (b, h_kv, n, p)
        return torch.cat((keys.transpose(1, 2).flatten(2), values), -1)

    def read(self, batch: Batch, held: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of near and far, (b, n, VALUES) and (b, n, VALUES + 1)."""
        queries = self.W_q(self._inputs(batch)).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        if self.kind.latent:
            c, r = held.split((self.kind.latent, self.kind.rotary), -1)
            keys, values = (
                W(c).unflatten(-1, (HEADS, P)).transpose(1, 2) for W in (self.W_k, self.W_v)
            )
            if self.kind.rotary:
                content, placed = queries.split((P, self.kind.rotary), -1)
                queries = torch.cat((content, self.turn(placed)), -1)
                keys = torch.cat((keys, r[:, None].expand(-1, HEADS, -1, -1)), -1)
        else:
            queries = self.turn(queries)
            keys, values = (x.unflatten(-1, (-1, P)).transpose(1, 2) for x in held.chunk(2, -1))
            keys, values = (x.repeat_interleave(HEADS // x.shape[1], 1) for x in (keys, values))
        output = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        output = output.transpose(1, 2).flatten(2)
        return self.near(output), self.far(output)


def train(kind: str, seed: int, *, steps: int = STEPS, rate: float):
    """A trained layer, and its loss after each step."""
    torch.manual_seed(seed)
    model, random = Layer(KINDS[kind]), torch.Generator().manual_seed(seed)
    causal = causal_mask(N)

    def loss(step: int) -> Tensor:
        batch = draw(BATCH, random)
        near, far = model.read(batch, model.hold(batch), causal)
        part = slice(SETTLED, None)
        near_loss = F.cross_entropy(near[:, part].flatten(0, 1), batch.near[:, part].flatten())
        return near_loss + F.cross_entropy(far[:, part].flatten(0, 1), batch.far[:, part].flatten())

    return model, learn(model, loss, steps=steps, rate=rate, warmup=0.2, clip=1.0, fused=True)


def short(held: Tensor, bits: int) -> Tensor:
    """Held numbers rounded to so many bits, with a scale of its own for each token."""
    most = 2 ** (bits - 1) - 1
    scale = held.abs().amax(-1, keepdim=True).clamp(min=1e-8) / most
    return (held / scale).round() * scale


def bytes_of(kind: Kind, bits: int = 32) -> float:
    """What the cache of one token takes; fewer bits need a scale of 16."""
    return kind.numbers * bits / 8 + (2 if bits < 32 else 0)


def seen_through(width: int, sinks: int = 0) -> Tensor:
    """Which keys a cache still has: the last `width`, and the first `sinks` of all."""
    first = (torch.arange(N) < sinks) & causal_mask(N)
    return window_mask(N, N, width, causal=True) | first


@torch.no_grad()
def judge(model: Layer, batch: Batch, *, bits: int = 32, mask: Tensor | None = None) -> dict:
    """Right answers to near, to far where there is one, and to far where there is none."""
    held = model.hold(batch)
    held = short(held, bits) if bits < 32 else held
    near, far = model.read(batch, held, causal_mask(N) if mask is None else mask)
    there, part = (batch.source >= 0)[:, SETTLED:], slice(SETTLED, None)
    right = (far.argmax(-1) == batch.far)[:, part]
    found = {
        "near": (near.argmax(-1) == batch.near)[:, part],
        "far": right[there],
        "none": right[~there],
    }
    return {name: x.float().mean().item() for name, x in found.items()}


@cache
def fresh(seed: int = JUDGE) -> Batch:
    """Sequences that no training has."""
    return draw(TEST, torch.Generator().manual_seed(seed))


def reach(batch: Batch, width: int, first: int = 0) -> float:
    """The share of far tokens that are among the last `width` or the `first`: all it can find."""
    back = torch.arange(N) - batch.source
    held, there = (back < width) | (batch.source < first), batch.source >= 0
    return held[:, SETTLED:][there[:, SETTLED:]].float().mean().item()


def tried() -> list[dict]:
    """Wrong answers to validation sequences of each kind at each rate, seed 0."""
    return [row for kind in COMPARED for row in _ladder(kind)]


@cache
def _ladder(kind: str) -> list[dict]:
    def trial(rate: float) -> dict:
        model, losses = train(kind, 0, rate=rate)
        found = judge(model, fresh(VALIDATE))
        row = {"kind": kind, "rate": rate, "loss": sum(losses[-20:]) / 20}
        return row | {"wrong": 3 - sum(found.values())}

    return ladder(trial, RATES, key="wrong")


def trace() -> dict[str, list[float]]:
    """The first steps of each kind."""
    return {kind: train(kind, 0, steps=8, rate=RATES[0])[1] for kind in KINDS}


def caches(kind: Kind) -> dict[str, dict]:
    """Ways to keep less: what `judge` takes, and the bytes that are held after N tokens."""
    whole = N * bytes_of(kind)
    ways = {"all": {}} | {f"{bits} bits": {"bits": bits} for bits in BITS}
    sizes = {name: whole if not way else N * bytes_of(kind, **way) for name, way in ways.items()}
    ways["window"] = {"mask": seen_through(WINDOW)}
    ways["window and first"] = {"mask": seen_through(WINDOW - SINKS, SINKS)}
    sizes |= dict.fromkeys(("window", "window and first"), WINDOW * bytes_of(kind))
    return {name: {"way": way, "bytes": sizes[name]} for name, way in ways.items()}


def run(seed: int) -> list[dict]:
    """One seed of every kind, read through every cache."""
    rows, batch = [], fresh()
    for name, kind in KINDS.items():
        rate = best_rate(_ladder(name if name in COMPARED else "latent"), "wrong")
        model, losses = train(name, seed, rate=rate)
        ends = {"rate": rate, "loss": sum(losses[-20:]) / 20, "before": sum(losses[-220:-200]) / 20}
        for way, one in caches(kind).items():
            row = {"seed": seed, "kind": name, "cache": way, "bytes": one["bytes"]}
            rows.append(row | judge(model, batch, **one["way"]) | ends)
    return rows
