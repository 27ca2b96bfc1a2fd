"""Tokens that know where they come from, and the French spelling rules between neighbours.

A derivation builds two lists at once. Every French token holds the English tokens that it
translates, so the links of a finished pair are read off, never guessed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

VOWELS = frozenset("aâàeéèêiîoôœuûyh")  # an h is mute unless listed below
ASPIRATED = frozenset({"haut", "haute", "hauts", "hautes", "huit"})
# The form of a word before a vowel. Adjectives and possessives bring their own.
ELIDED = {
    "le": "l'", "la": "l'", "de": "d'", "que": "qu'", "ne": "n'", "je": "j'", "me": "m'",
    "te": "t'", "se": "s'",
}  # fmt: skip
CONTRACTED = {
    ("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux",
}  # fmt: skip


class English:
    """One English token; its identity, not its spelling, is what a link refers to."""

    __slots__ = ("index", "word")

    def __init__(self, word: str) -> None:
        self.word = word
        self.index = -1


class French:
    """One French token with its word class and its links to English tokens."""

    __slots__ = ("before_vowel", "kind", "possible", "sure", "word")

    def __init__(self, word, kind, sure=(), possible=(), before_vowel=None) -> None:
        self.word = word
        self.kind = kind
        self.sure = sure
        self.possible = possible
        self.before_vowel = ELIDED.get(word) if before_vowel is None else before_vowel


class Phrase(NamedTuple):
    """English tokens and the French tokens that translate them."""

    english: list[English]
    french: list[French]


def starts_with_vowel(word: str) -> bool:
    """Tell whether French elides before `word`."""
    return word[0] in VOWELS and word not in ASPIRATED


def spell_french(tokens: list[French]) -> list[French]:
    """Elide and contract a finished French sentence; a merged token keeps both words' links.

    Only an article contracts ("du roi"); an object pronoun does not ("de le voir").
    """
    done: list[French] = []  # from the last word to the first: what follows decides
    for token in reversed(tokens):
        following = done[-1] if done else None
        if following is not None:
            if token.before_vowel and starts_with_vowel(following.word):
                token.word = token.before_vowel
            elif token.word == "si" and following.word in ("il", "ils"):
                token.word = "s'"
            elif following.kind == "determiner" and (token.word, following.word) in CONTRACTED:
                following.word = CONTRACTED[token.word, following.word]
                following.kind = "contraction"
                following.sure = (*token.sure, *following.sure)
                following.possible = (*token.possible, *following.possible)
                continue
        done.append(token)
    done.reverse()
    return done


def spell_english(tokens: list[English]) -> list[English]:
    """Choose between "a" and "an" in a finished English sentence."""
    for token, following in pairwise(tokens):
        if token.word == "a" and following.word[0] in "aeiou":
            token.word = "an"
    return tokens


def noun_plural(word: str) -> str:
    """Write the plural of a regular French noun or adjective."""
    if word[-1] in "sxz":
        return word
    if word.endswith("eau"):
        return word + "x"
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + "s"
