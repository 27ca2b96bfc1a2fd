"""Positions past the trained length: pairs of a key and a value, hidden in filler.

A text holds eight pairs, and ends with eight keys, whose values are asked for. Models are trained
on texts of 24 to 64 tokens before the questions, and judged on texts of up to 512. Three kinds of
positions are trained: none, rotary, ALiBi. What interpolation, "NTK" and YaRN change is changed
afterwards, in the trained rotary model, without a step of training; so is the temperature, which
YaRN brings along, in the model without positions.

Rates are the best on validation texts of the trained lengths (`tried`), the strength of the
temperature and the ends of the ramp on validation texts of 256 tokens.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.masks import causal_mask
from attnbook.positions import StretchedRotary, stretched_frequencies
from attnbook.stack import EncoderBlock, Stack, TokenEmbedding, TransformerConfig

from .loop import learn, parameters

SEEDS = range(3)
KINDS = {None: 3e-3, "rotary": 3e-3, "alibi": 3e-3}  # positions, and their rates
RATES = (1e-3, 3e-3, 1e-2)
KEYS, VALUES, FILLERS, PAIRS = 16, 16, 32, 8
SHORTEST, LONGEST = 24, 64  # tokens before the questions, in training
LENGTHS = (64, 128, 256, 512)
TRAINED = LONGEST + PAIRS  # places that a model has seen
D, HEADS = 64, 2
STEPS, BATCH = 600, 32
VALIDATE, JUDGE = 10**5, 10**6


class Texts(NamedTuple):
    """Texts x (b, n + PAIRS), the values asked for, and where they stand, both (b, PAIRS)."""

    x: Tensor
    values: Tensor
    places: Tensor


def draw(b: int, n: int, generator: torch.Generator) -> Texts:
    """New texts of `n` tokens, an even number, and the questions."""
    x = torch.randint(KEYS + VALUES, KEYS + VALUES + FILLERS, (b, n), generator=generator)
    keys = torch.rand(b, KEYS, generator=generator).argsort(-1)[:, :PAIRS]
    values = torch.randint(VALUES, (b, PAIRS), generator=generator)
    places = 2 * torch.rand(b, n // 2, generator=generator).argsort(-1)[:, :PAIRS]
    x = x.scatter(1, places, keys).scatter(1, places + 1, KEYS + values)
    order = torch.rand(b, PAIRS, generator=generator).argsort(-1)
    asked = (part.gather(1, order) for part in (keys, values, places + 1))
    questions, *rest = asked
    return Texts(torch.cat((x, questions), dim=1), *rest)


class Reader(nn.Module):
    """Logits of the values asked for: x (b, n + PAIRS) -> (b, PAIRS, VALUES)."""

    def __init__(self, positions: str | None):
        super().__init__()
        config = TransformerConfig(
            D, num_heads=HEADS, num_layers=2, d_ff=2 * D, dropout=0.0, positions=positions
        )
        self.embedding = TokenEmbedding(KEYS + VALUES + FILLERS, config)
        self.stack = Stack(config, EncoderBlock)
        self.output = nn.Linear(D, VALUES)

    def forward(self, x: Tensor) -> Tensor:
        h = self.stack(self.embedding(x), mask=causal_mask(x.shape[1])).x
        return self.output(self.stack.norm(h)[:, -PAIRS:])


def turned(model: Reader, positions: StretchedRotary | None) -> Reader:
    """The model, in place, with other positions in each of its layers."""
    for block in model.stack.blocks:
        block.self_attention.attention.positions = positions
    return model


class Stretch(NamedTuple):
    """What is changed in a trained model when a text is longer."""

    positions: str | None  # of the model that is changed
    way: str | None = None  # of `stretched_frequencies`; None: as trained
    turns: tuple[float, float] = (1.0, 32.0)
    heat: float = 0.0  # queries and keys are multiplied by 1 + heat ln(factor)


TURNS = ((1.0, 32.0), (1.0, 8.0), (1.0, 4.0))  # the first as published
HEATS = (0.0, 0.05, 0.1, 0.2, 0.3)  # the third as published
PUBLISHED = HEATS[2]
WAYS = {
    "none": Stretch(None),
    "none, temperature": Stretch(None, heat=PUBLISHED),
    "rotary": Stretch("rotary"),
    "interpolation": Stretch("rotary", "interpolation"),
    "ntk": Stretch("rotary", "ntk"),
    "ramp": Stretch("rotary", "ramp"),
    "temperature": Stretch("rotary", heat=PUBLISHED),
    "yarn": Stretch("rotary", "ramp", heat=PUBLISHED),
    "interpolation, temperature": Stretch("rotary", "interpolation", heat=PUBLISHED),
    "ntk, temperature": Stretch("rotary", "ntk", heat=PUBLISHED),
    "alibi": Stretch("alibi"),
}
CHOSEN_AT = 256
OTHERS = [("rotary", "ramp", turns, heat) for turns in TURNS for heat in HEATS]
OTHERS += [("rotary", way, TURNS[0], heat) for way in ("interpolation", "ntk") for heat in HEATS]
OTHERS += [(kind, None, TURNS[0], heat) for kind in (None, "rotary") for heat in HEATS]


def stretch(model: Reader, how: Stretch, n: int) -> Reader:
    """The trained model, in place, made ready for `n` tokens and the questions."""
    d, factor = D // HEADS, max((n + PAIRS) / TRAINED, 1.0)
    if how.positions == "alibi":
        return model
    if how.positions is None and not how.heat:
        return turned(model, None)
    if how.positions is None:
        frequencies = torch.zeros(d // 2, dtype=torch.float64)  # nothing turns
    elif how.way is None:
        frequencies = stretched_frequencies(d, 1.0, "interpolation")
    else:
        frequencies = stretched_frequencies(d, factor, how.way, trained=TRAINED, turns=how.turns)
    return turned(model, StretchedRotary(frequencies, scale=1 + how.heat * math.log(factor)))


def train(positions: str | None, rate: float, seed: int, steps: int = STEPS):
    """A model trained from `seed`, and its loss after each step."""
    torch.manual_seed(seed)
    model, random = Reader(positions), torch.Generator().manual_seed(1000 + seed)

    def loss(step: int) -> Tensor:
        n = 2 * int(torch.randint(SHORTEST // 2, LONGEST // 2 + 1, (1,), generator=random))
        texts = draw(BATCH, n, random)
        return F.cross_entropy(model(texts.x).flatten(0, 1), texts.values.flatten())

    options = {"warmup": 0.1, "clip": 1.0, "fused": True}
    return model, learn(model, loss, steps=steps, rate=rate, **options)


@torch.no_grad()
def judge(model: Reader, n: int, seed: int = JUDGE, examples: int = 100) -> float:
    """The share of questions that are answered in texts of `n` tokens."""
    random, right = torch.Generator().manual_seed(seed), []
    for _ in range(examples // 25):
        texts = draw(25, n, random)
        right.append(model(texts.x).argmax(-1) == texts.values)
    return torch.cat(right).float().mean().item()


def trace() -> dict[str, list[float]]:
    """The first steps of each kind, and what each way then reads in a longer text."""
    found = {str(kind): train(kind, rate, 0, steps=8) for kind, rate in KINDS.items()}
    x = draw(1, LENGTHS[1], torch.Generator().manual_seed(VALIDATE)).x
    traces = {kind: losses for kind, (_, losses) in found.items()}
    for name, how in WAYS.items():
        model = stretch(found[str(how.positions)][0], how, LENGTHS[1])
        traces["read, " + name] = model(x)[0, 0, :4].tolist()
    return traces


def tried() -> list[dict]:
    """Right answers on validation texts of the trained lengths, at each rate, seed 0."""

    def trial(kind: str | None, rate: float) -> dict:
        model, _ = train(kind, rate, 0)
        right = [judge(model, n, VALIDATE, 100) for n in (SHORTEST, LONGEST)]
        return {"positions": kind, "rate": rate, "right": sum(right) / len(right)}

    return [trial(kind, rate) for kind in KINDS for rate in RATES]


def run(seed: int) -> list[dict]:
    """One seed of every kind, read in every way; other ramps and temperatures on validation."""
    rows, models = [], {}
    for kind, rate in KINDS.items():
        models[kind], losses = train(kind, rate, seed)
        rows.append({"seed": seed, "trained": str(kind), "loss": sum(losses[-20:]) / 20})
        rows[-1]["parameters"] = parameters(models[kind])
    for name, how in WAYS.items():
        model, row = models[how.positions], {"seed": seed, "way": name}
        row |= {str(n): judge(stretch(model, how, n), n) for n in LENGTHS}
        rows.append(row)
    for kind, way, turns, heat in OTHERS:
        how = Stretch(kind, way, turns, heat)
        right = judge(stretch(models[kind], how, CHOSEN_AT), CHOSEN_AT, VALIDATE, 100)
        row = {"seed": seed, "positions": str(kind), "stretched": str(way), "turns": turns[1]}
        rows.append(row | {"heat": heat, "validation": right})
    return rows
