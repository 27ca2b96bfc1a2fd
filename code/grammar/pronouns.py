"""Pronouns: subjects, objects before the verb, reflexives.

"They" and "it" have the gender of what was mentioned, and are used only where that is settled;
"you" is singular or plural, familiar or polite, as the sentence's vocative has said.
"""

from __future__ import annotations

from typing import NamedTuple

from .context import Context, Nominal
from .tokens import English, French

SUBJECTS = {  # English: French, person, feminine, plural
    "i": ("je", 0, False, False),
    "he": ("il", 2, False, False),
    "she": ("elle", 2, True, False),
    "we": ("nous", 3, False, True),
}
DIRECT = {  # English: French, feminine, plural, persons that may not be the subject
    "me": ("me", False, False, (0, 3)),
    "him": ("le", False, False, ()),
    "her": ("la", True, False, ()),
    "us": ("nous", False, True, (0, 3)),
}
INDIRECT = {
    "me": ("me", (0, 3)), "him": ("lui", ()), "her": ("lui", ()), "us": ("nous", (0, 3)),
}  # fmt: skip
SELVES = {0: "myself", 1: "yourself", 3: "ourselves", 4: "yourselves", 5: "themselves"}
REFLEXIVES = ("me", "te", "se", "nous", "vous", "se")


class Clitic(NamedTuple):
    """An object pronoun: English token, French token, and (feminine, plural) for participles."""

    english: English
    french: French
    agree: tuple[bool, bool] | None = None


def subject_pronoun(ctx: Context, kinds: str) -> Nominal | None:
    """Choose a subject pronoun for something of these kinds, or None where none is clear."""
    options = list(SUBJECTS) if "p" in kinds else []
    if ctx.you is not None and "p" in kinds:
        options += ["you"] * 4
    they, it = ctx.antecedent(True, kinds), ctx.antecedent(False, kinds)
    options += ["they"] * 4 * bool(they) + ["it"] * 4 * bool(it)
    if not options:
        return None
    word = ctx.dice.pick(options)
    e = English(word)
    if word == "you":
        french = "tu" if ctx.you.person == 1 else "vous"
        return ctx.you._replace(english=[e], french=[French(french, "pronoun", (e,))])
    if word in ("they", "it"):
        return _anaphor(word, e, they if word == "they" else it)
    french, person, feminine, plural = SUBJECTS[word]
    return Nominal([e], [French(french, "pronoun", (e,))], person, feminine, plural, "p")


def inanimate_pronoun(ctx: Context) -> Nominal:
    """Write "it" for the thing last mentioned, where `Context.antecedent` has found one."""
    known = next(m for m in reversed(ctx.mentions) if not m[0] and "p" not in m[2])
    return _anaphor("it", English("it"), known)


def _anaphor(word: str, e: English, mention: tuple[bool, bool, str]) -> Nominal:
    plural, feminine, kinds = mention
    french = ("elle" if feminine else "il") + "s" * plural
    person = 5 if plural else 2
    return Nominal([e], [French(french, "pronoun", (e,))], person, feminine, plural, kinds)


def direct_clitic(ctx: Context, kinds: str, subject: Nominal) -> Clitic | None:
    """Choose a direct object pronoun for something of these kinds, or None where none is clear."""
    options = []
    if "p" in kinds:
        options += [w for w, row in DIRECT.items() if subject.person not in row[3]]
        if ctx.you is not None and subject.person != ctx.you.person:
            options += ["you", "you"]
    them, it = ctx.antecedent(True, kinds), ctx.antecedent(False, kinds)
    # a pronoun that is itself "they" or "it" has used up its antecedent
    word = subject.english[0].word
    options += ["them"] * 3 * bool(them and word != "they")
    options += ["it"] * 3 * bool(it and word != "it")
    if not options:
        return None
    word = ctx.dice.pick(options)
    e = English(word)
    if word == "you":
        french = "te" if ctx.you.person == 1 else "vous"
        agree = (ctx.you.feminine, ctx.you.plural)
    elif word in ("them", "it"):
        plural, feminine, _ = them if word == "them" else it
        french = "les" if plural else "la" if feminine else "le"
        agree = (feminine, plural)
    else:
        french, feminine, plural, _ = DIRECT[word]
        agree = (feminine, plural)
    return Clitic(e, French(french, "clitic", (e,)), agree)


def indirect_clitic(ctx: Context, subject: Nominal) -> Clitic:
    """Choose an indirect object pronoun: one "her" is la or lui, as the verb asks."""
    options = [w for w, row in INDIRECT.items() if subject.person not in row[1]]
    if ctx.you is not None and subject.person != ctx.you.person:
        options += ["you", "you"]
    if ctx.antecedent(True, "p") and subject.english[0].word != "they":
        options += ["them", "them"]
    word = ctx.dice.pick(options)
    e = English(word)
    if word == "you":
        french = "te" if ctx.you.person == 1 else "vous"
    else:
        french = "leur" if word == "them" else INDIRECT[word][0]
    return Clitic(e, French(french, "clitic", (e,)))


def reflexive(subject: Nominal) -> Clitic:
    """Give "himself" and "se", the same person as the subject."""
    word = SELVES.get(subject.person)
    if subject.person == 2:
        human = "p" in subject.kinds
        word = ("herself" if subject.feminine else "himself") if human else "itself"
    if subject.person == 4 and not subject.plural:
        word = "yourself"
    e = English(word)
    return Clitic(e, French(REFLEXIVES[subject.person], "clitic", (e,)))
