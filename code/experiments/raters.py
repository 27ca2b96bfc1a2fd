"""How well people agree with people on the rated reviews, and a word list that people rated.

The twenty ratings of each sentence are split into two halves at random, and the mean ratings of
one half are compared with those of the other, as the weights of a reader are with all of them. It
is a ceiling that such weights could reach. VADER's word list, whose words were rated in the same
way by the same laboratory, says how far single words lead.

Both files come with VADER (MIT; Hutto and Gilbert 2014), in the folder of its archive
hutto_ICWSM_2014.tar.gz, in the source distribution vaderSentiment 3.3.2 for instance. They are no
corpus of `attnbook.data`; `make train EXP=raters` looks for them in the folder hutto_ICWSM_2014
of `ATTNBOOK_CACHE`.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

from attnbook.data.fetch import CorpusCorrupted, cache_folder
from attnbook.data.pins import PINNED

from .readers import agreement

SEEDS = range(6)
HASHES = {  # of the text without a byte-order mark, with LF
    "amazonReviewSnippets_anonDataRatings.txt": (
        "3e639f5c76a1ac73b110fc7d2ab0b6c6b4408d7ab833913b3a7237ed93bd929f"
    ),
    "vader_sentiment_lexicon.txt": (
        "31cfdc6a7c4e54e23b230bd50a0ea15a4ab518ceeb807e1ffc38f97fa0569632"
    ),
}


def text(name: str) -> str:
    """One of the two files, checked."""
    found = (cache_folder() / "hutto_ICWSM_2014" / name).read_bytes()
    found = found.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if hashlib.sha256(found).hexdigest() != HASHES[name]:
        raise CorpusCorrupted(f"{name} is another file than that of hutto_ICWSM_2014.tar.gz")
    return found.decode("latin1")


def halves(ratings: np.ndarray, draw: np.random.Generator) -> float:
    """Agreement on how strong the sentences of a review are, of two halves of its raters.

    Args:
        ratings: (sentences, raters), of which each sentence has its own order.
    """
    mixed = draw.permuted(ratings, axis=1)
    half = ratings.shape[1] // 2
    return agreement(abs(mixed[:, :half].mean(1)), abs(mixed[:, half:].mean(1)))


def run(seed: int) -> dict:
    """One way to halve the raters; the word list, which needs no seed."""
    from . import reviews

    single = {}
    for line in text("amazonReviewSnippets_anonDataRatings.txt").splitlines():
        place, mean, _, each = line.split("\t")
        single[place] = json.loads(each)
        if abs(np.mean(single[place]) - float(mean)) > 0.006:
            raise CorpusCorrupted(f"{place} has another mean than its ratings")
    places: dict[str, list[str]] = {}
    for place in single:
        places.setdefault(place.split("_")[0], []).append(place)
    words = dict(line.split("\t")[:2] for line in text("vader_sentiment_lexicon.txt").splitlines())
    draw, found, listed = np.random.default_rng(seed), [], []
    for review in reviews.rated():
        each = [single[place] for place in places[review.name]]
        if len(each) == len(review.ratings):  # a sentence without a word is no sentence there
            few = min(map(len, each))
            found.append(halves(np.array([row[:few] for row in each]), draw))
        sums = [abs(sum(float(words.get(w, 0)) for w in s)) for s in review.sentences]
        listed.append(agreement(sums, reviews.strong(review)))
    row = {"seed": seed, "reviews": len(found), "halves": float(np.mean(found))}
    return row | ({"VADER": [round(x, 3) for x in listed]} if seed == SEEDS[0] else {})


def trace() -> dict[str, list[float]]:
    """The agreement of two halves of made-up ratings, the noisier the less."""
    draw = np.random.default_rng(0)
    rows = []
    for noise in (0.5, 1.0, 2.0):
        made = [draw.normal(size=(9, 1)) + noise * draw.normal(size=(9, 20)) for _ in range(50)]
        rows.append(float(np.mean([halves(ratings, draw) for ratings in made])))
    return {"halves": rows}


def corpus() -> str:
    """The pinned hash of the mean ratings."""
    return PINNED["amazonReviewSnippets_GroundTruth.txt"].sha256
