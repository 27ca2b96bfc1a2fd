"""Learn from sentences without labels, then from few labels; or from the labels alone.

The sentences are the English ones of the grammar corpus, the labels the eight constructions that
most of them have. A model of today's parts first learns to predict: the next word of each place
under a causal mask, or hidden words from both sides. Then a linear layer on the mean of its places
is added, and all is trained on a few labelled sentences. Beside it the same models untrained. The
rates of both trainings are chosen on validation sentences, by trainings with a seed of their own.

Sources: Radford et al. 2018 (causal, then few labels); Devlin et al. 2019 (masked), which also
leaves some of the chosen words or exchanges them; here all of them are hidden.
"""

from __future__ import annotations

import hashlib
from copy import deepcopy
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import BOS, EOS, PAD, UNK, AlignedPair, Vocabulary, grammar_corpus
from attnbook.masks import causal_mask
from attnbook.training import fit, mean_loss, set_seed

from .ladder import best_rate, ladder
from .language_model import Model
from .loop import curve, losses

TRIAL = 100  # the seed that chooses rates
SEEDS = TRIAL, *range(6)  # it comes first
KINDS = tuple("plain address fronted cleft when_first time_fronted time_first place_first".split())
SIZES = {"d": 64, "heads": 4, "layers": 2}
HIDDEN, HIDE = UNK, 0.15  # what stands for a hidden word, and the share of words that is hidden
READ = 1_500  # steps of 32 sentences without labels
LABELS = 32, 128, 512
LEARN = 300  # steps of 32 labelled sentences
TESTED, LOOKED = 500, 100  # sentences to judge on, and of those to look at the weights of
WAYS = {  # the mask, and what it first learned
    "nothing, causal": ("causal", None),
    "nothing, both sides": ("both", None),
    "causal": ("causal", "next"),
    "masked": ("both", "hidden"),
}
RATES = 2e-3, 4e-3, 8e-3  # and half or double, as long as the best is the first or the last
TRIED, TRIED_LABELS = 400, 128  # steps of reading to choose its rate; labels to choose the other


class Sentences(NamedTuple):
    """Sentences as numbers, padded: `ids` (b, n), `lengths` (b,), `labels` (b,)."""

    ids: Tensor
    lengths: Tensor
    labels: Tensor


@cache
def load() -> tuple[Vocabulary, tuple[list[AlignedPair], ...]]:
    """The vocabulary, and sentences to learn from, to choose by, to judge on."""
    splits = grammar_corpus()
    vocabulary = Vocabulary(pair.source for pair in splits.train)
    return vocabulary, tuple([p for p in part if kind(p) in KINDS] for part in splits)


def kind(pair: AlignedPair) -> str:
    """The construction that made a sentence."""
    return pair.template.split(" + ")[0]


def collate(pairs: list[AlignedPair]) -> Sentences:
    """A batch of sentences, each between its begin and its end."""
    vocabulary, _ = load()
    rows = [torch.tensor([BOS, *vocabulary.encode(pair.source), EOS]) for pair in pairs]
    return Sentences(
        nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD),
        torch.tensor([len(row) for row in rows]),
        torch.tensor([KINDS.index(kind(pair)) for pair in pairs]),
    )


def drawn(pairs: list[AlignedPair], steps: int, batch: int, seed: int) -> list[Sentences]:
    """So many batches, in each pass over the sentences every one once."""
    chance = torch.Generator().manual_seed(seed)
    passes = -(-steps * batch // len(pairs))
    order = torch.cat([torch.randperm(len(pairs), generator=chance) for _ in range(passes)])
    return [collate([pairs[i] for i in order[s * batch :][:batch]]) for s in range(steps)]


def hidden(sentences: list[Sentences], seed: int) -> list[tuple[Sentences, Tensor]]:
    """The same with some words hidden, and which: True where a word is to be predicted, (b, n)."""
    chance, found = torch.Generator().manual_seed(seed), []
    for batch in sentences:
        inside = torch.arange(batch.ids.shape[1]) < (batch.lengths - 1).unsqueeze(1)
        inside[:, 0] = False  # neither the begin nor the end
        at = inside & (torch.rand(batch.ids.shape, generator=chance) < HIDE)
        found.append((batch, at))
    return found


class Reader(nn.Module):
    """A model's features under one of two masks, and a linear layer that gives the kind."""

    def __init__(self, mask: str):
        super().__init__()
        self.mask = mask
        self.model = Model(len(load()[0]), **SIZES)
        self.kind = nn.Linear(SIZES["d"], len(KINDS))

    def features(self, ids: Tensor, lengths: Tensor, need_weights: bool = False):
        """(b, n) -> features (b, n, d) and weights (b, l, h, n, n) or None."""
        valid = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)  # (b, n)
        mask = valid.unsqueeze(1)  # (b, 1, n)
        if self.mask == "causal":
            mask = mask & causal_mask(ids.shape[1], ids.shape[1])
        return self.model.features(ids, mask, self.model.start(ids[:, :0]), need_weights)[:2]

    def forward(self, batch: Sentences) -> Tensor:
        """Logits of the kinds, (b, kinds), from the mean of a sentence's places."""
        x, _ = self.features(batch.ids, batch.lengths)
        valid = (torch.arange(x.shape[1]) < batch.lengths.unsqueeze(1)).unsqueeze(-1)
        return self.kind((x * valid).sum(dim=1) / batch.lengths.unsqueeze(1))


def next_loss(reader: Reader, batch: Sentences) -> tuple[Tensor, int]:
    """Cross-entropy of each next word, padding left out."""
    x, _ = reader.features(batch.ids[:, :-1], batch.lengths - 1)
    targets = batch.ids[:, 1:]
    valid = targets != PAD
    return F.cross_entropy(reader.model.output(x[valid]), targets[valid]), int(valid.sum())


def hidden_loss(reader: Reader, batch: tuple[Sentences, Tensor]) -> tuple[Tensor, int]:
    """Cross-entropy of the hidden words."""
    sentences, at = batch
    ids = sentences.ids.masked_fill(at, HIDDEN)
    x, _ = reader.features(ids, sentences.lengths)
    return F.cross_entropy(reader.model.output(x[at]), sentences.ids[at]), int(at.sum())


def kind_loss(reader: Reader, batch: Sentences) -> tuple[Tensor, int]:
    """Cross-entropy of the kinds."""
    return F.cross_entropy(reader(batch), batch.labels), len(batch.labels)


def lessons(task: str, sentences: list[Sentences], seed: int) -> dict:
    """The batches of a task, and its loss, as `fit` and `mean_loss` take them."""
    batches = sentences if task == "next" else hidden(sentences, seed)
    return {"batches": batches, "loss": next_loss if task == "next" else hidden_loss}


def read(way: str, seed: int, rate: float, steps: int = READ) -> tuple[Reader, list[float]]:
    """A model that has read sentences without labels, and its losses; none for "nothing"."""
    mask, task = WAYS[way]
    set_seed(seed)
    reader = Reader(mask)
    if task is None:
        return reader, []
    lesson = lessons(task, drawn(load()[1][0], steps, 32, seed), seed)
    return reader, losses(fit(reader, **lesson, epochs=1, learning_rate=rate))


def in_order(pairs: list[AlignedPair]) -> list[Sentences]:
    """Batches of all sentences, one after the other."""
    return [collate(pairs[i : i + 100]) for i in range(0, len(pairs), 100)]


def read_loss(way: str, reader: Reader, pairs: list[AlignedPair]) -> float | None:
    """The loss of what a model has read for, on other sentences; None for "nothing"."""
    task = WAYS[way][1]
    return mean_loss(reader, **lessons(task, in_order(pairs), seed=0)) if task else None


def labelled(labels: int, seed: int) -> list[AlignedPair]:
    """The sentences whose kinds are told."""
    chance = torch.Generator().manual_seed(1_000 + seed)
    train = load()[1][0]
    return [train[i] for i in torch.randperm(len(train), generator=chance)[:labels]]


def learn(reader: Reader, labels: int, seed: int, rate: float, steps: int = LEARN) -> list[float]:
    """Train on so many labelled sentences, in place; the losses."""
    batches = drawn(labelled(labels, seed), steps, 32, seed)
    return losses(fit(reader, batches, epochs=1, learning_rate=rate, loss=kind_loss))


@torch.no_grad()
def finds(reader: Reader, pairs: list[AlignedPair]) -> Tensor:
    """Which sentences' kinds it finds, (b,)."""
    found = [reader(batch).argmax(dim=1) == batch.labels for batch in in_order(pairs)]
    return torch.cat(found)


@torch.no_grad()
def weights(reader: Reader) -> tuple[Tensor, Tensor]:
    """The weights on test sentences (b, l, h, n, n), and which rows are places of theirs (b, n)."""
    batch = collate(load()[1][2][:LOOKED])
    _, found = reader.eval().features(batch.ids, batch.lengths, need_weights=True)
    return found, torch.arange(found.shape[-1]) < batch.lengths.unsqueeze(1)


def looks(reader: Reader) -> dict[str, list[list[float]]]:
    """Mean weight of each head (l, h) on the place before, the one behind, itself and the first."""
    found, valid = weights(reader)
    inner = valid.clone()
    inner[:, :2] = False  # the first two have no place before that is not the first
    inner[:, :-1] &= valid[:, 1:]  # and the last none behind it
    where = {"before": -1, "behind": 1, "itself": 0}
    given = {name: found.diagonal(step, -2, -1) for name, step in where.items()}  # (b, l, h, ..)
    given["before"] = F.pad(given["before"], (1, 0))
    given["behind"] = F.pad(given["behind"], (0, 1))
    given["first"] = found[..., 0]
    return {name: g.movedim(-1, 1)[inner].mean(dim=0).tolist() for name, g in given.items()}


def moved(before: tuple[Tensor, Tensor], after: tuple[Tensor, Tensor]) -> float:
    """How much weight has gone elsewhere: the mean over heads and places, from 0 to 1."""
    (a, valid), (b, _) = before, after
    share = (a - b).abs().sum(dim=-1) / 2  # (b, l, h, n)
    return share.movedim(-1, 1)[valid].mean().item()


def try_reading(way: str, rate: float) -> dict:
    """The loss of a shorter reading at one rate, on sentences to choose by."""
    reader, _ = read(way, TRIAL, rate, TRIED)
    loss = read_loss(way, reader, load()[1][1][:TESTED])
    return {"way": way, "of": "reading", "rate": rate, "validation": loss}


def try_learning(way: str, start: Reader, rate: float) -> dict:
    """The share of wrong answers after learning at one rate, on sentences to choose by."""
    reader = deepcopy(start)
    learn(reader, TRIED_LABELS, TRIAL, rate)
    wrong = 1 - finds(reader, load()[1][1][:TESTED]).double().mean().item()
    return {"way": way, "of": "learning", "rate": rate, "validation": wrong}


@cache
def trials(way: str) -> tuple[list[dict], list[dict]]:
    """The rows by which the rates of a way were chosen: of its reading, if any, and learning."""
    reading = ladder(partial(try_reading, way), RATES) if WAYS[way][1] else []
    start, _ = read(way, TRIAL, best_rate(reading) if reading else RATES[0])
    return reading, ladder(partial(try_learning, way, start), RATES)


def run(seed: int) -> list[dict]:
    """The trials, for their seed; for another one each way with each number of labels."""
    if seed == TRIAL:
        return [{"trial": True, **r} for way in WAYS for part in trials(way) for r in part]
    rows = []
    for way in WAYS:
        reading, learning = trials(way)
        start, path = read(way, seed, best_rate(reading) if reading else RATES[0])
        before = weights(start)
        of_reading = {
            "loss by step": curve(path) if path else None,
            "loss before": read_loss(way, start, load()[1][2][:TESTED]),
        }
        for labels in LABELS:
            reader = deepcopy(start)
            learned = learn(reader, labels, seed, best_rate(learning))
            right = finds(reader, load()[1][2][:TESTED])
            rows.append(
                {
                    "trial": False,
                    "seed": seed,
                    "text": "the grammar corpus",
                    "way": way,
                    "labels": labels,
                    "rate of reading": best_rate(reading) if reading else None,
                    "rate of learning": best_rate(learning),
                    "accuracy": right.double().mean().item(),
                    "right": "".join(str(int(r)) for r in right),  # sentence by sentence
                    "loss of learning": sum(learned[-50:]) / 50,
                    **of_reading,
                    "looks before": looks(start),
                    "looks": looks(reader),
                    "moved": moved(before, weights(reader)),
                }
            )
    return rows


def trace() -> dict[str, list[float]]:
    """A brief reading of each way, then a brief learning."""
    found = {}
    for way in WAYS:
        reader, path = read(way, 0, RATES[0], steps=10)
        found[way] = path + learn(reader, LABELS[0], 0, RATES[0], steps=10)
    return found


def corpus() -> str:
    """The hash of the sentences."""
    lines = (" ".join(pair.source) for part in load()[1] for pair in part)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
