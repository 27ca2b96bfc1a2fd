"""What recall windows leave: pairs to be recalled at known distances, by three plans.

A sequence holds a few pairs among fillers, each a key with its value in one token. Later a question
names a key, and the model must say its value. How far back the pair stands is drawn uniformly, so
that for each question it is known how far the model must reach. Values are drawn without regard to
anything else: who does not see the pair can only guess.

All layers have a window; or all but the last, which is full; or all are full. Everything else is
equal: parameters, sequences, steps. Each plan has the rate that is best for it on validation
sequences (`tried`). Windows alone are trained again with twice the steps, and with questions that
they can answer (`CONTROLS`). `make train` trains three seeds of each, and three more of the mixed
plan, which not every seed learns in time: where one has not, it is trained anew for twice the
steps. Chapter 10 reads them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.masks import causal_mask, window_mask
from attnbook.training import History, fit, mean_loss, set_seed
from attnbook.transformer import EncoderBlock, Stack, TokenEmbedding, TransformerConfig

from .loop import losses, parameters
from .stored import load_into

SEEDS = range(6)
OF_ALL = range(3)  # seeds of every plan and control; the others are of the mixed plan alone
LENGTH, WIDTH, LAYERS = 128, 16, 4  # tokens, keys of a window, layers
HOP = WIDTH - 1  # places that one window reaches back
REACH = LAYERS * HOP  # and that all of them do, one after the other
PAIRS, KEYS, VALUES, FILLERS = 4, 8, 8, 8  # pairs of a sequence; how many of each there are
PLANS = {  # which layers are full
    "all window": (False,) * LAYERS,
    "3 : 1": (False,) * (LAYERS - 1) + (True,),
    "all full": (True,) * LAYERS,
}
MIXED = "3 : 1"
LEARNED = 0.95  # share of right answers, at every distance
RATES = 2e-3, 4e-3, 8e-3, 16e-3
CHOSEN = {"all window": 8e-3, "3 : 1": 4e-3, "all full": 4e-3}
BATCH, STEPS, TRIAL = 16, 1500, 500  # sequences of a step; steps of a training, of a trial
CONTROLS = (  # of windows alone: steps, and the farthest pair that is asked for in training
    (2 * STEPS, LENGTH - 1),  # has the plan had enough steps?
    (STEPS, REACH),  # is it the questions that it cannot answer?
    (STEPS, HOP),  # can it do the task at all?
)
FILES = {"all window": "sparse_window", "3 : 1": "sparse_ratio", "all full": "sparse_full"}


class Batch(NamedTuple):
    """Sequences (b, n): tokens, the value asked for at each place or -100, distances or 0."""

    tokens: Tensor
    values: Tensor
    distances: Tensor


def sequence(
    chance: random.Random, farthest: int = LENGTH - 1
) -> tuple[list[int], list[int], list[int]]:
    """One sequence; each pair is asked for once, at most `farthest` places later."""
    places: set[int] = set()
    while len(places) < 2 * PAIRS:  # until no two tokens want the same place
        distances = [chance.randint(1, farthest) for _ in range(PAIRS)]
        ends = [chance.randint(distance, LENGTH - 1) for distance in distances]
        starts = [end - distance for end, distance in zip(ends, distances, strict=True)]
        places = {*starts, *ends}
    tokens = [chance.randrange(FILLERS) for _ in range(LENGTH)]
    asked, back = [-100] * LENGTH, [0] * LENGTH
    keys = chance.sample(range(KEYS), PAIRS)
    for key, start, end in zip(keys, starts, ends, strict=True):
        value = chance.randrange(VALUES)
        tokens[start] = FILLERS + key * VALUES + value
        tokens[end] = FILLERS + KEYS * VALUES + key
        asked[end], back[end] = value, end - start
    return tokens, asked, back


def draw(batches: int, seed: int, farthest: int = LENGTH - 1) -> list[Batch]:
    """Batches of sequences: the same for the same seed."""
    chance = random.Random(seed)
    drawn = ([sequence(chance, farthest) for _ in range(BATCH)] for _ in range(batches))
    return [Batch(*map(torch.tensor, zip(*rows, strict=True))) for rows in drawn]


class Recaller(nn.Module):
    """Causal blocks, each under a window or not; logits of the values, (b, n, VALUES)."""

    def __init__(self, full: Sequence[bool]):
        super().__init__()
        config = TransformerConfig(
            32, num_heads=2, num_layers=len(full), d_ff=64, dropout=0.0, positions="rotary"
        )
        self.embedding = TokenEmbedding(FILLERS + KEYS * VALUES + KEYS, config)
        self.stack = Stack(config, EncoderBlock)
        self.output = nn.Linear(32, VALUES)
        self.full = full

    def forward(self, tokens: Tensor) -> Tensor:
        n = tokens.shape[1]
        masks = {True: causal_mask(n), False: window_mask(n, n, WIDTH, causal=True)}
        x = self.embedding(tokens)  # (b, n) -> (b, n, d)
        for block, full in zip(self.stack.blocks, self.full, strict=True):
            x = block(x, mask=masks[full]).x
        return self.output(self.stack.norm(x))


def pairs_scored(plan: str) -> int:
    """Pairs (query, key) that the layers of a plan score for one sequence."""
    window = window_mask(LENGTH, LENGTH, WIDTH, causal=True).sum().item()
    return sum(LENGTH * (LENGTH + 1) // 2 if full else window for full in PLANS[plan])


def loss(model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
    """Cross-entropy per question."""
    logits = model(batch.tokens)
    value = F.cross_entropy(logits.flatten(0, 1), batch.values.flatten())
    return value, int((batch.distances > 0).sum())


def train(
    plan: str, rate: float, seed: int, steps: int = STEPS, farthest: int = LENGTH - 1
) -> tuple[Recaller, History]:
    """The trained model of a plan, and what its training saw."""
    set_seed(seed)
    model = Recaller(PLANS[plan])
    batches = draw(steps, 1000 + seed, farthest)
    history = fit(model, batches, epochs=1, learning_rate=rate, loss=loss, progress=False)
    return model, history


@torch.no_grad()
def answers(model: nn.Module, batches: Sequence[Batch]) -> tuple[Tensor, Tensor]:
    """Of every question: how far back its pair is, and whether the likeliest value is right."""
    found = []
    for batch in batches:
        asked = batch.distances > 0
        right = model(batch.tokens).argmax(dim=-1) == batch.values
        found.append((batch.distances[asked], right[asked]))
    distances, right = zip(*found, strict=True)
    return torch.cat(distances), torch.cat(right)


def judge(model: nn.Module) -> dict:
    """Questions, and right answers, by how many windows one after the other reach the pair."""
    distances, right = answers(model, draw(200, 2))
    hops = (distances + HOP - 1) // HOP
    numbers = range(1, -(-(LENGTH - 1) // HOP) + 1)
    return {
        "questions": [int((hops == h).sum()) for h in numbers],
        "right": [int(right[hops == h].sum()) for h in numbers],
    }


def stored(plan: str) -> Recaller:
    """The stored model of a plan, in evaluation mode."""
    return load_into(Recaller(PLANS[plan]), FILES[plan])


def trace() -> dict[str, list[float]]:
    """A brief training of each plan."""
    return {plan: losses(train(plan, rate, 0, steps=20)[1]) for plan, rate in CHOSEN.items()}


def reread() -> dict[str, dict[str, float]]:
    """What the stored weights of each plan do with one batch."""
    found = {}
    for plan, file in FILES.items():
        model, batches = stored(plan), draw(1, 2)
        right = answers(model, batches)[1].float().mean().item()
        found[file] = {"loss": mean_loss(model, batches, loss=loss), "accuracy": right}
    return found


def tried() -> list[dict]:
    """The held-out loss of each plan at each rate after a short training, one seed."""
    held_out = draw(50, 1)

    def trial(plan: str, rate: float) -> dict:
        value = mean_loss(train(plan, rate, 0, TRIAL)[0], held_out, loss=loss)
        return {"plan": plan, "rate": rate, "held-out loss": value}

    return [trial(*way) for way in product(PLANS, RATES)]


def row(plan: str, model: nn.Module, history: History, **asked) -> dict:
    """What is stored of a training: what was asked of it, its losses, what it answers."""
    path = losses(history)
    tenth = len(path) // 10
    return {
        "plan": plan,
        **asked,
        "parameters": parameters(model),
        "losses": [sum(path[i : i + tenth]) / tenth for i in range(0, len(path), tenth)],
        "seconds": history.seconds[0],
        **judge(model),
    }


def learned(row: dict) -> bool:
    """Whether at least `LEARNED` of the questions are answered, at every distance."""
    pairs = zip(row["right"], row["questions"], strict=True)
    return min(right / asked for right, asked in pairs) > LEARNED


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of every plan, and of the controls; or of the mixed plan alone."""
    trainings = [(plan, STEPS, LENGTH - 1) for plan in PLANS if seed in OF_ALL or plan == MIXED]
    if seed in OF_ALL:
        trainings += [("all window", *control) for control in CONTROLS]
    rows = []
    for plan, steps, farthest in trainings:  # which grows
        model, history = train(plan, CHOSEN[plan], seed, steps, farthest)
        if seed == SEEDS[0] and len(rows) < len(PLANS):
            keep(FILES[plan], model)
        rows.append(row(plan, model, history, seed=seed, steps=steps, farthest=farthest))
        if plan == MIXED and steps == STEPS and not learned(rows[-1]):
            trainings.append((plan, 2 * STEPS, farthest))
    return rows
