"""Documents in which it is known which sentence decides: what do trained readers look at?

A document has six to ten sentences of eight words, most of which mean nothing. One sentence holds
an opinion of the writer ("mine"); it alone decides the label. What else there is, by task:

- "evidence": nothing.
- "decoy": one sentence with the opposite opinion, of somebody else.
- "three decoys": three sentences with opinions of others, for or against by chance.
- "shortcut": a decoy; and the first word of the document names a genre that goes with the label
  in nine of ten documents of the training set, and in half of the test set.

What a model read is judged by flips: a word of praise becomes one of blame in its place, or the
other way round, and the rest of the document stays. If the answer turns, that sentence was read.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

from attnbook.data import pad_documents

from .readers import BETWEEN, Reader, agreement, answers, attended, erasure, gradient, train
from .stored import load_into

SEEDS = range(6)
TASKS = ("evidence", "decoy", "three decoys", "shortcut")
RIVALS = ("mean of words", "flat attention")  # on documents with a decoy
TRAIN, TEST, EPOCHS, BATCH, RATE, D = 2000, 200, 6, 32, 1e-2, 32
LONGER = {"attention to words": 30, "layer between means": 30}  # epochs, where 6 are not enough
KEPT = {"evidence": 0, "decoy": 1}  # the seed of the hierarchy whose weights are stored

FILLERS = """the a this that on in at by from with and then when while near door table window street
river garden kitchen train paper bottle stone cloud winter summer morning evening corner bridge
market ticket letter basket mirror ladder pocket button carpet candle engine harbour island jacket
kettle lemon mountain needle orange pencil quarter ribbon saddle tunnel valley wagon yellow blue
green grey round square second third early late open closed under over across between""".split()
OPINIONS = (
    "awful bad boring clumsy dreadful dull poor sad terrible weak".split(),
    "brilliant charming clever delightful excellent fine great lovely superb wonderful".split(),
)
MINE, OTHERS = "i me my we our".split(), "he she they his their".split()
GENRES = ("horror", "comedy")
VOCABULARY = sorted({*FILLERS, *OPINIONS[0], *OPINIONS[1], *MINE, *OTHERS, *GENRES})
IDS = {word: n for n, word in enumerate(VOCABULARY)}
OPPOSITE = dict(zip((*OPINIONS[0], GENRES[0]), (*OPINIONS[1], GENRES[1]), strict=True))
OPPOSITE |= {other: word for word, other in OPPOSITE.items()}


class Planted(NamedTuple):
    """Sentences of words; the label, 0 or 1; which sentence decides; which hold other opinions."""

    sentences: list[list[str]]
    label: int
    evidence: int
    decoys: list[int]


def documents(count: int, task: str, seed: int, *, test: bool = False) -> list[Planted]:
    """Draw documents of a task."""
    draw, made = random.Random(seed), []
    for _ in range(count):
        n, label = draw.randint(6, 10), draw.randint(0, 1)
        sentences = [[draw.choice(FILLERS) for _ in range(8)] for _ in range(n)]
        evidence, *others = draw.sample(range(1, n), 4)
        decoys = others[: {"evidence": 0, "three decoys": 3}.get(task, 1)]

        def plant(place, people, side, sentences=sentences):
            words = draw.choice(people), draw.choice(OPINIONS[side])
            for at, word in zip(draw.sample(range(1, 8), 2), words, strict=True):
                sentences[place][at] = word

        plant(evidence, MINE, label)
        for place in decoys:
            plant(place, OTHERS, draw.randint(0, 1) if task == "three decoys" else 1 - label)
        if task == "shortcut":
            agrees = draw.random() < (0.5 if test else 0.9)
            sentences[0][0] = GENRES[label if agrees else 1 - label]
        made.append(Planted(sentences, label, evidence, decoys))
    return made


def encode(sentences) -> list[list[int]]:
    """Words as ids."""
    return [[IDS[word] for word in sentence] for sentence in sentences]


def flipped(sentences: list[list[str]], place: int) -> list[list[str]]:
    """The sentences with the opinion, or the genre, of one of them turned into its opposite."""
    turned = [OPPOSITE.get(word, word) for word in sentences[place]]
    return [*sentences[:place], turned, *sentences[place + 1 :]]


def turns(model: Reader, tests: list[Planted], places: list[int]) -> float:
    """The share of the documents whose answer turns when this sentence of each is flipped."""
    before = answers(model, [encode(one.sentences) for one in tests]) > 0
    pairs = zip(tests, places, strict=True)
    after = answers(model, [encode(flipped(one.sentences, place)) for one, place in pairs]) > 0
    return (before != after).float().mean().item()


def read(model: Reader, tests: list[Planted]) -> dict[str, float]:
    """Shares of the documents: right answers, and where each measure has its maximum.

    `flip`: answers that turn when the evidence, the (first) decoy or the first sentence is flipped.
    """
    given, labels = [encode(one.sentences) for one in tests], torch.tensor([t.label for t in tests])
    row = {"accuracy": ((answers(model, given) > 0) == labels.bool()).float().mean().item()}
    row["flip evidence"] = turns(model, tests, [one.evidence for one in tests])
    if all(one.decoys for one in tests):
        row["flip decoy"] = turns(model, tests, [one.decoys[0] for one in tests])
    row["flip first"] = turns(model, tests, [0] * len(tests))
    if model.kind in ("flat attention", "hierarchy"):
        found = {"attention": attended, "erasure": erasure, "gradient": gradient}
        weights = {name: [f(model, document) for document in given] for name, f in found.items()}
        for name, each in weights.items():
            best = [w.argmax().item() for w in each]
            pairs = list(zip(best, tests, strict=True))
            row[f"{name}: evidence"] = sum(b == t.evidence for b, t in pairs) / len(tests)
            row[f"{name}: decoy"] = sum(b in t.decoys for b, t in pairs) / len(tests)
            row[f"{name}: first"] = sum(b == 0 for b, _ in pairs) / len(tests)
        both = zip(weights["attention"], weights["erasure"], strict=True)
        row["attention with erasure"] = sum(agreement(a, e) for a, e in both) / len(tests)
    return row


def trained(kind: str, task: str, seed: int, steps: int | None = None) -> tuple[Reader, list]:
    """A reader trained on a task, and its losses."""
    made = documents(TRAIN, task, seed)
    torch.manual_seed(seed)
    model = Reader(kind, len(IDS), D)
    labels = torch.tensor([float(one.label) for one in made])
    options = {
        "epochs": LONGER.get(kind, EPOCHS),
        "size": BATCH,
        "rate": RATE,
        "seed": seed,
        "steps": steps,
    }
    return model, train(model, [encode(one.sentences) for one in made], labels, **options)


def reading(model: Reader, sentences: list[list[str]], ids) -> dict:
    """What the widget shows of one document: weights of words, and scores and votes of sentences.

    The logit is the sum of the votes, each times the softmax weight of its score.
    """
    with torch.no_grad():
        given, mask = pad_documents([ids])
        vectors, alpha = model.pool.words(model.embedding(given), mask)
        scores = torch.tanh(model.pool.sentences.W(vectors)) @ model.pool.sentences.query
        votes = model.out(vectors).squeeze(-1)
    words = [alpha[0, i, : len(s)].tolist() for i, s in enumerate(sentences)]
    return {"words": words, "scores": scores[0].tolist(), "votes": votes[0].tolist()}


def run(seed: int, keep: Callable[[str, nn.Module], None]) -> list[dict]:
    """One seed of the hierarchy on each task, and of its rivals on one."""
    rows = []
    for task in TASKS:
        tests = documents(TEST, task, 10**4 + seed, test=True)
        for kind in (*((*RIVALS, *BETWEEN) if task == "decoy" else ()), "hierarchy"):
            model, losses = trained(kind, task, seed)
            row = {"seed": seed, "task": task, "kind": kind, **read(model, tests)}
            row["loss"] = sum(losses[-50:]) / 50
            if kind == "hierarchy" and KEPT.get(task) == seed:
                keep(f"planted_{task}", model)
            if (task, kind) == ("decoy", "hierarchy"):
                [shown] = documents(1, task, 10**6, test=True)
                row["reading"] = reading(model, shown.sentences, encode(shown.sentences))
            rows.append(row)
    return rows


def stored(task: str) -> Reader:
    """The stored hierarchy of a task, one of `KEPT`."""
    return load_into(Reader("hierarchy", len(IDS), D), f"planted_{task}")


def reread() -> dict[str, dict[str, float]]:
    """What the stored weights do on a hundred documents."""
    found = {}
    for task in KEPT:
        model, made = stored(task), documents(100, task, 10**5, test=True)
        logits = answers(model, [encode(one.sentences) for one in made])
        found[f"planted_{task}"] = {"logit": logits.abs().mean().item()}
    return found


def trace() -> dict[str, list[float]]:
    """The first steps of the hierarchy on each task, and of its rivals on one."""
    each = [("hierarchy", task) for task in TASKS] + [
        (kind, "decoy") for kind in (*RIVALS, *BETWEEN)
    ]
    return {f"{kind}, {task}": trained(kind, task, 0, steps=12)[1] for kind, task in each}
