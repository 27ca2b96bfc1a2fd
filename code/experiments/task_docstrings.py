"""Real text: which sentence of a docstring says what a function does, takes, or gives back?

The docstrings of some installed packages name their sections, so the truth is known. The names are
taken away and the sentences shuffled: what is left is what they say. A reader weighs the sentences,
and the question enters in one of the `FORMS`. It learns from two packages, its rate is chosen on a
third, and it is tested on a fourth. Beside it stands counting: a naive Bayes score of a sentence's
words for each question, from the same docstrings.
"""

from __future__ import annotations

import ast
import hashlib
import random
import re
from functools import cache
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.data import UNK, Vocabulary

from .loop import learn

SEEDS = range(6)
QUESTIONS = ("does", "takes", "returns")
SECTIONS = {"Parameters": "takes", "Returns": "returns", "": "does"}
LEARNED, CHOSEN, TESTED = ("numpy", "scipy"), "matplotlib", "networkx"
FORMS = ("none", "added to keys", "query")
D, BATCH, STEPS, DROPPED = 48, 64, 400, 0.3
MOST, LONGEST = 24, 30  # sentences of a docstring, words of a sentence
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
RATE = 1e-2


class Doc(NamedTuple):
    """The sentences of a docstring, as words, and which question each of them answers."""

    sentences: list[list[str]]
    answers: list[str]


def parse(text: str) -> Doc | None:
    """A docstring in numpy's form without its headings; None where a section is missing."""
    lines, section, found = [*cleandoc(text).splitlines(), ""], "", {q: [] for q in QUESTIONS}
    part: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        heading = bool(re.fullmatch(r"-{3,}", after.strip()))
        # an entry of a list, "x : array", or the line below a heading
        entry = section != "" and line[:1].strip() != ""
        if heading or entry or not line.strip():
            said = re.match(r".+?[.!?](?=\s|$)", " ".join(part))  # its first sentence
            words = re.findall(r"[a-z]+", said[0].lower())[:LONGEST] if said else []
            if len(words) > 3 and section in SECTIONS:
                found[SECTIONS[section]].append(words)
            part = []
            section = line.strip() if heading else section
        else:
            part.append(line.strip())
    rows = [(words, q) for q in QUESTIONS for words in found[q]]
    random.Random(text).shuffle(rows)
    whole = all(found.values()) and len(rows) <= MOST
    return Doc(*map(list, zip(*rows, strict=True))) if whole else None


@cache
def docs(package: str) -> list[Doc]:
    """The docstrings of a package's source, each once, in order."""
    root, texts = Path(find_spec(package).origin).parent, {}
    for path in sorted(root.rglob("*.py")):
        if "tests" in path.parts or b"Returns" not in (source := path.read_bytes()):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
                texts.setdefault(text)
    return [doc for text in texts if (doc := parse(text))]


class Corpus:
    """Docstrings as tensors: words (n, sentences, words), gold (n, questions, sentences)."""

    def __init__(self, found: list[Doc], vocabulary: Vocabulary):
        self.words = torch.zeros(len(found), MOST, LONGEST, dtype=torch.long)
        self.gold = torch.zeros(len(found), len(QUESTIONS), MOST, dtype=torch.bool)
        for i, doc in enumerate(found):
            for j, (words, answer) in enumerate(zip(*doc, strict=True)):
                self.words[i, j, : len(words)] = torch.tensor(vocabulary.encode(words))
                self.gold[i, QUESTIONS.index(answer), j] = True

    def __len__(self) -> int:
        return len(self.words)


@cache
def load() -> tuple[Vocabulary, Corpus, Corpus, Corpus]:
    """The vocabulary, and docstrings to learn from, to choose by, and to be tested on."""
    found = [doc for package in LEARNED for doc in docs(package)]
    vocabulary = Vocabulary([words for doc in found for words in doc.sentences], min_count=3)
    return vocabulary, *(Corpus(x, vocabulary) for x in (found, docs(CHOSEN), docs(TESTED)))


class Reader(nn.Module):
    """Scores of sentences for a question: words (b, s, w), question (b,) -> (b, s)."""

    def __init__(self, form: str, vocabulary: int):
        super().__init__()
        self.form = form
        self.word, self.question = nn.Embedding(vocabulary, D), nn.Embedding(len(QUESTIONS), D)
        self.hidden, self.pointer = nn.Linear(D, D), nn.Linear(D, 1)

    def forward(self, words: Tensor, question: Tensor) -> Tensor:
        real = words > 0
        sums = (self.word(words) * real[..., None]).sum(2)
        keys = self.hidden(sums / real.sum(2, keepdim=True).clamp(min=1)).tanh()
        t = self.question(question)
        if self.form == "query":
            scores = (keys @ t[:, :, None])[..., 0] / D**0.5
        else:
            keys = keys + t[:, None] if self.form == "added to keys" else keys
            scores = self.pointer(keys)[..., 0]
        return scores.masked_fill(~real.any(2), float("-inf"))


def train(form: str, seed: int, *, rate: float = RATE, steps: int = STEPS):
    """A reader trained from `seed`, and its loss after each step."""
    vocabulary, x, *_ = load()
    torch.manual_seed(seed)
    model, drawn = Reader(form, len(vocabulary)), torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        rows = torch.randint(0, len(x), (BATCH,), generator=drawn)
        question = torch.randint(0, len(QUESTIONS), (BATCH,), generator=drawn)
        words = x.words[rows]
        lost = (torch.rand(words.shape, generator=drawn) < DROPPED) & (words > 0)
        logs = model(words.masked_fill(lost, UNK), question).log_softmax(1)
        gold = x.gold[rows, question]
        return -logs.masked_fill(~gold, float("-inf")).logsumexp(1).mean()

    return model, learn(model, loss, steps=steps, rate=rate)


def counted() -> Tensor:
    """How much each word speaks for each question: log ratios (questions, vocabulary)."""
    vocabulary, x, *_ = load()
    of = torch.stack([x.words[x.gold[:, q]].flatten().bincount(minlength=len(vocabulary))
                      for q in range(len(QUESTIONS))]).float()  # fmt: skip
    of[:, 0] = 0  # padding
    inside = (of + 1) / (of + 1).sum(1, keepdim=True)
    outside = of.sum(0) - of + 1
    ratio = inside.log() - (outside / outside.sum(1, keepdim=True)).log()
    ratio[:, 0] = 0
    return ratio


@torch.no_grad()
def right(score, x: Corpus) -> dict[str, float]:
    """For each question, how often the best sentence by `score(words, question)` answers it."""
    shares = {}
    for q, name in enumerate(QUESTIONS):
        best = score(x.words, torch.full((len(x),), q)).argmax(1)
        shares[name] = x.gold[torch.arange(len(x)), q, best].float().mean().item()
    return shares


def rivals(x: Corpus) -> dict[str, dict[str, float]]:
    """The share of chance, of a sentence with "return" in it, and of counting words.

    Where several sentences, or none, have the word, one of them all is drawn: the expected share.
    """
    vocabulary, real, ratio = load()[0], (x.words > 0).any(2), counted()
    says, said, begins = vocabulary.encode(["return", "returned", "returns"])
    has = ((x.words == says) | (x.words == said)).any(2)  # (n, s)
    some, first = has.any(1), x.words[..., 0] == begins
    blind, drawn = _drawn(x, real), _drawn(x, torch.where(some[:, None], has, real))

    def count(words, question):
        total = ratio[question][torch.arange(len(words))[:, None, None], words].sum(2)
        return total.masked_fill(~real, float("-inf"))

    def of(shares, **more):
        return dict(zip(QUESTIONS, shares.tolist(), strict=True)) | more

    docs, sentences, opening = (found.sum().item() for found in (some, has, first))
    return {
        "chance": of(blind.mean(0)),
        "the word return": of(drawn.mean(0)),
        "chance, where it stands": of(blind[some].mean(0), docs=docs),
        "the word return, where it stands": of(drawn[some].mean(0), docs=docs),
        "sentences with the word return": of(_said(x, has), sentences=sentences),
        "sentences that begin with returns": of(_said(x, first), sentences=opening),
        "words counted": right(count, x),
    }


def _drawn(x: Corpus, which: Tensor) -> Tensor:
    """How likely a sentence that is drawn from some (n, s) answers each question: (n, q)."""
    return (x.gold & which[:, None]).sum(2) / which.sum(1, keepdim=True)


def _said(x: Corpus, which: Tensor) -> Tensor:
    """The shares of some sentences (n, s) that answer each question: (q,)."""
    return (x.gold & which[:, None]).sum((0, 2)) / which.sum()


def corpus() -> str:
    """The hash of what is read."""
    packages = (*LEARNED, CHOSEN, TESTED)
    return hashlib.sha256(repr([docs(package) for package in packages]).encode()).hexdigest()[:16]


def tried() -> list[dict]:
    """The share of right answers on the third package at each rate, seed 0."""
    _, _, validation, _ = load()
    rows = []
    for rate in RATES:
        shares = right(train("query", 0, rate=rate)[0], validation)
        rows.append({"rate": rate, "right": sum(shares.values()) / len(shares)})
    return rows


def trace() -> dict[str, list[float]]:
    """A brief training of each form."""
    return {form: train(form, 0, steps=10)[1] for form in FORMS}


def run(seed: int) -> list[dict]:
    """One seed of each form; with the first seed, what learns nothing at random."""
    *_, test = load()
    rows = [{"way": form, **right(train(form, seed)[0], test)} for form in FORMS]
    if seed == SEEDS[0]:
        rows += [{"way": way, **shares} for way, shares in rivals(test).items()]
    return [{"seed": seed, "docs": len(test), **row} for row in rows]
