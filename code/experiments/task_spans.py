"""One sentence, four questions: by which way does the question reach the weights?

A reader of both directions (GRU) turns a report into keys. Two pointers, softmaxes over the tokens,
say where the answer begins and where it ends; an answer is right if both are. The question enters
in one of the `FORMS`: not at all, added to every key, by a hidden layer over key and question, by a
gate on the keys, or as the query itself.
"""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnbook.data import UNK, Vocabulary
from attnbook.data.reports import QUESTIONS, reports
from attnbook.masks import length_mask

from .loop import learn, parameters

SEEDS = range(6)
FORMS = ("none", "added to keys", "hidden layer", "gate", "query")
D, BATCH = 48, 64
LONGEST = 4  # words of an answer
N, STEPS = 3000, 600
DROPPED = 0.3  # share of the words that are replaced by <unk> in training
KINDS = (*product(FORMS, (DROPPED,)), *product(FORMS[2:], (0.0,)))  # form, share dropped
RATES = (3e-3, 1e-2, 3e-2)
RATE = 1e-2  # with each of them every validation answer is right, or all but a few


class Reader(nn.Module):
    """Pointers to the first and the last token of the answer to a question.

    Shapes: tokens (b, n), lengths (b,), question (b,) -> scores (b, 2, n), -inf at padding.
    """

    def __init__(self, form: str, vocabulary: int, *, d: int = D, questions: int = len(QUESTIONS)):
        super().__init__()
        self.form, self.d = form, d
        self.token = nn.Embedding(vocabulary, d)
        self.both_ways = nn.GRU(d, d // 2, batch_first=True, bidirectional=True)
        self.question = nn.Embedding(questions, 2 * d if form == "query" else d)
        self.hidden = nn.Linear(2 * d, d) if form == "hidden layer" else None
        self.gate = nn.Embedding(questions, d) if form == "gate" else None
        self.pointers = None if form == "query" else nn.Linear(d, 2)

    def keys(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            self.token(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        return nn.utils.rnn.pad_packed_sequence(
            self.both_ways(packed)[0], batch_first=True, total_length=tokens.shape[1]
        )[0]

    def forward(self, tokens: Tensor, lengths: Tensor, question: Tensor) -> Tensor:
        keys = self.keys(tokens, lengths)
        t = self.question(question)
        if self.form == "query":
            scores = t.unflatten(-1, (2, self.d)) @ keys.mT / self.d**0.5
        else:
            asked = t[:, None].expand_as(keys)
            if self.form == "added to keys":
                keys = keys + asked
            elif self.form == "hidden layer":
                keys = self.hidden(torch.cat([keys, asked], -1)).tanh()
            elif self.form == "gate":
                keys = keys * (1 + self.gate(question)[:, None]) + asked
            scores = self.pointers(keys).mT
        mask = length_mask(lengths, tokens.shape[1])
        return scores.masked_fill(~mask, float("-inf"))


class Corpus:
    """Reports as tensors: tokens (n, longest), lengths (n,), spans (n, questions, 2)."""

    def __init__(self, found, vocabulary: Vocabulary):
        rows = [torch.tensor(vocabulary.encode(report.tokens)) for report in found]
        self.tokens = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        self.lengths = torch.tensor([len(row) for row in rows])
        self.spans = torch.tensor([[report.spans[q] for q in QUESTIONS] for report in found])

    def __len__(self) -> int:
        return len(self.lengths)


def corpora(seed: int, n: int = N):
    """The vocabulary, and reports to train on, to choose by, to test, and with new words."""
    found = reports(n, seed=seed)
    vocabulary = Vocabulary([report.tokens for report in found])
    sets = (
        found,
        reports(500, seed=10**5),
        reports(1000, seed=10**6),
        reports(1000, seed=0, new=True),
    )
    return vocabulary, *(Corpus(x, vocabulary) for x in sets)


def train(form: str, seed: int, *, dropped: float, rate: float = RATE, steps: int = STEPS):
    """A reader trained from `seed`, and its loss after each step."""
    vocabulary, x, *_ = corpora(seed)
    torch.manual_seed(seed)
    model, random = Reader(form, len(vocabulary)), torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        rows = torch.randint(0, len(x), (BATCH,), generator=random)
        question = torch.randint(0, len(QUESTIONS), (BATCH,), generator=random)
        return pointer_loss(model, x, rows, question, dropped=dropped, random=random)

    return model, learn(model, loss, steps=steps, rate=rate)


def pointer_loss(model, x: Corpus, rows: Tensor, question: Tensor, *, dropped, random) -> Tensor:
    """Cross-entropy of both pointers on some reports (b,), of whose words some are unknown."""
    unknown = torch.rand(x.tokens[rows].shape, generator=random) < dropped
    scores = model(x.tokens[rows].masked_fill(unknown, UNK), x.lengths[rows], question)
    spans = x.spans[rows, question]
    return sum(F.cross_entropy(scores[:, i], spans[:, i]) for i in (0, 1))


@torch.no_grad()
def exact(model: Reader, x: Corpus) -> list[float]:
    """The share of right answers to each question."""
    found = []
    for q in range(len(QUESTIONS)):
        said = model(x.tokens, x.lengths, torch.full((len(x),), q)).argmax(-1)
        found.append((said == x.spans[:, q]).all(-1).float().mean().item())
    return found


@torch.no_grad()
def best_spans(model: Reader, x: Corpus) -> float:
    """The share of right answers if the best span of at most `LONGEST` words is taken."""
    n, found = x.tokens.shape[1], []
    far = torch.arange(n) - torch.arange(n)[:, None]  # from a first word to a last
    for q in range(len(QUESTIONS)):
        begins, ends = model(x.tokens, x.lengths, torch.full((len(x),), q)).unbind(1)
        total = begins[:, :, None] + ends[:, None]
        total = total.masked_fill((far < 0) | (far >= LONGEST), float("-inf"))
        best = total.flatten(1).argmax(1)
        said = torch.stack([best // n, best % n], -1)
        found.append((said == x.spans[:, q]).all(-1).float().mean().item())
    return sum(found) / len(found)


def tried() -> list[dict]:
    """The share of right answers to validation questions of each kind at each rate, seed 0."""
    rows = []
    for (form, dropped), rate in product(KINDS[2:], RATES):
        model, _ = train(form, 0, dropped=dropped, rate=rate)
        share = sum(exact(model, corpora(0)[2])) / len(QUESTIONS)
        rows.append({"form": form, "dropped": dropped, "rate": rate, "right": share})
    return rows


def trace() -> dict[str, list[float]]:
    """A brief training of each kind."""
    return {
        f"{form}, {dropped}": train(form, 0, dropped=dropped, steps=12)[1]
        for form, dropped in KINDS
    }


def run(seed: int) -> list[dict]:
    """One seed of every kind: right answers to each question, with known words and with new."""
    rows = []
    for form, dropped in KINDS:
        model, _ = train(form, seed, dropped=dropped)
        _, _, _, test, new = corpora(seed)
        row = {"seed": seed, "form": form, "dropped": dropped, "parameters": parameters(model)}
        row |= dict(zip(QUESTIONS, exact(model, test), strict=True))
        if form in FORMS[:2]:  # those that point blindly
            row["best spans"] = best_spans(model, test)
        rows.append(
            row | {f"{q}, new": x for q, x in zip(QUESTIONS, exact(model, new), strict=True)}
        )
    return rows
