"""Look sentences up before reading them: BM25 hands over a few, and attention reads those.

The text is what every Python has, the topics of `help()`, cut into sentences. A question has two
words of a sentence and a third, the anchor; the answer is the word that stands after the anchor
in that sentence. BM25 ranks all sentences for the three words. A reader attends to the words of the
best k and points at one. It is trained on what was retrieved, or on sentences drawn at random; the
right sentence is always among those it is trained on, and never put in when it is judged.

A sentence that stands in two articles would have two right places, of which one counts as wrong:
such sentences are left out (`topics`).
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.data import Vocabulary
from attnbook.metrics import selection
from attnbook.normalize import masked_softmax

from .ladder import ladder
from .loop import learn

SEEDS = range(6)
SHORTEST, LONGEST = 8, 40  # words of a sentence
WORDS, HELD = 2, 300  # words of a question beside the anchor; sentences for the judges
ASKED = 2  # questions of each sentence that is trained on
NEAR, STEPS, BATCH = 10, 300, 64
RATES = (1e-2, 3e-2, 1e-1, 3e-1, 1.0)
RATE = 1e-1
KS = (1, 3, 10, 30, 100, None)  # None: all sentences

Sentence = tuple[str, ...]


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text as words in lower case, those of 8 to 40 words."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text):
        for part in re.split(r"(?<=[.!?:])\s+", " ".join(paragraph.split())):
            words = tuple(re.findall(r"[a-z_]+", part.lower()))
            if SHORTEST <= len(words) <= LONGEST:
                found.append(words)
    return found


def topics() -> tuple[list[Sentence], list[Sentence]]:
    """The sentences of Python's help topics that stand in one article, and those in several."""
    from pydoc_data.topics import topics as articles

    told = [set(sentences(text)) for text in dict.fromkeys(articles.values())]
    count = Counter(sentence for article in told for sentence in article)
    return tuple(sorted(s for s, n in count.items() if (n > 1) == several) for several in (0, 1))


class Questions(NamedTuple):
    """Questions as numbers (b questions)."""

    words: Tensor  # (b, WORDS + 1) ids, the anchor last
    answers: Tensor  # (b,)
    gold: Tensor  # (b,) number of the sentence


def ask(told: Sequence[Sentence], numbers: Sequence[int], vocabulary: Vocabulary, rng):
    """A question about each of the sentences with these numbers."""
    words, answers, gold = [], [], []
    for number in numbers:
        s = told[number]
        once = [s.count(word) == 1 for word in s]
        places = [j for j in range(1, len(s)) if len(s[j]) > 3 and once[j] and once[j - 1]]
        if not places or len(set(s)) < WORDS + 2:
            continue
        j = rng.choice(places)
        others = sorted(set(s) - {s[j], s[j - 1]})
        words.append(vocabulary.encode([*rng.sample(others, WORDS), s[j - 1]]))
        answers += vocabulary.encode([s[j]])
        gold.append(number)
    return Questions(*map(torch.tensor, (words, answers, gold)))


class Library(NamedTuple):
    """Sentences, as words and as ids (n, w), 0 beyond their ends; ln(n / n_t) of each word t."""

    told: list[Sentence]
    ids: Tensor
    vocabulary: Vocabulary
    rarity: Tensor


def library(told: list[Sentence]) -> Library:
    """Number the words of sentences."""
    vocabulary = Vocabulary(told)
    ids = torch.zeros(len(told), max(map(len, told)), dtype=torch.long)
    for row, sentence in zip(ids, told, strict=True):
        row[: len(sentence)] = torch.tensor(vocabulary.encode(sentence))
    has = torch.stack([row.bincount(minlength=len(vocabulary)).clamp(max=1) for row in ids]).sum(0)
    return Library(told, ids, vocabulary, (len(told) / has.clamp(min=1)).log())


def ranked(of: Library, questions: Questions) -> Tensor:
    """The numbers of all sentences for each question, by BM25, the best first: (b, n)."""
    import bm25s

    index = bm25s.BM25()
    index.index([list(sentence) for sentence in of.told], show_progress=False)
    asked = [[of.vocabulary.tokens[i] for i in row] for row in questions.words.tolist()]
    scores = torch.tensor([index.get_scores(words).tolist() for words in asked])
    return scores.argsort(dim=1, descending=True, stable=True)


class Reader(nn.Module):
    """One look at the words of some sentences, with the question as the query; three numbers learn.

    A word's score is the sum of two dot products in a space with an axis for each word: of its
    sentence with the question, where a word counts a + b times its rarity, and of the word before
    it with the anchor, times c.
    """

    def __init__(self, rarity: Tensor):
        super().__init__()
        self.register_buffer("rarity", rarity)  # (words,)
        self.a, self.b, self.c = (nn.Parameter(torch.tensor(x)) for x in (1.0, 0.0, 1.0))

    def forward(self, words: Tensor, text: Tensor) -> Tensor:
        """Weights (b, c, w) of the words of sentences (b, c, w) for questions (b, WORDS + 1)."""
        has = (text.unsqueeze(2) == words[:, None, :, None]).any(-1)  # (b, c, WORDS + 1)
        fits = (has * (self.a + self.b * self.rarity[words]).unsqueeze(1)).sum(-1)  # (b, c)
        early = nn.functional.pad(text, (1, -1))  # the word before, none for the first
        scores = fits.unsqueeze(-1) + self.c * (early == words[:, -1, None, None])
        seen = ((text > 0) & (early > 0)).flatten(1)
        weights = masked_softmax(scores.flatten(1).unsqueeze(1), seen.unsqueeze(1))
        return weights.view(text.shape)


def shares(weights: Tensor, text: Tensor, words: int) -> Tensor:
    """The sum of the weights of each word of the vocabulary: (b, words)."""
    total = weights.new_zeros(len(text), words)
    return total.scatter_add(1, text.flatten(1), weights.flatten(1))


def train(of: Library, questions: Questions, near: Tensor | None, seed: int, **options):
    """A reader trained on the right sentence among `near` (b, c), or among random ones."""
    model, random = Reader(of.rarity), torch.Generator().manual_seed(seed)

    def loss(step: int) -> Tensor:
        rows = torch.randint(len(questions.gold), (BATCH,), generator=random)
        if near is None:
            others = torch.randint(len(of.ids), (BATCH, NEAR), generator=random)
        else:
            others = near[rows]
        gold = questions.gold[rows].unsqueeze(1)
        spare = torch.where(others == gold, -1, others)  # once is enough
        chosen = torch.cat((gold, spare), dim=1)  # (b, c), -1 for none
        text = of.ids[chosen] * (chosen >= 0).unsqueeze(-1)
        weights = model(questions.words[rows], text)
        right = (weights * (text == questions.answers[rows][:, None, None])).sum((1, 2))
        return -right.clamp(min=1e-9).log().mean()

    plan = {"steps": STEPS, "rate": RATE} | options
    return model, learn(model, loss, **plan, warmup=0.2, clip=5.0, fused=True)


@torch.no_grad()
def accuracy(model: Reader, of: Library, questions: Questions, chosen: Tensor) -> float:
    """Right answers from the sentences with the numbers `chosen` (b, c)."""
    right = 0
    for b in range(len(chosen)):
        text = of.ids[chosen[b]].unsqueeze(0)
        weights = model(questions.words[b : b + 1], text)
        named = shares(weights, text, len(of.vocabulary)).argmax()
        right += (named == questions.answers[b]).item()
    return right / len(chosen)


def recall_of(chosen: Tensor, gold: Tensor, n: int) -> list[float]:
    """The share of right sentences among the chosen ones (b, c), with its interval."""
    kept = torch.zeros(len(gold), n, dtype=torch.bool).scatter(1, chosen, True)
    mattered = [{(0, number)} for number in gold.tolist()]
    return list(selection([row[None] for row in kept], mattered, samples=200).recall)


def by_rule(of: Library, questions: Questions, order: Tensor) -> float:
    """Right answers without training: what follows the anchor in the best sentence that has it."""
    right = 0
    for b, anchor in enumerate(questions.words[:, -1].tolist()):
        for number in order[b].tolist():
            row = of.ids[number].tolist()
            if anchor in row[:-1] and row[row.index(anchor) + 1]:
                right += row[row.index(anchor) + 1] == questions.answers[b].item()
                break
    return right / len(order)


def of_two(alone: list[Sentence], several: list[Sentence], seed: int) -> float:
    """Recall at 1 for sentences that stand in two articles: each copy is a passage of its own.

    The question is about one of the copies, and which is not to be seen from it.
    """
    of, rng = library([*alone, *several, *several]), random.Random(seed)
    first = rng.sample(range(len(alone), len(alone) + len(several)), min(HELD, len(several)))
    numbers = [number + rng.randint(0, 1) * len(several) for number in first]
    questions = ask(of.told, numbers, of.vocabulary, rng)
    best = ranked(of, questions)[:, 0]
    return (best == questions.gold).double().mean().item()


def drawn(of: Library, seed: int):
    """Questions to train on, to choose by and to be judged by, about different sentences."""
    rng = random.Random(seed)
    numbers = rng.sample(range(len(of.told)), len(of.told))
    parts = numbers[2 * HELD :] * ASKED, numbers[:HELD], numbers[HELD : 2 * HELD]
    return [ask(of.told, part, of.vocabulary, rng) for part in parts]


def tried() -> list[dict]:
    """Right answers to validation questions at several rates, seed 0."""
    of = library(topics()[0])
    training, validation, _ = drawn(of, 0)
    near, order = ranked(of, training)[:, :NEAR], ranked(of, validation)

    def trial(rate: float) -> dict:
        model, _ = train(of, training, near, 0, rate=rate)
        return {"rate": rate, "accuracy": accuracy(model, of, validation, order[:, :NEAR])}

    return ladder(trial, RATES[1:4], key="accuracy", among=RATES, best=max)


def trace() -> dict[str, list[float]]:
    """The first steps on made-up sentences, which no version of Python changes."""
    rng = random.Random(0)
    letters = [a + b + "word" for a in "bcdfg" for b in "aeiou"]
    of = library([tuple(rng.sample(letters, 9)) for _ in range(40)])
    questions = ask(of.told, range(40), of.vocabulary, rng)
    near = torch.arange(40).repeat(40, 1)[:, :NEAR]
    return {
        name: train(of, questions, c, 0, steps=8)[1] for name, c in (("near", near), ("any", None))
    }


def run(seed: int) -> list[dict]:
    """One seed: both readers and an untrained one at each k, and what they are compared with."""
    alone, several = topics()
    of = library(alone)
    training, _, judged = drawn(of, seed)
    order, lengths = ranked(of, judged), (of.ids > 0).sum(1).double()
    readers = {
        "retrieved": train(of, training, ranked(of, training)[:, :NEAR], seed)[0],
        "random": train(of, training, None, seed)[0],
        "untrained": Reader(of.rarity),
    }
    rows = []
    for k in KS:
        chosen = order[:, :k]
        row = {"seed": seed, "k": k or len(of.told)}
        row["recall"] = (chosen == judged.gold[:, None]).any(1).double().mean().item()
        row["kept"] = recall_of(chosen, judged.gold, len(of.told))
        row["words"] = lengths[chosen].sum(1).mean().item()
        rows.append(row | {n: accuracy(m, of, judged, chosen) for n, m in readers.items()})
    told = accuracy(readers["retrieved"], of, judged, judged.gold[:, None])
    row = {"rule": by_rule(of, judged, order), "gold": told, "copies": of_two(alone, several, seed)}
    numbers = [number.item() for number in readers["retrieved"].parameters()]
    counts = {"sentences": [len(alone), len(several)], "numbers": numbers}
    counts["python"] = list(sys.version_info[:2])  # whose help topics they are
    return [*rows, {"seed": seed, **row, **counts}]
