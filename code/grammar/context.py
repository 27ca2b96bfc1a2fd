"""What a derivation carries along: its dice, its time, who "you" is, and what was mentioned."""

from __future__ import annotations

import random
from typing import NamedTuple

from .tokens import English, French

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
# A relative clause does not take part in the conditions of the clause around it.
RELATIVE_TIME = {
    "present": "present", "past": "past", "future": "future", "when": "present",
    "would": "present", "supposed": "present", "whenever": "present", "during": "present",
    "during_past": "past",
}  # fmt: skip


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

    @property
    def third(self) -> bool:
        """Whether the English verb takes an s."""
        return self.person == 2


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

    __slots__ = (
        "combinations", "dice", "fresh", "mentions", "placed", "richness", "said", "time",
        "used", "you",
    )  # fmt: skip

    def __init__(self, dice: Dice, time: str, richness: float) -> None:
        self.dice = dice
        self.time = time
        self.richness = richness  # probability of each optional extension of a noun phrase
        self.you: Nominal | None = None  # who is addressed, once a vocative has said so
        self.mentions: list[tuple[bool, bool, str]] = []  # plural, feminine, kinds
        self.fresh: list[tuple[bool, bool, str]] = []  # mentions of the clause in the making
        self.placed = False  # whether the clause in the making already says where
        self.used: list[str] = []  # names of templates
        self.said: list[str] = []  # adjectives that were predicates
        self.combinations: list[tuple[str, str]] = []  # adjective or verb, noun

    def extend(self) -> bool:
        """Decide whether to make a phrase longer."""
        return self.dice.chance(self.richness)

    def tense(self, plain: bool = False) -> str:
        """Choose a tense that suits the time, or the plainest one for verbs of state."""
        tenses, plainest = TENSES[self.time]
        return plainest if plain else self.dice.pick(tenses)

    def habit(self) -> str:
        """Choose a tense for what happens again and again."""
        return "used_to" if self.time == "past" else self.tense(plain=True)

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
