"""Tatoeba's English-French sentences, split by source sentence.

A translation from the Tatoeba project (tatoeba.org, CC BY 2.0 FR) as manythings.org/anki hands it
out: 167,130 lines, `English TAB French`, sorted by the length of the English side.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from operator import itemgetter

from .._checks import check_count
from .fetch import corpus_file, read_member
from .pairs import AlignedPair, Splits
from .text import tokenize

HELD_OUT = 0.02  # share of the source sentences in the validation set, and again in the test set

# The four sentences on which the classic chapter shows its translations, with its references. They
# are sentences like those it trains on: three stand in the file itself, and "he's calm ." has
# "i'm calm ." beside it. A BLEU on them says nothing of a held-out sentence.
CLASSIC_FOUR = tuple(
    AlignedPair(tokenize(english), tokenize(french, "fr"))
    for english, french in (
        ("Go.", "Va !"),
        ("I lost.", "J'ai perdu."),
        ("He's calm.", "Il est calme."),
        ("I'm home.", "Je suis chez moi."),
    )
)

# English that means the same and is written in two ways
_LONG_FORMS = (
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"\bshan't\b", "shall not"),
    (r"n't\b", " not"),
    (r"\bi'm\b", "i am"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
)


def fra_eng(*, max_len: int | None = None, limit: int | None = None, seed: int = 0) -> Splits:
    """English-French pairs of Tatoeba, lower case, without word links.

    The split is by source sentence: which set a sentence belongs to is decided by a hash of its
    words, so that all its translations, and the same words with other punctuation, case or
    contractions ("I am", "I'm"), stand in one set, whatever `max_len` and `limit` are. A French
    sentence may still translate two English ones in different sets: of the test set's, one in
    twelve stands in the training set too.

    Each set is in the order of those hashes, so that its first hundred are a random hundred and not
    the shortest. The validation and the test set (each 2% of the sentences) hold one translation of
    each sentence, the first in the file; the training set holds all of them, and `CLASSIC_FOUR` as
    far as they are in the file, first: never held out.

    Args:
        max_len: leave out pairs with more tokens than this on either side.
        limit: at most so many training pairs; a smaller limit is a part of a larger one.
        seed: another seed, another split.

    Raises:
        ValueError: `max_len` or `limit` is below 1, `seed` below 0.
        CorpusError: the corpus cannot be had; the message says what to do.
    """
    longest = float("inf") if max_len is None else check_count("max_len", max_len, least=1)
    most = float("inf") if limit is None else check_count("limit", limit, least=1)
    seed = check_count("seed", seed)
    classic = {_key(pair.source) for pair in CLASSIC_FOUR}
    groups = defaultdict(list)
    known = {}  # a sentence stands on a line for each translation
    for english, french in _lines():
        if english not in known:
            source = tokenize(english)
            known[english] = source, _key(source)
        source, key = known[english]
        groups[key].append((source, french))
    splits = Splits([], [], [])
    places = {key: -1.0 if key in classic else _chance(key, seed) for key in groups}
    for key, place in sorted(places.items(), key=itemgetter(1)):
        held_out = splits.test if place < HELD_OUT else splits.validation
        if 0 <= place < 2 * HELD_OUT:
            held_out += _pairs(groups[key], longest)[:1]
        elif len(splits.train) < most:
            splits.train.extend(_pairs(groups[key], longest))
    if limit is not None:
        del splits.train[limit:]
    return splits


def _lines() -> list[list[str]]:
    """English and French of each line of the file."""
    text = read_member(corpus_file("fra-eng.zip"), "fra-eng/fra.txt").decode("utf-8")
    return [line.split("\t") for line in text.splitlines()]


def _key(source: tuple[str, ...]) -> str:
    """The words of a sentence, spelt out, without its marks: what decides where it belongs."""
    text = " ".join(token for token in source if any(map(str.isalnum, token)))
    if "'" in text or "cannot" in text:
        for pattern, replacement in _LONG_FORMS:
            text = re.sub(pattern, replacement, text)
    return text


def _chance(key: str, seed: int) -> float:
    """A number from 0 to 1 that depends on nothing but the key and the seed."""
    digest = hashlib.sha256(f"{seed}\t{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _pairs(group: list[tuple[tuple[str, ...], str]], longest: float) -> list[AlignedPair]:
    """The distinct pairs of one sentence that are short enough, in the order of the file."""
    pairs = {}
    for source, french in group:
        target = tokenize(french, "fr")
        if max(len(source), len(target)) <= longest:
            pairs[AlignedPair(source, target)] = None
    return list(pairs)
