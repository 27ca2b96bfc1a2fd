"""The Transformer on everyday sentences (Tatoeba): the pairs that chapter 4's models learn from."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from attnbook.data.alibi import alibi
from attnbook.metrics import bleu_interval, expected_error_rate, hit_rate

from . import everyday, transformers, translators
from .stored import load_weights
from .transformers import Plan, build, train
from .translators import Corpus, read

SEEDS = range(3)
PLAN = Plan(
    epochs=10, d_model=96, d_ff=384, dropout=0.2, label_smoothing=0.1, keep="transformer_everyday"
)
corpus, load = everyday.corpus, everyday.load


def against_alibi(model: nn.Module, of: Corpus) -> list[list[dict]]:
    """How the weights of each layer and head stand against links made by hand, target forced."""
    pairs = alibi(max_len=everyday.ALIGNED)
    weights = read(model, pairs, of).weights
    layers, heads = weights[0].shape[:2]
    table = []
    for layer in range(layers):
        of_heads = [[w[layer, head] for w in weights] for head in range(heads)]
        table.append(
            [
                {
                    "hit": hit_rate(each, pairs),
                    "possible": hit_rate(each, pairs, links="possible"),
                    "error": expected_error_rate(each, pairs),
                }
                for each in of_heads
            ]
        )
    return table


def judge(model: nn.Module, of: Corpus) -> dict:
    """What the table holds of one trained model."""
    pairs = of.splits.test
    value, low, high = bleu_interval(read(model, pairs, of).written, [p.target for p in pairs])
    classic = read(model, everyday.CLASSIC_FOUR, of).written
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "bleu": value,
        "low": low,
        "high": high,
        "four": everyday.four(classic),
        "four written": [" ".join(words) for words in classic],
        "alibi": against_alibi(model, of),
    }


def stored(weights: dict[str, Tensor]) -> tuple[nn.Module, Corpus]:
    """The model with given weights, in evaluation mode, and its corpus."""
    return translators.stored(PLAN, load(), weights, build=build)


def trace() -> dict[str, list[float]]:
    """A brief training."""
    return {PLAN.keep: transformers.trace(PLAN, load())}


def reread() -> dict[str, dict[str, float]]:
    """What the stored weights do."""
    return {PLAN.keep: translators.reread(*stored(load_weights(PLAN.keep)))}


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> dict:
    """One seed."""
    of = load()
    model, history = train(PLAN, of, seed)
    if seed == SEEDS[0]:
        keep(PLAN.keep, model)
    last = history.epochs[-1]
    losses = {"loss": last["loss"], "held-out loss": last["validation"]}
    return {"seed": seed, **losses, **judge(model, of)}
