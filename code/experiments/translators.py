"""How translators are built, trained, read and scored, on any corpus.

A plan says all of one model and its training; chapter 4's are here, chapter 7's in `transformers`
and `famous`. `translation` asks what attention is good for where gold links are known, `everyday`
on real sentences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import AlignedPair, Splits, Vocabulary, collate, length_batches
from attnbook.decoding import greedy
from attnbook.metrics import bleu, exact_match, expected_error_rate, hit_rate
from attnbook.recurrent import recurrent_translator
from attnbook.training import History, fit, mean_loss, set_seed

from .loop import losses, parameters
from .plans import plan_of
from .stored import load_weights

LENGTHS = ((3, 10), (11, 20), (21, 30), (31, 40))  # source tokens, both ends included
CONTENT = ("adjective", "noun", "verb")
TRACED = 20  # steps of a trace
READ = 100  # test pairs on which stored weights are read again


Plan = plan_of(
    recurrent_translator,
    attention=None,  # where the query is taken: "before" or "after" the step; None: nowhere
    score="additive",
    split="random",
    epochs=9,
    learning_rate=5e-3,
    hidden_size=128,
)


class Corpus(NamedTuple):
    """The pairs of one split and the vocabularies of its training set."""

    splits: Splits
    source_vocab: Vocabulary
    target_vocab: Vocabulary


def corpus_of(splits: Splits, **options) -> Corpus:
    """These splits, and vocabularies of the training part; options as in `Vocabulary`."""
    sources, targets = ([pair[side] for pair in splits.train] for side in (0, 1))
    return Corpus(splits, Vocabulary(sources, **options), Vocabulary(targets, **options))


def digest(pairs: Iterable[AlignedPair], *, classes: bool = False) -> str:
    """Hash of every pair with its links, and its word classes."""
    found = hashlib.sha256()
    for pair in pairs:
        links = sorted(pair.sure), sorted(pair.possible)
        row = (pair.source, pair.target, *links, *([pair.classes] if classes else []))
        found.update(repr(row).encode())
    return found.hexdigest()


def build(plan, of: Corpus, seed: int) -> nn.Module:
    """The untrained model of a plan."""
    set_seed(seed)
    return plan.model(len(of.source_vocab), len(of.target_vocab))


def train(plan, of: Corpus, seed: int, **options) -> tuple[nn.Module, History]:
    """The trained model of a plan, and what its training saw; options as in `fit`."""
    model = build(plan, of, seed)
    vocabularies = of.source_vocab, of.target_vocab
    pairs = of.splits.train[: plan.size]
    batches = length_batches(pairs, *vocabularies, plan.batch_size, seed=seed)
    held_out = length_batches(of.splits.validation, *vocabularies, 100)
    options = plan.options() | options
    return model, fit(model, batches, validation=held_out, seed=seed, **options)


def train_and_keep(plan, of: Corpus, seed: int, keep: Callable) -> tuple[nn.Module, History, dict]:
    """As `train`, the weights of seed 0 kept where the plan says so; and the row's losses."""
    model, history = train(plan, of, seed)
    if plan.keep and seed == 0:
        keep(plan.keep, model)
    return model, history, last(history)


def last(history: History) -> dict[str, float]:
    """Both losses after the last pass."""
    return {name: values[-1] for name, values in curves(history).items()}


def curves(history: History) -> dict[str, list[float]]:
    """Both losses after every pass."""
    names = {"loss": "loss", "held-out loss": "validation"}
    return {name: [row[key] for row in history.epochs] for name, key in names.items()}


def stored(plan, of: Corpus, weights: dict[str, Tensor]) -> tuple[nn.Module, Corpus]:
    """The model of a plan with given weights, in evaluation mode, and its corpus."""
    model = build(plan, of, 0)
    model.load_state_dict(weights)
    return model.eval(), of


def trace(plan, of: Corpus, *, train: Callable = train) -> list[float]:
    """The losses of a plan in brief, from seed 0: of each of `TRACED` steps, then held out.

    The rate goes up and down within them, and a step takes 16 pairs. Code that trains otherwise
    than it did when a run was stored gets other losses.
    """
    brief = plan._replace(epochs=1, batch_size=16, size=16 * TRACED)
    few = of._replace(splits=of.splits._replace(validation=of.splits.validation[:READ]))
    with patch.object(F, "dropout", _dropout):
        _, history = train(brief, few, 0)
    return [*losses(history), history.epochs[0]["validation"]]


def _dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout that draws the same everywhere: torch's draws by MKL where there is MKL."""
    return x * (torch.rand(x.shape) >= p) / (1 - p) if training and p else x


class Reading(NamedTuple):
    """What a model makes of some pairs: under teacher forcing, and writing freely."""

    correct: list[Tensor]  # for each pair (q,) boolean: was the next token the likeliest?
    weights: list[Tensor]  # for each pair (..., q, k), target forced, <eos> row and column too
    written: list[list[str]]  # greedy translations


@torch.no_grad()
def read(model: nn.Module, pairs: Sequence, of: Corpus, *, batch_size: int = 128) -> Reading:
    """Run a model over pairs, in their order, in evaluation mode."""
    training = model.training
    model.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].source))
    found = {}
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = collate([pairs[i] for i in rows], of.source_vocab, of.target_vocab)
        forced = model(batch.source, batch.source_lens, batch.inputs, need_weights=True)
        free = greedy(model, batch.source, batch.source_lens, max_len=60)
        correct = forced.logits.argmax(dim=-1) == batch.targets  # (b, q)
        lengths = zip(batch.target_lens.tolist(), batch.source_lens.tolist(), strict=True)
        for row, (i, (q, k)) in enumerate(zip(rows, lengths, strict=True)):
            weights = None if forced.weights is None else forced.weights[row, ..., :q, :k]
            written = of.target_vocab.decode(free.tokens[row].tolist())
            found[i] = correct[row, :q], weights, written
    model.train(training)
    return Reading(*map(list, zip(*(found[i] for i in range(len(pairs))), strict=True)))


def reread(model: nn.Module, of: Corpus) -> dict[str, float]:
    """What stored weights make of the first `READ` test pairs.

    `loss` and `accuracy` with the target forced, `bleu` written freely, and, of a model that has
    attention weights, `largest`: the mean over its rows of the largest one.
    """
    pairs = of.splits.test[:READ]
    reading = read(model, pairs, of)
    batches = length_batches(pairs, of.source_vocab, of.target_vocab, READ)
    found = {
        "loss": mean_loss(model, batches),
        "accuracy": torch.cat(reading.correct).float().mean().item(),
        "bleu": bleu(reading.written, [pair.target for pair in pairs]),
    }
    if reading.weights[0] is not None:
        rows = torch.cat([weights.amax(dim=-1).flatten() for weights in reading.weights])
        found["largest"] = rows.mean().item()
    return found


def by_length(reading: Reading, pairs: Sequence) -> dict[str, dict[str, float]]:
    """Token accuracy, BLEU and exact match by length of the source."""
    table = {}
    for low, high in LENGTHS:
        rows = [i for i, pair in enumerate(pairs) if low <= len(pair.source) <= high]
        if not rows:
            continue
        written = [reading.written[i] for i in rows]
        targets = [pairs[i].target for i in rows]
        table[f"{low}-{high}"] = {
            "pairs": len(rows),
            "accuracy": torch.cat([reading.correct[i] for i in rows]).float().mean().item(),
            "bleu": bleu(written, targets),
            "exact": exact_match(written, targets),
        }
    return table


def judge(model: nn.Module, of: Corpus, most: int | None = None) -> dict:
    """What a table holds of one trained model on the first `most` test pairs with gold links."""
    pairs = of.splits.test[:most]
    reading = read(model, pairs, of)
    both = reading.written, [pair.target for pair in pairs]
    row = {
        "parameters": parameters(model),
        "accuracy": torch.cat(reading.correct).float().mean().item(),
        "bleu": bleu(*both),
        "exact": exact_match(*both),
        "lengths": by_length(reading, pairs),
    }
    if reading.weights[0] is not None:
        name = "heads" if reading.weights[0].dim() > 2 else "alignment"
        row[name] = by_head(against_gold, reading.weights, pairs)
    return row


def by_head(judge: Callable, weights: Sequence[Tensor], pairs: Sequence):
    """What `judge(weights, pairs)` says of each layer and head of weights (..., q, k)."""
    if weights[0].dim() == 2:
        return judge(weights, pairs)
    return [by_head(judge, [w[n] for w in weights], pairs) for n in range(len(weights[0]))]


def against_links(weights: Sequence[Tensor], pairs: Sequence) -> dict[str, float]:
    """Hit rate by sure and by possible links, and error rate, of weights (q, k) of each pair."""
    return {
        "hit": hit_rate(weights, pairs),
        "possible": hit_rate(weights, pairs, links="possible"),
        "error": expected_error_rate(weights, pairs),
    }


def against_gold(weights: Sequence[Tensor], pairs: Sequence) -> dict:
    """As `against_links`, and the hit rate by word class."""
    classes = hit_rate(weights, pairs, by_class=True)
    content = [classes[name] for name in CONTENT]
    tokens = sum(rate.tokens for rate in content)
    return {
        **against_links(weights, pairs),
        "content": sum(rate.rate * rate.tokens for rate in content) / tokens,
        "classes": {name: rate.rate for name, rate in classes.items()},
    }


class Study:
    """An experiment with translators: what the tests and `make train` ask of its plans.

    Args:
        plans: by name.
        load: the corpus of a split, which a plan names.
        judge: (model, corpus) -> what a row says of a trained model besides its losses.
        losses: those that a row holds, `last` or `curves`.
        traced: names of the plans that are trained briefly by `trace`; None: all.
    """

    def __init__(
        self,
        plans: dict,
        load: Callable[[str], Corpus],
        *,
        judge: Callable[[nn.Module, Corpus], dict] = judge,
        losses: Callable[[History], dict] = last,
        traced: Iterable[str] | None = None,
    ):
        self.plans, self.load, self.judge, self.losses = plans, load, judge, losses
        self.traced = plans if traced is None else traced

    def row(
        self, name: str, seed: int, keep: Callable | None = None, of: Corpus | None = None
    ) -> dict:
        """One seed of one plan, trained and judged on its corpus, or on another."""
        plan = self.plans[name]
        of = of or self.load(plan.split)
        model, history, _ = train_and_keep(plan, of, seed, keep)
        return {"seed": seed, "plan": name, **self.losses(history), **self.judge(model, of)}

    def run(self, seed: int, keep: Callable | None = None) -> list[dict]:
        """One seed of every plan."""
        return [self.row(name, seed, keep) for name in self.plans]

    def stored(self, name: str, weights: dict[str, Tensor]) -> tuple[nn.Module, Corpus]:
        """The model of a plan with given weights, in evaluation mode, and its corpus."""
        return stored(self.plans[name], self.load(self.plans[name].split), weights)

    def trace(self) -> dict[str, list[float]]:
        """A brief training of each plan."""
        plans = {name: self.plans[name] for name in self.traced}
        return {name: trace(plan, self.load(plan.split)) for name, plan in plans.items()}

    def reread(self) -> dict[str, dict[str, float]]:
        """What the stored weights of each plan do."""
        kept = {plan.keep: name for name, plan in self.plans.items() if plan.keep}
        return {file: reread(*self.stored(kept[file], load_weights(file))) for file in kept}

    def tried(self, rates: Sequence[float], epochs: int, column: str = "rate") -> list[dict]:
        """Held-out loss of seed 0 after a brief training of each plan with each rate.

        The rates were chosen by it; what is judged on plays no part.
        """

        def trial(name: str, rate: float) -> dict:
            plan = self.plans[name]._replace(epochs=epochs, learning_rate=rate)
            _, history = train(plan, self.load(plan.split), 0)
            return {"plan": name, column: rate, "held-out loss": history.epochs[-1]["validation"]}

        return [trial(name, rate) for name in self.plans for rate in rates]
