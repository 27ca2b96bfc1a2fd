"""Movie reviews on all ten folds, and what the same readers look at in reviews that people rated.

A seed is a fold: its 200 reviews are the test set, the other 1,800 train, and the fold's number
seeds the training. Every kind has the same epochs. Its rate is chosen inside the training folds,
and so is the strength of the bag of words: for the tests on folds 0 to 4 by readers of folds 5 to 8
on fold 9, for those on folds 5 to 9 by readers of folds 0 to 3 on fold 4 (`tried`). So no test set
has a part in its own choice.

Each reader is then given the product reviews, of other things than movies, in which twenty people
rated every sentence, and its weights, erasures and gradients are compared with how strong those
ratings are. As a control of the measures a sentence of the strongest words of movie reviews
(`LOUD`) is put into a hundred of them: a measure that works must point at it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache, partial

import numpy as np
import torch

from attnbook.data import movie_reviews, rated_reviews, words_of
from attnbook.data.pins import PINNED

from .bag import Bag
from .ladder import ladder
from .planted import reading
from .readers import KINDS, MEASURES, Reader, agreement, answers, attended, train

SEEDS = range(10)
EPOCHS, BATCH, D, DROPOUT, DROP, LONGEST, RARE = 6, 16, 32, 0.5, 0.5, 40, 5
CHOOSING = 13  # epochs on the 800 reviews of a choice: about as many steps as 6 on 1,800
TIMES = 2  # with so many times the epochs, at the rate that was chosen: are they enough?
RATES = (2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2, 8e-2, 0.16, 0.32, 0.64)
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
INNER = ((range(5, 9), 9), (range(4), 4))  # for the tests on folds 0 to 4, and 5 to 9
BEGIN = {"mean of words": 0.04, "mean of means": 0.08, "flat attention": 0.02, "hierarchy": 0.02}
RATE = {  # for each half of the tests
    "first word": (5e-3, 5e-3),  # has nothing to learn
    "mean of words": (0.04, 0.01),
    "mean of means": (0.16, 0.08),
    "flat attention": (0.01, 0.04),
    "hierarchy": (0.02, 0.01),
}
STRENGTH = (10.0, 30.0)
LEAST = 5  # sentences of a rated review, below which ranks say little
JUDGED = ("flat attention", "hierarchy")
LOUD = {True: "a brilliant , wonderful , excellent and moving masterpiece", False: None}
LOUD[False] = "a boring , stupid , awful and ridiculous waste of time"
SHOWN = "28"  # the rated review whose readings are stored for the widget

# Words of praise and of blame, written by hand after a dozen of the rated reviews had been read, so
# no fair rival: no page shows its agreement; VADER's list (`raters.py`) is compared with.
PRAISE = words_of("""amazing awesome beautiful best better brilliant comfortable delighted easy
enjoy excellent fantastic fast fine glad good great happy helpful impressed impressive incredible
like love loved loves nice outstanding perfect perfectly pleased powerful recommend recommended
reliable satisfied sharp simple smooth solid superb terrific useful well wonderful worth""")
BLAME = words_of("""annoying awful avoid bad blurry broke broken cheap complain complaint crash
cumbersome dead defective difficult disappointed disappointing disappointment error fail failed
fails failure fault faulty frustrated frustrating garbage hard hate horrible junk lack lousy mistake
noisy poor poorly problem problems regret return returned slow stupid sucks terrible trouble ugly
unfortunately unhappy useless waste weak worse worst wrong""")


@cache
def movies():
    """The reviews; sentences of more than `LONGEST` words are cut."""
    found = []
    for review in movie_reviews():
        cut = [s[i : i + LONGEST] for s in review.sentences for i in range(0, len(s), LONGEST)]
        found.append(review._replace(sentences=tuple(cut)))
    return found


def split(test: int, folds) -> tuple[list, list]:
    """Reviews of these folds without `test`, and those of `test`."""
    inside = [r for r in movies() if r.fold in folds and r.fold != test]
    return inside, [r for r in movies() if r.fold == test]


def ids_of(reviews) -> dict[str, int]:
    """Words that stand `RARE` times in these reviews; 0 is any other."""
    counts = Counter(word for review in reviews for s in review.sentences for word in s)
    kept = sorted(word for word, count in counts.items() if count >= RARE)
    return {word: n for n, word in enumerate(kept, 1)}


def encode(reviews, ids: dict[str, int]) -> list[list[list[int]]]:
    """Words as ids."""
    return [[[ids.get(w, 0) for w in s] for s in review.sentences] for review in reviews]


@cache
def prepared(folds: tuple[int, ...]) -> tuple[dict[str, int], list[list[list[int]]]]:
    """Words and encoded reviews of whole folds."""
    inside = [review for review in movies() if review.fold in folds]
    ids = ids_of(inside)
    return ids, encode(inside, ids)


def trained(
    kind: str,
    reviews,
    seed: int,
    rate: float,
    epochs: int = EPOCHS,
    steps: int | None = None,
):
    """A reader trained on reviews, its ids, and its losses."""
    ids, documents = prepared(tuple(sorted({review.fold for review in reviews})))
    torch.manual_seed(seed)
    model = Reader(kind, len(ids) + 1, D, DROPOUT)
    labels = torch.tensor([float(review.positive) for review in reviews])
    options = {"epochs": epochs, "size": BATCH, "rate": rate, "seed": seed}
    losses = train(model, documents, labels, **options, drop=DROP, steps=steps)
    return model, ids, losses


def right(model: Reader, ids, reviews) -> list[int]:
    """1 for each review that is judged as its writer did."""
    found = answers(model, encode(reviews, ids)) > 0
    return [int(a == r.positive) for a, r in zip(found.tolist(), reviews, strict=True)]


def bag(reviews, strength: float) -> Bag:
    """The bag of words fitted to reviews."""
    flat = [[word for s in review.sentences for word in s] for review in reviews]
    return Bag(flat, [review.positive for review in reviews], strength)


def bag_right(fitted: Bag, reviews) -> list[int]:
    """The same of a bag of words."""
    found = fitted.logits([[word for s in review.sentences for word in s] for review in reviews])
    return [int((a > 0) == r.positive) for a, r in zip(found, reviews, strict=True)]


@cache
def rated():
    """Reviews of which every sentence was rated, those of five sentences at least."""
    return rated_reviews(least=LEAST)


def strong(review) -> list[float]:
    """How strong each sentence is: |mean rating|."""
    return [abs(rating) for rating in review.ratings]


def listed(review) -> list[float]:
    """How far praise and blame differ in each sentence, by the lists above."""
    good, bad = set(PRAISE), set(BLAME)
    return [abs(sum((w in good) - (w in bad) for w in s)) for s in review.sentences]


def bag_alone(fitted: Bag, review) -> list[float]:
    """How far the answer of a fitted bag of words lies from 0, given each sentence alone."""
    return np.abs(fitted.logits(review.sentences)).tolist()


def bag_size(fitted: Bag, review) -> list[float]:
    """The mean size of what each word of a sentence adds: its weight times its rarity."""
    sizes = np.abs(fitted.weights * fitted.rarity)
    size = lambda w: sizes[fitted.words[w]] if w in fitted.words else 0.0  # noqa: E731
    return [float(np.mean([size(w) for w in s])) for s in review.sentences]


def first(review) -> list[float]:
    """The earlier a sentence stands, the more."""
    return [-float(n) for n in range(len(review.sentences))]


def short(review) -> list[float]:
    """The fewer words a sentence has, the more."""
    return [-float(len(s)) for s in review.sentences]


def judge(model: Reader, ids) -> dict:
    """Agreement with the raters, a number for each review; and how often the loud one is found."""
    given = encode(rated(), ids)
    names = list(MEASURES)
    found = {name: [MEASURES[name](model, document) for document in given] for name in names}
    row = {}
    for name, each in found.items():
        rho = [agreement(w, strong(r)) for w, r in zip(each, rated(), strict=True)]
        row[name] = [round(x, 3) for x in rho]
    for name in ("erasure", "gradient x input"):
        pairs = zip(found["attention"], found[name], strict=True)
        row[f"attention with {name}"] = float(np.mean([agreement(a, b) for a, b in pairs]))
    draw, hits = np.random.default_rng(0), dict.fromkeys(names, 0)
    for review, document in zip(rated()[:100], given[:100], strict=True):
        loud = LOUD[sum(review.ratings) > 0]
        at = int(draw.integers(len(document) + 1))
        more = [*document[:at], [ids.get(word, 0) for word in words_of(loud)], *document[at:]]
        for name in names:
            hits[name] += int(MEASURES[name](model, more).argmax()) == at
    row |= {f"{name}: loud": count / 100 for name, count in hits.items()}
    side = torch.tensor([sum(review.ratings) > 0 for review in rated()])
    row["verdict"] = ((answers(model, given) > 0) == side).float().mean().item()
    return row


def run(seed: int) -> list[dict]:
    """One fold: every kind, and the bag of words."""
    rows, weights = [], {}
    learn, test = split(seed, range(10))
    for kind in KINDS:
        model, ids, losses = trained(kind, learn, seed, RATE[kind][seed // 5])
        row = {"fold": seed, "kind": kind, "right": right(model, ids, test)}
        row["loss"] = sum(losses[-50:]) / 50
        if kind in JUDGED:
            row["rated"] = judge(model, ids)
        if kind == "hierarchy":
            [shown] = [review for review in rated() if review.name == SHOWN]
            row["reading"] = reading(model, shown.sentences, encode([shown], ids)[0])
            given = encode(rated(), ids)
            weights = [[round(x, 4) for x in attended(model, d).tolist()] for d in given]
            row["weights"] = weights[:100] if seed < 6 else []
        rows.append(row)
    return [*rows, without_network(seed)]


def without_network(seed: int) -> dict:
    """One fold: the bag of words, and what agrees with the raters without a network.

    Fold 0 has how strong the sentences are of the hundred reviews whose weights are stored, and
    which share of all rated reviews is positive.
    """
    learn, test = split(seed, range(10))
    fitted = bag(learn, STRENGTH[seed // 5])
    ways = {"bag alone": partial(bag_alone, fitted), "bag size": partial(bag_size, fitted)}
    ways |= {"list": listed, "first": first, "short": short}
    row = {"fold": seed, "kind": "TF-IDF", "right": bag_right(fitted, test)}
    row["rated"] = {
        name: [round(agreement(way(review), strong(review)), 3) for review in rated()]
        for name, way in ways.items()
    }
    if seed == 0:
        row["strong"] = [strong(review) for review in rated()[:100]]
        row["positive"] = float(np.mean([sum(review.ratings) > 0 for review in rated()]))
    return row


def trial(half: int, kind: str, rate: float, times: int = 1) -> dict:
    """Accuracy of a kind at a rate, where the rate for a half of the tests is chosen."""
    folds, fold = INNER[half]
    learn, held = split(fold, (*folds, fold))
    if kind == "TF-IDF":
        found = bag_right(bag(learn, rate), held)
    else:
        model, ids, _ = trained(kind, learn, 0, rate, times * CHOOSING)
        found = right(model, ids, held)
    row = {"half": half, "kind": kind, "rate": rate, "times": times}
    return row | {"right": np.mean(found).item()}


def tried() -> list[dict]:
    """All trials: for each half and kind, rates until the best has a worse one on each side.

    Then the chosen rate again, with `TIMES` times the epochs.
    """
    climb, rows = partial(ladder, key="right", best=max), []
    for half in range(len(INNER)):
        rows += climb(partial(trial, half, "TF-IDF"), STRENGTHS[2:5], among=STRENGTHS)
        for kind in KINDS[1:]:
            at = RATES.index(BEGIN[kind])
            rows += climb(partial(trial, half, kind), RATES[at - 1 : at + 2], among=RATES)
            rows.append(trial(half, kind, RATE[kind][half], TIMES))
    return rows


def trace() -> dict[str, list[float]]:
    """The first steps of each kind on fold 0."""
    learn, _ = split(0, range(10))
    return {kind: trained(kind, learn, 0, RATE[kind][0], steps=12)[2] for kind in KINDS}


def corpus() -> str:
    """A hash of the pinned hashes of both corpora."""
    names = "movie_reviews.zip", "amazonReviewSnippets_GroundTruth.txt"
    text = "".join(PINNED[name].sha256 for name in names)
    return hashlib.sha256(text.encode()).hexdigest()
