"""Two relations at once: what a second head is for.

A sequence holds tokens, each with a key, no two alike, and a value. Every place asks for a key.
It must answer with two values: that of the token two places to its left (the sequence is a ring),
and that of the token whose key it asks for. Chapter 5 trains one seed of one head and of two;
`make train` trains six, and the variants that give one head more room or time.

Shape letters: `b` sequences, `n` places, `h` heads, `r` relations (2), `m` values.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.multihead import MultiHeadAttention

from .loop import learn, parameters

SEEDS = range(6)
RELATIONS = ("left", "match")  # two to the left, and the matching key
PLACES, KEYS, VALUES = 10, 16, 8
MODELS = {  # name: width, heads, hidden units of the readout (0: linear), training steps
    "one head": (32, 1, 0, 1500),
    "two heads": (32, 2, 0, 1500),
    "four heads": (32, 4, 0, 1500),
    "one head, twice as wide": (64, 1, 0, 1500),
    "one head, three times as long": (32, 1, 0, 4500),
    "one head, hidden layer": (32, 1, 64, 1500),
}


class Examples(NamedTuple):
    """Sequences: keys, values and asked (b, n); answers (b, n, 2); sources (b, n, 2).

    `sources` holds the places from which the answers come, one for each relation.
    """

    keys: Tensor
    values: Tensor
    asked: Tensor
    answers: Tensor
    sources: Tensor


def draw(count: int, generator: torch.Generator) -> Examples:
    """Draw `count` sequences: keys without repetition, values and questions uniformly."""
    shape = (count, PLACES)
    order = torch.rand(count, KEYS, generator=generator).argsort(dim=1)
    keys = order[:, :PLACES]
    values = torch.randint(VALUES, shape, generator=generator)
    match = torch.randint(PLACES, shape, generator=generator)
    left = ((torch.arange(PLACES) - 2) % PLACES).expand(shape)
    sources = torch.stack((left, match), dim=-1)  # (b, n, r)
    answers = values.gather(1, sources.flatten(1)).view(sources.shape)
    return Examples(keys, values, keys.gather(1, match), answers, sources)


class TwoRelations(nn.Module):
    """One layer of attention and a linear readout: nothing else that could tell relations apart.

    Queries know their place and the key they ask for; keys know their place and their key; values
    know their value alone. So the weights never depend on the values.

    Shapes: keys, values, asked (b, n) -> logits (b, n, 2, m), weights (b, h, n, n).
    """

    def __init__(self, d_model: int = 32, num_heads: int = 2, hidden: int = 0):
        super().__init__()
        self.key, self.value = nn.Embedding(KEYS, d_model), nn.Embedding(VALUES, d_model)
        self.place = nn.Embedding(PLACES, d_model)
        self.attend = MultiHeadAttention(d_model, num_heads, bias=False)
        out = len(RELATIONS) * VALUES
        self.readout = nn.Linear(d_model, out)
        if hidden:
            layers = (nn.Linear(d_model, hidden), nn.ReLU(), nn.Linear(hidden, out))
            self.readout = nn.Sequential(*layers)

    def forward(
        self,
        keys: Tensor,
        values: Tensor,
        asked: Tensor,
        *,
        head_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        place = self.place.weight  # (n, d)
        output, weights = self.attend(
            self.key(asked) + place,
            self.key(keys) + place,
            self.value(values),
            head_mask=head_mask,
            need_weights=need_weights,
        )
        return self.readout(output).unflatten(-1, (len(RELATIONS), VALUES)), weights


def train(model: TwoRelations, steps: int, generator: torch.Generator) -> list[float]:
    """Fresh sequences at each step, a rate up to 0.01; the loss after each step."""

    def loss(step: int) -> Tensor:
        examples = draw(128, generator)
        logits, _ = model(*examples[:3])
        return F.cross_entropy(logits.flatten(0, 2), examples.answers.flatten())

    return learn(model, loss, steps=steps, rate=1e-2)


def trained(name: str, seed: int) -> TwoRelations:
    """The model called `name` in `MODELS`, trained from `seed`."""
    d_model, num_heads, hidden, steps = MODELS[name]
    torch.manual_seed(seed)
    model = TwoRelations(d_model, num_heads, hidden)
    train(model, steps, torch.Generator().manual_seed(seed))
    return model


def held_out(count: int = 1000) -> Examples:
    """The sequences on which every model is judged."""
    return draw(count, torch.Generator().manual_seed(10**6))


@torch.no_grad()
def accuracy(model: TwoRelations, examples: Examples, head_mask: Tensor | None = None) -> Tensor:
    """Share of places with each relation right, and with both: (3,)."""
    logits, _ = model(*examples[:3], head_mask=head_mask)
    right = logits.argmax(dim=-1) == examples.answers  # (b, n, r)
    right = torch.cat((right, right.all(dim=-1, keepdim=True)), dim=-1)
    return right.float().mean(dim=(0, 1))


@torch.no_grad()
def among_two(model: TwoRelations, examples: Examples) -> Tensor:
    """Share of places where each relation's answer is one of the two likeliest: (2,)."""
    logits, _ = model(*examples[:3])
    likeliest = logits.topk(2, dim=-1).indices  # (b, n, r, 2)
    return (likeliest == examples.answers.unsqueeze(-1)).any(dim=-1).float().mean(dim=(0, 1))


@torch.no_grad()
def same_answer(model: TwoRelations, examples: Examples) -> float:
    """Share of the places with two different right answers where the model gives one for both."""
    logits, _ = model(*examples[:3])
    said, right = logits.argmax(dim=-1), examples.answers  # (b, n, r)
    differ = right[..., 0] != right[..., 1]
    return (said[..., 0] == said[..., 1])[differ].float().mean().item()


@torch.no_grad()
def heads_on_sources(model: TwoRelations, examples: Examples) -> Tensor:
    """Share of places where a head's largest weight lies on a relation's source: (h, r)."""
    _, weights = model(*examples[:3], need_weights=True)
    top = weights.argmax(dim=-1)  # (b, h, n)
    hits = top.unsqueeze(-1) == examples.sources.unsqueeze(1)  # (b, h, n, r)
    return hits.float().mean(dim=(0, 2))


def ablations(model: TwoRelations, examples: Examples) -> Tensor:
    """`accuracy` with one head after the other taken out: (h, 3)."""
    kept = 1 - torch.eye(model.attend.num_heads)
    return torch.stack([accuracy(model, examples, head_mask) for head_mask in kept])


def fill_sources(examples: Examples, place: int, values: Tensor) -> Examples:
    """The same sequences with other values (b, 2) where `place` takes its two answers."""
    filled = examples.values.scatter(1, examples.sources[:, place], values)
    answers = filled.gather(1, examples.sources.flatten(1)).view(examples.answers.shape)
    return examples._replace(values=filled, answers=answers)


@torch.no_grad()
def right_all_ways(model: TwoRelations, examples: Examples, place: int = 0) -> float:
    """Share of sequences whose `place` is right in all four ways to fill its sources.

    Its two values x and y stand there as (x, y), (y, x), (x, x) and (y, y); only sequences count
    in which they differ.
    """
    left, match = examples.answers[:, place].unbind(-1)
    always = differ = left != match
    for values in ((left, match), (match, left), (left, left), (match, match)):
        case = fill_sources(examples, place, torch.stack(values, dim=-1))
        logits, _ = model(*case[:3])
        right = logits.argmax(dim=-1) == case.answers  # (b, n, r)
        always = always & right[:, place].all(dim=-1)
    return (always.sum() / differ.sum()).item()


@torch.no_grad()
def contributions(model: TwoRelations, examples: Examples) -> tuple[Tensor, Tensor]:
    """What each head adds to the logits, (h, b, n, r, m), and what stands without heads, (r, m).

    The readout must be linear: then the logits are the sum of both.
    """
    h = model.attend.num_heads
    none = model(*examples[:3], head_mask=torch.zeros(h))[0]
    alone = [model(*examples[:3], head_mask=one)[0] for one in torch.eye(h)]
    return torch.stack(alone) - none, none[0, 0]


def trace() -> dict[str, list[float]]:
    """Losses of a brief training of one, of two heads, and of the other readout."""
    found = {}
    for name in ("one head", "two heads", "one head, hidden layer"):
        torch.manual_seed(0)
        model = TwoRelations(*MODELS[name][:3])
        found[name] = train(model, 20, torch.Generator().manual_seed(0))
    return found


def run(seed: int) -> list[dict]:
    """One seed of every model: its size, what it gets right, and what its heads do."""
    rows, examples = [], held_out()
    for name in MODELS:
        model = trained(name, seed)
        left, match, both = accuracy(model, examples).tolist()
        row = {"model": name, "seed": seed, "left": left, "match": match, "both": both}
        row["parameters"] = parameters(model)
        row["among two"] = among_two(model, examples).tolist()
        row["same answer"] = same_answer(model, examples)
        row["all ways"] = right_all_ways(model, examples)
        row["heads on sources"] = heads_on_sources(model, examples).tolist()
        row["one head out"] = ablations(model, examples).tolist()
        rows.append(row)
    return rows
