"""Layer norm before or after each part, with and without warm-up: what training says.

A deep language model continues words by their mirror image. Four ways, on a grid of rates, so that
each is seen at its own best: chosen by the loss on held-out words, judged on others. Nothing else
steadies the training: no dropout, and gradients are not clipped.

Source: Vaswani et al. 2017, section 5.3 (warm-up); Xiong et al. 2020 (pre-norm without it).
"""

from __future__ import annotations

from functools import partial
from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import UNK
from attnbook.training import History, fit, mean_loss, one_cycle, set_seed
from attnbook.transformer import LanguageModel

from .loop import curve, losses

SEEDS = range(6)
RATES = 1e-3, 2e-3, 4e-3, 8e-3, 16e-3
WAYS = list(product(("pre", "post"), (0.1, 0.0)))  # the norm, and the share of steps that warm up
SIZES = {"num_layers": 6, "d_model": 32, "num_heads": 4, "d_ff": 128, "dropout": 0.0}
LETTERS, BATCH, STEPS = 6, 32, 400
BAR = UNK  # between a word and its mirror image: a token that no word has


def words(n: int, generator: torch.Generator) -> Tensor:
    """Words with a bar and their mirror images, (n, 2 LETTERS + 1)."""
    x = torch.randint(4, 30, (n, LETTERS), generator=generator)
    return torch.cat((x, torch.full((n, 1), BAR), x.flip(1)), dim=1)


def mirror(model: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """Logits of the mirror images, (b, LETTERS, vocabulary), and their letters."""
    return model(None, None, x[:, :-1]).logits[:, LETTERS:], x[:, LETTERS + 1 :]


def loss(model: nn.Module, x: Tensor) -> tuple[Tensor, int]:
    """Cross-entropy per letter of the mirror images."""
    logits, answer = mirror(model, x)
    return F.cross_entropy(logits.flatten(0, 1), answer.flatten()), answer.numel()


@torch.no_grad()
def exact(model: nn.Module, x: Tensor) -> float:
    """Share of words whose letters are all the likeliest, and so would be written greedily."""
    logits, answer = mirror(model, x)
    return (logits.argmax(dim=-1) == answer).all(dim=1).float().mean().item()


def train(
    norm: str, warmup: float, rate: float, seed: int, steps: int = STEPS, **sizes: int
) -> tuple[nn.Module, History]:
    """The trained model of a way, and what its training saw; other sizes than `SIZES` by name."""
    generator = torch.Generator().manual_seed(seed)
    batches = [words(BATCH, generator) for _ in range(steps)]
    set_seed(seed)
    model = LanguageModel(30, norm=norm, **(SIZES | sizes))
    options = {
        "schedule": partial(one_cycle, warmup=warmup),
        "optimizer": partial(torch.optim.Adam, betas=(0.9, 0.98)),
        "clip": None,
    }
    return model, fit(model, batches, epochs=1, learning_rate=rate, loss=loss, **options)


def one(norm: str, warmup: float, rate: float, seed: int, **sizes: int) -> dict:
    """One training: its curve, its loss on words to choose by, the share of others it writes."""
    model, history = train(norm, warmup, rate, seed, **sizes)
    generator = torch.Generator().manual_seed(1_000)
    held_out, judged = (words(1_000, generator) for _ in range(2))
    return {
        "seed": seed,
        "norm": norm,
        "warm-up": warmup,
        "rate": rate,
        "steps": len(history.steps),
        "loss by step": curve(losses(history)),
        "held-out loss": mean_loss(model, [held_out], loss=loss),
        "exact": exact(model, judged),
    }


def trace() -> dict[str, list[float]]:
    """A brief training of each way."""
    return {f"{n}, warm-up {w}": losses(train(n, w, RATES[0], 0, steps=20)[1]) for n, w in WAYS}


def run(seed: int) -> list[dict]:
    """One seed of every way at every rate."""
    return [one(norm, warmup, rate, seed) for norm, warmup in WAYS for rate in RATES]
