"""One language model with 1, 2, 4 and 8 heads: as many parameters each, and as many steps.

It predicts the next character of tiny Shakespeare. The parts are those of 2017. The four models of
a seed begin with the same numbers and read the same pieces, so that only the heads differ: how many
there are, and so how narrow they are. The rate of each is the best of those tried, by the loss on
one half of the held-out text after a shorter training with a seed of its own.

Sources: Vaswani et al. 2017, table 3, rows A; Michel et al. 2019 (one head out at a time).
"""

from __future__ import annotations

import copy
from itertools import product

import torch
from torch import Tensor, nn

from attnbook.masks import causal_mask
from attnbook.training import mean_loss

from . import language_model
from .language_model import BLOCK, OF_2017, Size, loss, parts_of_text, pieces, row, train
from .loop import losses

SEEDS = range(6)
HEADS = 1, 2, 4, 8
TRIAL = 100  # the seed that chooses rates
RATES = 2e-3, 4e-3, 8e-3, 16e-3
RATE = {1: 8e-3, 2: 8e-3, 4: 8e-3, 8: 8e-3}  # the best of them
corpus = language_model.corpus
STEPS, TRIED = 2000, 500  # of a training, and of a trial


def size(heads: int, steps: int = STEPS) -> Size:
    """The model with so many heads; a head has 64 / heads features."""
    return Size(d=64, heads=heads, layers=2, steps=steps)


@torch.no_grad()
def maps(model: nn.Module) -> Tensor:
    """Weights (b, l, h, q, k) on the first hundred pieces of the text to choose by."""
    ids = pieces(parts_of_text()[1])[0][:, :-1]
    mask = causal_mask(BLOCK, BLOCK)
    return model.read(ids, mask, model.start(ids[:, :0]), need_weights=True).weights


def distances(weights: Tensor) -> list[list[float]]:
    """How many characters each head looks back on average, from the second half of a piece.

    Shapes: weights (b, l, h, q, k) -> (l, h). A uniform head has 23.75: half of the last place.
    """
    q, k = weights.shape[-2:]
    back = torch.arange(q).unsqueeze(1) - torch.arange(k)  # (q, k)
    return (weights * back).sum(dim=-1)[..., q // 2 :].mean(dim=(0, -1)).tolist()


def without(model: nn.Module, layer: int, heads: range) -> nn.Module:
    """A copy of the model without these heads of a layer: their columns of W_o are zero."""
    left = copy.deepcopy(model)
    attention = left.blocks[layer].attention
    by_head = attention.W_o.weight.data.unflatten(1, (attention.num_heads, -1))  # (d, h, p)
    by_head[:, heads.start : heads.stop] = 0.0
    return left


def lost(model: nn.Module, judged: list[Tensor]) -> dict:
    """By how much the loss grows without each head (l, h), and without all heads of a layer."""
    before, h = mean_loss(model, judged, loss=loss), model.blocks[0].attention.num_heads

    def grows(layer: int, heads: range) -> float:
        return mean_loss(without(model, layer, heads), judged, loss=loss) - before

    layers = range(len(model.blocks))
    return {
        "one head out": [[grows(n, range(z, z + 1)) for z in range(h)] for n in layers],
        "all heads out": [grows(n, range(h)) for n in layers],
    }


def by_last_character() -> float:
    """The test loss of who knows only the last character: counts of the text to learn from."""
    read, _, judged = parts_of_text()
    n = int(read.max()) + 1
    pairs = torch.bincount(read[:-1] * n + read[1:], minlength=n * n).view(n, n) + 0.1
    chance = pairs / pairs.sum(dim=1, keepdim=True)
    return -chance[judged[:-1], judged[1:]].log().mean().item()


def tried() -> list[dict]:
    """Every number of heads at every rate, briefly."""

    def trial(heads: int, rate: float) -> dict:
        found, _ = row("", OF_2017, size(heads, TRIED), rate, TRIAL)
        return {"heads": heads} | {n: found[n] for n in ("seed", "steps", "rate", "validation")}

    return [trial(*way) for way in product(HEADS, RATES)]


def one(heads: int, seed: int, steps: int = STEPS) -> dict:
    """A row of one model."""
    found, model = row(f"{heads} heads", OF_2017, size(heads, steps), RATE[heads], seed)
    return {
        "heads": heads,
        **found,
        "by the last character": by_last_character(),
        "distance": distances(maps(model)),
        **lost(model, pieces(parts_of_text()[1])[:1]),
    }


def run(seed: int) -> list[dict]:
    """One seed of every number of heads."""
    return [one(heads, seed) for heads in HEADS]


def trace() -> dict[str, list[float]]:
    """The first steps of each."""
    return {f"{h} heads": losses(train(OF_2017, size(h), RATE[h], 0, 20)[1]) for h in HEADS}
