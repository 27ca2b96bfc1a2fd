"""What a derivation carries along: tokens that know where they come from, and what was said.

A derivation builds two lists at once. Every French token holds the English tokens that it
translates, so the links of a finished pair are read off, never guessed.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from typing import NamedTuple

VOWELS = frozenset("aâàeéèêiîoôœuûyh")  # an h is mute unless listed below
ASPIRATED = frozenset({"haut", "haute", "hauts", "hautes", "huit"})
# The form of a word before a vowel. Adjectives bring their own.
ELIDED = {
    "le": "l'", "la": "l'", "de": "d'", "que": "qu'", "ne": "n'", "je": "j'", "me": "m'",
    "te": "t'", "se": "s'", "ce": "cet", "ma": "mon", "ta": "ton", "sa": "son",
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

    def __init__(self, word, kind, sure=(), possible=(), before_vowel="") -> None:
        self.word = word
        self.kind = kind
        self.sure = sure
        self.possible = possible
        self.before_vowel = before_vowel or ELIDED.get(word)


class Phrase(NamedTuple):
    """English tokens and the French tokens that translate them."""

    english: list[English]
    french: list[French]


NOTHING = Phrase([], [])


class Nominal(NamedTuple):
    """A noun phrase or pronoun in both languages, with what agrees with it."""

    english: list[English]
    french: list[French]
    person: int = 2  # of the French verb: 0 je ... 5 ils
    feminine: bool = False
    plural: bool = False
    kinds: str = ""  # as in `lexicon`
    article: int = 0  # how many leading French tokens "de" swallows: de + des pommes = de pommes
    noun: str = ""  # the English singular of its head


@cache
def _plan(entry: str) -> tuple[list[tuple[str, str]], list[tuple]]:
    """Read an entry of `weave`: literal words are ("", word), slots (name, attribute)."""
    english, _, french = f" {entry} ".partition(" | ")
    return [_slot(part, "english") for part in english.split()], [
        _slot(part, "french") if part[0] == "<" else _french(*part.split("/"))
        for part in french.split()
    ]


def _slot(part: str, default: str) -> tuple[str, str]:
    if part[0] != "<":
        return "", part
    name, _, attribute = part[1:-1].partition(".")
    return name, attribute or default


def _french(word: str, kind: str, links: str) -> tuple:
    sure, _, possible = links.partition("?")
    return (
        word,
        kind,
        *([_link(part) for part in side.split(",") if part] for side in (sure, possible)),
    )


def _link(part: str) -> int | tuple[str, str]:
    return int(part) if part.isdigit() else _slot(f"<{part}>", "")


def weave(entry: str, **slots) -> Phrase:
    """Write a phrase from "to <it> | à/preposition/0 <it>": English words, then French tokens.

    A French token is word/class/links; links are numbers of the entry's own English words, or
    names of slots that are tokens; merely possible ones follow a question mark. A slot <who> is
    replaced by a phrase's side, <verb.first> by an attribute. "De" swallows an indefinite article:
    d'un roi, but de rois.
    """
    plan, rest = _plan(entry)
    words: list[English] = []
    english: list[English] = []
    for name, what in plan:
        if name:
            english += getattr(slots[name], what)
        else:
            words.append(English(what))
            english.append(words[-1])
    french: list[French] = []
    for part in rest:
        if len(part) == 2:
            name, what = part
            tokens = getattr(slots[name], what)
            swallowed = getattr(slots[name], "article", 0)
            if swallowed and french and french[-1].word == "de":
                for token in tokens[:swallowed]:
                    french[-1].sure = (*french[-1].sure, *token.sure)
                tokens = tokens[swallowed:]
            french += tokens
        else:
            word, kind, sure, possible = part
            links = [_found(side, words, slots) if side else () for side in (sure, possible)]
            french.append(French(word, kind, *links))
    return Phrase(english, french)


def _found(links: list, words: list[English], slots: dict) -> tuple[English, ...]:
    found: list[English] = []
    for link in links:
        if isinstance(link, int):
            found.append(words[link])
        else:
            name, what = link
            tokens = getattr(slots[name], what) if what else slots[name]
            found += [tokens] if isinstance(tokens, English) else tokens
    return tuple(found)


def spell_french(tokens: list[French]) -> list[French]:
    """Elide and contract a finished French sentence; a merged token keeps both words' links.

    Only an article contracts ("du roi"); an object pronoun does not ("de le voir").
    """
    done: list[French] = []  # from the last word to the first: what follows decides
    for token in reversed(tokens):
        following = done[-1] if done else None
        if following is not None:
            word = following.word
            if token.before_vowel and word[0] in VOWELS and word not in ASPIRATED:
                token.word = token.before_vowel
            elif token.word == "si" and word in ("il", "ils"):
                token.word = "s'"
            elif following.kind == "determiner" and (token.word, word) in CONTRACTED:
                following.word = CONTRACTED[token.word, word]
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


TENSES = {  # time of the sentence: tenses of a verb that has a progressive, and the plain tense
    "present": (
        ("present", "present", "present", "progressive", "progressive", "perfect"), "present",
    ),
    "past": (("past", "past", "past", "past", "past_progressive", "pluperfect"), "past"),
    "future": (("future", "future", "near"), "future"),
    "when": (("when",), "when"),  # English present, French future
    "would": (("conditional",), "conditional"),
    "supposed": (("imperfect",), "imperfect"),  # if she ate: "si elle mangeait"
    "whenever": (("present",), "present"),
    "during": (("progressive",), "present"),
    "during_past": (("background",), "imperfect"),
}  # fmt: skip


class Dice:
    """Choices that a seed fixes on every platform: `random()` alone is promised to stay."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """Come up true with this probability."""
        return self.random() < probability

    def pick(self, options):
        """Pick one of a sequence, each as likely as the next."""
        return options[int(self.random() * len(options))]

    def shuffle(self, items: list) -> None:
        """Put a list into random order in place."""
        for i in range(len(items) - 1, 0, -1):
            j = int(self.random() * (i + 1))
            items[i], items[j] = items[j], items[i]


class Context:
    """One sentence in the making."""

    def __init__(self, dice: Dice, time: str, richness: float) -> None:
        self.pick, self.chance, self.random = dice.pick, dice.chance, dice.random
        self.time = time
        self.richness = richness  # probability of each optional extension of a noun phrase
        self.you: Nominal | None = None  # who is addressed, once a vocative has said so
        self.mentions: list[tuple[bool, bool, str]] = []  # plural, feminine, kinds
        self.fresh: list[tuple[bool, bool, str]] = []  # mentions of the clause in the making
        self.placed = False  # whether the clause in the making already says where
        self.used: list[str] = []  # names of templates
        self.said: list[str] = []  # adjectives that were predicates
        self.combinations: list[tuple[str, str]] = []  # adjective or verb, noun

    def tense(self, plain: bool = False) -> str:
        """Choose a tense that suits the time, or the plainest one for verbs of state."""
        tenses, plainest = TENSES[self.time]
        return plainest if plain else self.pick(tenses)

    def mark(self) -> tuple[int, int, int]:
        """Remember this point, so that a phrase that does not work out can be undone."""
        return len(self.used), len(self.combinations), len(self.fresh)

    def undo(self, mark: tuple[int, int, int]) -> None:
        """Forget what was noted since `mark`."""
        del self.used[mark[0] :], self.combinations[mark[1] :], self.fresh[mark[2] :]

    def close_clause(self) -> None:
        """Let pronouns of the next clause refer to what this one mentioned."""
        self.mentions += self.fresh
        self.fresh = []
        self.placed = False

    def antecedent(self, plural: bool, kinds: str) -> tuple[bool, bool, str] | None:
        """Find what "they" or "it" must mean, or None where the text leaves its gender open."""
        found = [m for m in self.mentions if m[0] == plural and (plural or "p" not in m[2])]
        if not found or any(m[1] != found[0][1] for m in found):
            return None
        return found[-1] if any(kind in kinds for kind in found[-1][2]) else None
