"""Verb groups: auxiliaries, tense, negation, adverbs and clitics around one verb.

The tense of an English verb sits in its form and its auxiliaries, that of a French one in its
ending or its auxiliary; do-support and the progressive "be" say nothing that French repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .conjugation import english_forms, french_forms, participle
from .context import Nominal
from .tokens import English, French
from .verbs import BE, Verb

SIMPLE = {
    "present": "present", "progressive": "present", "when": "future", "future": "future",
    "past_progressive": "imperfect", "used_to": "imperfect", "conditional": "conditional",
    "imperfect": "imperfect", "since": "present",
}  # fmt: skip
BE_PRESENT = ("am", "are", "is", "are", "are", "are")
PAST_HELPERS = ("past_progressive", "pluperfect", "near_past", "recent_past")
BE_PAST = ("was", "were", "was", "were", "were", "were")


SENSES = ("see", "hear", "find", "understand", "forget", "lose", "meet")  # hardly ever progressive


def settle(verb: Verb, tense: str) -> str:
    """Replace a progressive that English would not use of this verb by a simple tense.

    "background" is the tense of what goes on meanwhile: imparfait in French all the same.
    """
    if verb.base in SENSES:
        simple = {"progressive": "present", "past_progressive": "past", "background": "imperfect"}
        return simple.get(tense, tense)
    return "past_progressive" if tense == "background" else tense


class VerbGroup(NamedTuple):
    """A conjugated verb with its satellites; objects are added behind."""

    first: list[English]  # the auxiliary that changes places with the subject in a question
    rest: list[English]
    french: list[French]
    finite: int  # where the conjugated French word stands

    def add(self, english: Sequence[English] = (), french: Sequence[French] = ()) -> VerbGroup:
        """Lengthen both sides."""
        return self._replace(rest=[*self.rest, *english], french=[*self.french, *french])


class Negation(NamedTuple):
    """The words of a negation; `english` stands before the verb, `ending` after it."""

    english: list[English]
    ne: French
    second: French | None
    support: bool = False  # "not" asks for do-support
    ending: tuple[Sequence[English], Sequence[French]] = ((), ())


def negate(kind: str) -> Negation:
    """Build "not", "never", "longer" (no longer), "nothing" or "nobody"."""
    english = [English(word) for word in {"longer": "no longer"}.get(kind, kind).split()]
    ne = French("ne", "negation", (), tuple(english))
    words = {"not": "pas", "never": "jamais", "longer": "plus", "nothing": "rien"}
    if kind == "nobody":  # follows the participle: il n'a vu personne
        nobody = French("personne", "pronoun", (*english,))
        return Negation([], ne, None, ending=(english, [nobody]))
    second = French(words[kind], "negation", (*english,))
    if kind == "nothing":
        return Negation([], ne, second, ending=(english, ()))
    return Negation(english, ne, second, support=kind == "not")


class _English(NamedTuple):
    """The English side of a verb group: auxiliary, what follows it, and what each stands for."""

    first: list[English]
    rest: list[English]
    main: English
    sure: tuple[English, ...] = ()  # an auxiliary that French says too
    possible: tuple[English, ...] = ()  # one that it leaves out


def _english(verb: Verb, tense: str, subject: Nominal, support: bool) -> _English:
    base, third, past, done, ing = english_forms(verb.english)
    past_tense = tense in ("past", "imperfect")
    be = BE_PAST if past_tense or tense in PAST_HELPERS else BE_PRESENT
    be = be[subject.person]
    if past_tense or tense in ("present", "when"):
        if base == "be":
            main = English(be)
            return _English([main], [], main)
        form = past if past_tense else third if subject.third else base
        if not support:
            main = English(form)
            return _English([], [main], main)
        main = English(base)
        do = English("did" if past_tense else "does" if subject.third else "do")
        return _English([do], [main], main, possible=(do,))
    if tense == "used_to":
        used, to, main = English("used"), English("to"), English(base)
        return _English([], [used, to, main], main, (used,), (to,))
    if tense in ("progressive", "past_progressive"):
        helper, main = English(be), English(ing)
        return _English([helper], [main], main, possible=(helper,))
    if tense in ("future", "conditional"):
        helper = English("will" if tense == "future" else "would")
        main = English(base)
        return _English([helper], [main], main, (helper,))
    if tense in ("near", "near_past"):
        helper, going, to, main = English(be), English("going"), English("to"), English(base)
        return _English([helper], [going, to, main], main, (going,), (helper, to))
    helper = English("had" if tense in PAST_HELPERS else "has" if subject.third else "have")
    main = English(done)
    if tense in ("recent", "recent_past"):
        just = English("just")
        return _English([helper], [just, main], main, (just,), (helper,))
    if tense == "since":  # has lived, and still does: French stays in the present
        return _English([helper], [main], main, possible=(helper,))
    return _English([helper], [main], main, (helper,))


def _passive(verb: Verb, tense: str, subject: Nominal) -> _English:
    """Write "was sold": be in its tense, then the participle as the main word."""
    be = _english(BE, tense, subject, False)
    main = English(english_forms(verb.english)[3])
    return _English(be.first, [*be.rest, main], main, be.sure, (*be.possible, be.main))


def _french(verb, tense, subject, english, etre, agree) -> tuple[French, list[French]]:
    """Give the conjugated word and the words that stand behind it."""
    main, person = (english.main,), subject.person
    if tense in SIMPLE or (tense == "past" and verb.stative):
        form = french_forms(verb.french)[SIMPLE.get(tense, "imperfect")][person]
        return French(form, "verb", (*english.sure, *main), english.possible), []
    time = "imperfect" if tense in PAST_HELPERS else "present"
    if tense in ("near", "near_past"):
        helper, to = english.possible
        form = french_forms("aller")[time][person]
        finite = French(form, "auxiliary", english.sure, (helper,))
        return finite, [French(verb.french, "verb", main, (to,))]
    if tense in ("recent", "recent_past"):
        form = french_forms("venir")[time][person]
        finite = French(form, "auxiliary", english.sure, english.possible)
        of = French("de", "preposition", (), english.sure)
        return finite, [of, French(verb.french, "verb", main)]
    helper = french_forms("être" if etre else "avoir")
    form = helper[time][person]
    finite = French(form, "auxiliary", english.sure or main, english.possible)
    feminine, plural = (subject.feminine, subject.plural) if etre else agree or (False, False)
    return finite, [French(participle(verb.french, feminine, plural), "verb", main)]


def verb_group(
    verb: Verb,
    tense: str,
    subject: Nominal,
    *,
    negation: Negation | None = None,
    clitics: Sequence[French] = (),
    adverb: tuple[Sequence[English], Sequence[French]] = ((), ()),
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
    tense = settle(verb, tense)
    support = ask or (negation is not None and negation.support)
    english = _passive(verb, tense, subject) if passive else _english(verb, tense, subject, support)
    etre = verb.etre or reflexive
    finite, behind = _french(verb, tense, agent or subject, english, etre, agree)
    middle = [*(negation.english if negation else ()), *adverb[0]]
    french = [negation.ne] if negation else []
    late = tense.startswith(("near", "recent"))  # clitics lean on the infinitive
    if not late:
        french += clitics
    index = len(french)
    french.append(finite)
    if negation and negation.second:
        french.append(negation.second)
    french += adverb[1]
    if late:
        behind[-1:-1] = clitics  # before the infinitive
    french += behind
    rest = [*middle, *english.rest]
    group = VerbGroup(english.first, rest, french, index)
    return group.add(*negation.ending) if negation else group
