"""Attention sinks in miniature: a layer that has something to look for only now and then.

A sequence follows a fixed chain: each token has one successor. Now and then stands a trigger, and
after it comes the token *before* the trigger once more. So a model of one layer knows the next
token from the present one, except after a trigger: there it must look one place back. Everywhere
else attention has nothing to do. How is that said by a softmax, whose weights sum to one, by a
softmax with a sink, and by a layer with a gate after its attention?

After Guo et al. 2024 (the task "bigram-backcopy"); the sink is that of gpt-oss, the gate that of
Qiu et al. 2025.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.attention import attention
from attnbook.masks import causal_mask, window_mask
from attnbook.normalize import masked_softmax, sink_softmax

from .loop import learn

SEEDS = range(6)
WITHOUT_FIRST = range(3)  # seeds of the layers without a fixed first token
KINDS = ("softmax", "sink", "high sink", "gate")
HIGH = 4.0  # where the sink's logit begins, if not at 0
VOCAB, TRIGGERS, LENGTH, D = 32, 3, 32, 64
FIRST = 0  # the token that begins a sequence, where there is one; then come the triggers
STEPS, BATCH = 600, 64
RATES = (3e-3, 1e-2, 3e-2)
RATE = 1e-2  # the best of them
WINDOW = 8
SETTLED = 5  # places judged from here on, so that there is a past


def draw(b: int, generator: torch.Generator, *, first: bool = True) -> Tensor:
    """Sequences (b, LENGTH + 1); `first`: they begin with one and the same token."""
    fixed = torch.Generator().manual_seed(0)  # the same chain in every call
    chain = torch.arange(VOCAB)
    chain[TRIGGERS + 1 :] = TRIGGERS + 1 + torch.randperm(VOCAB - TRIGGERS - 1, generator=fixed)

    def anything() -> Tensor:
        return torch.randint(TRIGGERS + 1, VOCAB, (b,), generator=generator)

    x = torch.zeros(b, LENGTH + 1, dtype=torch.long)
    x[:, 0] = FIRST if first else anything()
    x[:, 1] = anything()
    for t in range(2, LENGTH + 1):
        last = x[:, t - 1]
        after = is_trigger(last)
        draw_ = torch.rand(b, generator=generator)
        trigger = torch.randint(1, TRIGGERS + 1, (b,), generator=generator)
        free = torch.where(draw_ > 0.8, anything(), chain[last])  # the chain begins anew
        free = torch.where((draw_ < 0.2) & ~after, trigger, free)
        copied = torch.where(draw_ > 0.8, free, x[:, t - 2])
        x[:, t] = torch.where(after, copied, free)
    return x


def is_trigger(x: Tensor) -> Tensor:
    """Where a token is a trigger."""
    return (x >= 1) & (x <= TRIGGERS)


class Layer(nn.Module):
    """One block with one head: attention, of one of the `KINDS`, and a feed-forward network.

    Shapes: tokens (b, n) -> logits (b, n, VOCAB), weights (b, n, n), values (b, n, d).
    """

    def __init__(self, kind: str):
        super().__init__()
        self.token, self.place = nn.Embedding(VOCAB, D), nn.Embedding(LENGTH, D)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(3))
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.hidden, self.back = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.output = nn.Linear(D, VOCAB)
        starts = {"sink": 0.0, "high sink": HIGH}
        self.sink = nn.Parameter(torch.tensor(starts[kind])) if kind in starts else None
        self.W_g = nn.Linear(D, D) if kind == "gate" else None

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        n = x.shape[1]
        h = self.token(x) + self.place.weight[:n]
        z = self.norms[0](h)
        values = self.W_v(z)
        normalize = masked_softmax
        if self.sink is not None:
            normalize = partial(sink_softmax, sink=self.sink)
        mask = causal_mask(n) if mask is None else mask
        c, weights = attention(self.W_q(z), self.W_k(z), values, mask=mask, normalize=normalize)
        if self.W_g is not None:
            c = c * self.W_g(z).sigmoid()
        h = h + self.W_o(c)
        h = h + self.back(self.hidden(self.norms[1](h)).relu())
        return self.output(self.norms[2](h)), weights, values


def losses(model: Layer, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """Cross-entropy of each next token of x (b, n + 1), (b, n)."""
    return F.cross_entropy(model(x[:, :-1], mask)[0].mT, x[:, 1:], reduction="none")


def train(kind: str, seed: int, *, first: bool = True, steps: int = STEPS, rate: float = RATE):
    """A layer trained from `seed`, and its loss after each step."""
    torch.manual_seed(seed)
    model, random = Layer(kind), torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        return losses(model, draw(BATCH, random, first=first)).mean()

    return model, learn(model, loss, steps=steps, rate=rate)


@torch.no_grad()
def judge(model: Layer, *, first: bool = True, seed: int = 10**6) -> dict:
    """Where the weights lie, where there is something to look for and elsewhere; windows, too."""
    x = draw(512, torch.Generator().manual_seed(seed), first=first)
    inputs, n = x[:, :-1], LENGTH
    logits, weights, values = model(inputs)
    asked = is_trigger(inputs)
    asked[:, :SETTLED], idle = False, ~asked
    idle[:, :SETTLED] = False
    near = window_mask(n, n, WINDOW, causal=True)
    with_first = near | ((torch.arange(n) == 0) & causal_mask(n))
    copied = torch.zeros_like(inputs)
    copied[:, 1:] = inputs[:, :-1]
    size = values.norm(dim=-1)
    output = {
        "loss": losses(model, x)[:, SETTLED:].mean(),
        "copied": (logits.argmax(-1) == copied)[asked].float().mean(),
        "first, idle": weights[..., 0][idle].mean(),
        "first, asked": weights[..., 0][asked].mean(),
        "before, asked": weights.diagonal(-1, dim1=1, dim2=2)[asked[:, 1:]].mean(),
        "sum, idle": weights.sum(-1)[idle].mean(),
        "sum, asked": weights.sum(-1)[asked].mean(),
        "largest, idle": weights.amax(-1)[idle].mean(),
        "value of the first": (size[:, 0] / size[:, 1:].median(dim=1).values).mean(),
        "window": losses(model, x, near)[:, WINDOW:].mean(),
        "window and first": losses(model, x, with_first)[:, WINDOW:].mean(),
        "all": losses(model, x)[:, WINDOW:].mean(),
    }
    found = {name: value.item() for name, value in output.items()}
    return found | ({} if model.sink is None else {"sink": model.sink.item()})


def tried() -> list[dict]:
    """The validation loss of each kind at each rate, seed 0."""

    def trial(kind: str, rate: float) -> dict:
        model, _ = train(kind, 0, rate=rate)
        return {"kind": kind, "rate": rate, "loss": judge(model, seed=10**5)["loss"]}

    return [trial(*way) for way in product(KINDS, RATES)]


def trace() -> dict[str, list[float]]:
    """A brief training of each kind."""
    return {kind: train(kind, 0, steps=12)[1] for kind in KINDS}


def run(seed: int) -> list[dict]:
    """One seed of every kind; of two of them also without a first token that is always the same."""
    rows = []
    without = ("softmax", "sink") if seed in WITHOUT_FIRST else ()
    for first, kinds in ((True, KINDS), (False, without)):
        for kind in kinds:
            model, _ = train(kind, seed, first=first)
            rows.append({"seed": seed, "kind": kind, "first": first, **judge(model, first=first)})
    return rows
