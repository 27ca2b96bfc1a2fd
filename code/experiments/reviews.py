"""Movie reviews on all ten folds, and what the same readers look at in reviews that people rated.

A seed is a fold: its 200 reviews are the test set, the other 1,800 train, and the fold's number
seeds the training. Every kind has the same epochs; its rate is the best on fold 9 where folds 1 to
8 train (`tried`), and so is the strength of the bag of words. Fold 0 has no part in that; of the
tests of the others only fold 9 was looked at for it.

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
EPOCHS, BATCH, D, DROPOUT, DROP, LONGEST, RARE = 3, 16, 32, 0.5, 0.5, 40, 5
RATES = (1.25e-3, 2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2, 8e-2, 0.16)
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
RATE = {"first word": 5e-3, "mean of words": 0.04, "mean of means": 0.16}
RATE |= {"flat attention": 0.01, "hierarchy": 0.005}
STRENGTH = 10.0
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


def trained(kind: str, reviews, seed: int, rate: float | None = None, steps: int | None = None):
    """A reader trained on reviews, its ids, and its losses."""
    ids, documents = prepared(tuple(sorted({review.fold for review in reviews})))
    torch.manual_seed(seed)
    model = Reader(kind, len(ids) + 1, D, DROPOUT)
    labels = torch.tensor([float(review.positive) for review in reviews])
    options = {"epochs": EPOCHS, "size": BATCH, "rate": rate or RATE[kind], "seed": seed}
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


def by_bag(fitted: Bag, review) -> list[float]:
    """How far a fitted bag of words leans in each sentence."""
    weight = lambda w: fitted.weights[fitted.words[w]] if w in fitted.words else 0.0  # noqa: E731
    return [abs(sum(map(weight, s))) for s in review.sentences]


def first(review) -> list[float]:
    """The earlier a sentence stands, the more."""
    return [-float(n) for n in range(len(review.sentences))]


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
        model, ids, losses = trained(kind, learn, seed)
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
    fitted = bag(learn, STRENGTH)
    row = {"fold": seed, "kind": "TF-IDF", "right": bag_right(fitted, test)}
    row["rated"] = {
        "bag": [round(agreement(by_bag(fitted, r), strong(r)), 3) for r in rated()],
        "list": [round(agreement(listed(r), strong(r)), 3) for r in rated()],
        "first": [round(agreement(first(r), strong(r)), 3) for r in rated()],
    }
    return [*rows, row]


def tried() -> list[dict]:
    """Accuracy on fold 9 of readers of folds 1 to 8, at some rates; and of the bag of words."""
    learn, held = split(9, range(1, 10))

    def trial(kind: str, rate: float) -> dict:
        model, ids, _ = trained(kind, learn, 0, rate)
        return {"kind": kind, "rate": rate, "right": np.mean(right(model, ids, held)).item()}

    def bag_trial(strength: float) -> dict:
        share = np.mean(bag_right(bag(learn, strength), held)).item()
        return {"kind": "TF-IDF", "rate": strength, "right": share}

    climb = partial(ladder, key="right", best=max)
    rows = climb(bag_trial, STRENGTHS[2:5], among=STRENGTHS)
    for kind in KINDS[1:]:  # the first word alone has nothing to learn
        rows += climb(partial(trial, kind), RATES[1:4], among=RATES)
    return rows


def trace() -> dict[str, list[float]]:
    """The first steps of each kind on fold 0."""
    learn, _ = split(0, range(10))
    return {kind: trained(kind, learn, 0, steps=12)[2] for kind in KINDS}


def corpus() -> str:
    """A hash of the pinned hashes of both corpora."""
    names = "movie_reviews.zip", "amazonReviewSnippets_GroundTruth.txt"
    text = "".join(PINNED[name].sha256 for name in names)
    return hashlib.sha256(text.encode()).hexdigest()
