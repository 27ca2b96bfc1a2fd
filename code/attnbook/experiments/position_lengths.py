"""What position encodings do past the length they were trained on: two languages, five models.

Both languages are made here, so that their truth is known. In `markov` a token depends on the two
before it: all that matters is near, in a sequence of any length. In `repeat` a sequence repeats
itself with a period of its own: what matters is further back, and never further than in training.
Chapter 6 trains one seed of some; `make train` trains three of each and stores the table.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from ..masks import causal_mask, window_mask
from ..transformer import LanguageModel

SEEDS = range(3)
SOURCES = (
    "experiments/position_lengths.py",
    "transformer.py",
    "multihead.py",
    "positions.py",
    "attention.py",
    "masks.py",
    "normalize.py",
    "scores.py",
)
KINDS = ("none", "sinusoidal", "learned", "rotary", "alibi")
VOCAB = 8  # tokens of both languages
SHARES = (0.55, 0.25, 0.15, 0.05)  # of the four tokens that may follow a pair
PERIODS = (4, 12)  # shortest and longest
TRAINED = 32  # tokens of a training sequence
LENGTHS = (32, 64, 128, 256)  # at which perplexity is taken
WINDOW = 16  # tokens that a model may look back on, in a second reading


def markov(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Sequences (b, n) in which each pair of tokens has its own four successors."""
    fixed = torch.Generator().manual_seed(2017)  # the same language for every seed
    successors = torch.rand(VOCAB**2, VOCAB, generator=fixed).argsort(dim=-1)
    picks = torch.multinomial(torch.tensor(SHARES), b * n, replacement=True, generator=generator)
    picks = picks.reshape(b, n)
    x = torch.randint(VOCAB, (b, n), generator=generator)
    for t in range(2, n):
        pair = x[:, t - 2] * VOCAB + x[:, t - 1]
        x[:, t] = successors[pair, picks[:, t]]
    return x


def repeat(b: int, n: int, generator: torch.Generator) -> Tensor:
    """Random tokens that come again with a period of 4 to 12, each sequence its own, (b, n)."""
    least, most = PERIODS
    first = torch.randint(VOCAB, (b, most), generator=generator)
    period = torch.randint(least, most + 1, (b, 1), generator=generator)
    return first.gather(1, torch.arange(n) % period)


LANGUAGES = {"markov": markov, "repeat": repeat}
DECIDED = {"markov": 2, "repeat": PERIODS[1]}  # from this place on the past decides a token


def best_perplexity(language: str) -> float:
    """What a model that knows the language reaches."""
    if language == "repeat":
        return 1.0
    return math.exp(-sum(share * math.log(share) for share in SHARES))


def build(kind: str, seed: int) -> LanguageModel:
    """An untrained causal model of two blocks with positions of this kind."""
    torch.manual_seed(seed)
    return LanguageModel(
        VOCAB,
        d_model=64,
        num_heads=4,
        num_layers=2,
        d_ff=128,
        dropout=0.0,
        positions=None if kind == "none" else kind,
        max_len=TRAINED if kind == "learned" else LENGTHS[-1],
    )


def losses(model: LanguageModel, x: Tensor, *, window: int | None = None) -> Tensor:
    """Cross-entropy of each token of x (b, n + 1) from those before it: (b, n), for places 1..n.

    Args:
        window: how many tokens each layer may look back on, its own place included; None is all.
    """
    if window is None:
        logits = model(None, None, x[:, :-1]).logits  # (b, n, vocabulary)
    else:
        n = x.shape[1] - 1
        mask = causal_mask(n) & window_mask(n, radius=window - 1)
        logits = model.output(model.stack(model.embedding(x[:, :-1]), mask=mask).x)
    return F.cross_entropy(logits.mT, x[:, 1:], reduction="none")


def train(model: LanguageModel, language: str, seed: int, steps: int = 600) -> None:
    """Adam with warm-up on 32 new sequences a step, each of the trained length."""
    generator = torch.Generator().manual_seed(1000 + seed)
    adam = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(adam, 3e-3, total_steps=steps, pct_start=0.1)
    for _ in range(steps):
        x = LANGUAGES[language](32, TRAINED + 1, generator)
        adam.zero_grad()
        losses(model, x)[:, DECIDED[language] - 1 :].mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        schedule.step()


@torch.no_grad()
def by_place(
    model: LanguageModel, language: str, *, window: int | None = None, sequences: int = 256
) -> Tensor:
    """Mean loss at places 1 to n of new sequences: (n,), n the longest the model can read."""
    learned = model.config.positions == "learned"
    n = model.config.max_len if learned else LENGTHS[-1]
    generator = torch.Generator().manual_seed(5000)
    x = LANGUAGES[language](sequences, LENGTHS[-1] + 1, generator)[:, : n + 1]
    return losses(model, x, window=window).mean(dim=0)


def perplexity(loss: Tensor, n: int) -> float | None:
    """exp of the mean loss over the last quarter of the first n places; None past the last."""
    return math.exp(loss[n - n // 4 : n].mean().item()) if n <= len(loss) else None


def run(seed: int) -> list[dict]:
    """Perplexity at every length, for every language and kind, and at the last in a window."""
    rows = []
    for language in LANGUAGES:
        for kind in KINDS:
            model = build(kind, seed)
            train(model, language, seed)
            loss = by_place(model, language)
            row = {"seed": seed, "language": language, "positions": kind}
            row |= {str(n): perplexity(loss, n) for n in LENGTHS}
            near = by_place(model, language, window=WINDOW)
            rows.append(row | {"last, in a window": perplexity(near, LENGTHS[-1])})
    return rows
