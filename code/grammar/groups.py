"""Verb groups: auxiliaries, tense, negation, adverbs and clitics around one verb.

The tense of an English verb sits in its form and its auxiliaries, that of a French one in its
ending or its auxiliary; do-support and the progressive "be" say nothing that French repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .phrases import NOTHING, English, French, Nominal, Phrase, weave
from .verbs import BE, Verb, english_forms, french_forms, participle

SIMPLE = {
    "present": "present", "progressive": "present", "when": "future", "future": "future",
    "past_progressive": "imperfect", "used_to": "imperfect", "conditional": "conditional",
    "imperfect": "imperfect", "since": "present",
}  # fmt: skip
BE_PRESENT = ("am", "are", "is", "are", "are", "are")
BE_PAST = ("was", "were", "was", "were", "were", "were")
PAST_HELPERS = ("past_progressive", "pluperfect", "near_past", "recent_past")
# Hardly ever progressive; "background" is what goes on meanwhile, imparfait all the same.
SENSES = ("see", "hear", "find", "understand", "forget", "lose", "meet")
UNPROGRESSIVE = {"progressive": "present", "past_progressive": "past", "background": "imperfect"}
NEGATIONS = {  # where "not", "never" and "no longer" stand before the verb, the others end it
    "not": "not | ne/negation/?0 pas/negation/0",
    "never": "never | ne/negation/?0 jamais/negation/0",
    "longer": "no longer | ne/negation/?0,1 plus/negation/0,1",
    "nothing": "nothing | ne/negation/?0 rien/negation/0",
    "nobody": "nobody | ne/negation/?0 personne/pronoun/0",
}


COMPOUND = {  # what changes places in a question | the rest; ! French says it too, ? it does not
    "used_to": "| used! to? base",
    "progressive": "be? | ing",
    "past_progressive": "be? | ing",
    "future": "will! | base",
    "conditional": "would! | base",
    "near": "be? | going! to? base",
    "near_past": "be? | going! to? base",
    "recent": "have? | just! done",
    "recent_past": "have? | just! done",
    "since": "have? | done",  # has lived, and still does: French stays in the present
    "perfect": "have! | done",
    "pluperfect": "have! | done",
}


class VerbGroup(NamedTuple):
    """A conjugated verb with its satellites; objects are added behind."""

    first: list[English]  # the auxiliary that changes places with the subject in a question
    rest: list[English]
    french: list[French]
    finite: int  # where the conjugated French word stands

    @property
    def english(self) -> list[English]:
        """The words in the order of a statement."""
        return [*self.first, *self.rest]

    @property
    def last(self) -> English:
        """The last English word, while nothing is added the main verb."""
        return self.rest[-1]

    def add(self, phrase: Phrase | Nominal) -> VerbGroup:
        """Lengthen both sides."""
        english, french = phrase[:2]
        return self._replace(rest=[*self.rest, *english], french=[*self.french, *french])


class _English(NamedTuple):
    """The English side of a verb group: auxiliary, what follows it, and what each stands for."""

    first: list[English]
    rest: list[English]
    sure: tuple[English, ...] = ()  # auxiliaries that French says too
    possible: tuple[English, ...] = ()  # those that it leaves out

    @property
    def main(self) -> English:
        return [*self.first, *self.rest][-1]


def _english(verb: Verb, tense: str, subject: Nominal, support: bool) -> _English:
    base, third, past, done, ing = english_forms(verb.english)
    it = subject.person == 2
    past_tense = tense in ("past", "imperfect")
    be = (BE_PAST if past_tense or tense in PAST_HELPERS else BE_PRESENT)[subject.person]
    forms = {"base": base, "done": done, "ing": ing, "be": be}
    forms["have"] = "had" if tense in PAST_HELPERS else "has" if it else "have"
    if past_tense or tense in ("present", "when"):
        if base == "be":
            return _English([English(be)], [])
        if not support:
            return _English([], [English(past if past_tense else third if it else base)])
        row, forms["do"] = "do? | base", "did" if past_tense else "does" if it else "do"
    else:
        row = COMPOUND[tense]
    sides, marked = ([], []), {"!": [], "?": []}
    for side, words in zip(sides, row.split("|"), strict=True):
        for word in words.split():
            name = word.rstrip("!?")
            side.append(English(forms.get(name, name)))
            if word != name:
                marked[word[-1]].append(side[-1])
    return _English(*sides, *map(tuple, marked.values()))


def _passive(verb: Verb, tense: str, subject: Nominal) -> _English:
    """Write "was sold": be in its tense, then the participle as the main word."""
    be = _english(BE, tense, subject, False)
    main = English(english_forms(verb.english)[3])
    return _English(be.first, [*be.rest, main], be.sure, (*be.possible, be.main))


def _french(verb, tense, subject, english, etre, agree) -> list[French]:
    """Give the conjugated word and the words that stand behind it."""
    main, person = (english.main,), subject.person
    if tense in SIMPLE or (tense == "past" and verb.stative):
        form = french_forms(verb.french)[SIMPLE.get(tense, "imperfect")][person]
        return [French(form, "verb", (*english.sure, *main), english.possible)]
    time = "imperfect" if tense in PAST_HELPERS else "present"
    if tense in ("near", "near_past"):
        helper, to = english.possible
        finite = French(french_forms("aller")[time][person], "auxiliary", english.sure, (helper,))
        return [finite, French(verb.french, "verb", main, (to,))]
    if tense in ("recent", "recent_past"):
        form = french_forms("venir")[time][person]
        finite = French(form, "auxiliary", english.sure, english.possible)
        of = French("de", "preposition", (), english.sure)
        return [finite, of, French(verb.french, "verb", main)]
    form = french_forms("être" if etre else "avoir")[time][person]
    finite = French(form, "auxiliary", english.sure or main, english.possible)
    agreement = (subject.feminine, subject.plural) if etre else agree or (False, False)
    return [finite, French(participle(verb.french, *agreement), "verb", main)]


def verb_group(
    verb: Verb,
    tense: str,
    subject: Nominal,
    *,
    negation: str = "",
    clitics: Sequence[French] = (),
    adverb: Phrase = NOTHING,
    ask: bool = False,
    agree: tuple[bool, bool] | None = None,
    reflexive: bool = False,
    agent: Nominal | None = None,
    passive: bool = False,
) -> VerbGroup:
    """Conjugate `verb` for `subject` and put its satellites in order.

    `agree` is (feminine, plural) of a direct object that stands before a participle; `ask` is
    true where the English group belongs to a question and so needs an auxiliary; `agent` is the
    French subject where that is not the English one, and `passive` makes the English verb so.
    """
    if verb.base in SENSES:
        tense = UNPROGRESSIVE.get(tense, tense)
    elif tense == "background":
        tense = "past_progressive"
    if passive:
        english = _passive(verb, tense, subject)
    else:
        english = _english(verb, tense, subject, ask or negation == "not")
    finite, *behind = _french(verb, tense, agent or subject, english, verb.etre or reflexive, agree)
    words, marks = weave(NEGATIONS[negation]) if negation else NOTHING
    late = tense.startswith(("near", "recent"))  # clitics lean on the infinitive
    before = [*marks[:1], *(() if late else clitics)]
    if late:
        behind[-1:-1] = clitics
    french = [*before, finite, *marks[1:], *adverb.french, *behind]
    if negation == "nobody":  # follows the participle: il n'a vu personne
        french = [*before, finite, *adverb.french, *behind, marks[1]]
    rest = [*adverb.english, *english.rest]
    rest = [*rest, *words] if negation in ("nothing", "nobody") else [*words, *rest]
    return VerbGroup(english.first, rest, french, len(before))
