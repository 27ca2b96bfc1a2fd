"""The list of predicates, and the steps that many of them share.

A predicate is a template: a function of the context, the subject and whether it stands in a
question, which gives the verb group with everything that follows it, or None where the subject
or the text so far does not allow it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from . import verbs
from .context import Context, Nominal
from .groups import VerbGroup
from .lexicon import nouns_of
from .nouns import after_preposition, noun_phrase
from .relatives import rich_phrase
from .tokens import English, French


class Predicate(NamedTuple):
    """A template for what is said of a subject of certain kinds."""

    name: str
    kinds: str
    event: bool  # something that happens at a time, not a lasting state
    build: Callable[[Context, Nominal, bool], VerbGroup | None]


PREDICATES: list[Predicate] = []


def predicate(kinds: str = "p", event: bool = True):
    """Enter a predicate into the list, named as its function."""

    def enter(build):
        PREDICATES.append(Predicate(build.__name__, kinds, event, build))
        return build

    return enter


@cache
def named(*names: str) -> list[Predicate]:
    """Pick predicates by name, in the order of the list; ask when the list is complete."""
    return [p for p in PREDICATES if p.name in names]


def any_transitive(ctx: Context, subject: Nominal) -> verbs.Verb:
    """Pick a verb with an object that this subject can have."""
    table = ctx.dice.pick((verbs.TRANSITIVE, verbs.TRANSITIVE, verbs.UNEVEN))
    verb = ctx.dice.pick(verbs.verbs_for(table, actor(subject), "subjects"))
    # in the garden nobody visits the museum
    return any_transitive(ctx, subject) if ctx.placed and verb.base == "visit" else verb


def actor(subject: Nominal) -> str:
    """Tell whether a person or an animal acts."""
    return "p" if "p" in subject.kinds else "a"


def object_of(ctx: Context, verb: verbs.Verb, who: Nominal | None = None, **options) -> Nominal:
    """Choose what a verb is done to; an animal deals with people, animals and food."""
    kinds = verb.objects
    if who is not None and actor(who) == "a":
        kinds = "".join(kind for kind in kinds if kind in "pafg")
    noun = options.pop("noun", None) or ctx.dice.pick(nouns_of(kinds))
    while who is not None and noun.english[0] == who.noun:
        noun = ctx.dice.pick(nouns_of(kinds))
    name = f"{verb.base} {verb.english_prep}".strip()
    ctx.combinations.append((name, noun.english[0]))
    if options.get("depth") == 0:
        return noun_phrase(ctx, noun.kinds, noun=noun, **options)
    return rich_phrase(ctx, noun.kinds, noun=noun, **options)


def with_object(group: VerbGroup, verb: verbs.Verb, thing: Nominal) -> VerbGroup:
    """Add an object, with the preposition that one verb asks for and the other does not."""
    token = next(t for t in reversed(group.french) if t.kind == "verb")
    english, french = thing.english, thing.french
    if verb.english_prep:
        preposition = English(verb.english_prep)
        token.possible = (*token.possible, preposition)
        english = [preposition, *english]
    if verb.french_prep:
        french = after_preposition(
            French(verb.french_prep, "preposition", (), token.sure[-1:]), thing
        )
    return group.add(english, french)


def adverb(ctx: Context, options) -> tuple[list[English], list[French]]:
    """Write one of several adverbs in both languages."""
    english, french = ctx.dice.pick(options)
    e = English(english)
    return [e], [French(french, "adverb", (e,))]
