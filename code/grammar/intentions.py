"""Predicates with an infinitive: to want, to have to, to try."""

from __future__ import annotations

from . import verbs
from .context import Context, Nominal
from .groups import VerbGroup, negate, verb_group
from .predicates import object_of, predicate, with_object
from .pronouns import direct_clitic
from .tokens import English, French, Phrase

MEANT = (  # what one does on purpose
    "eat drink see find buy sell wash help follow read write open close carry clean visit watch "
    "listen look answer phone invite"
)
MEANT_VERBS = verbs.among(verbs.DOING, MEANT)
MET = "see find help follow watch invite meet"


def infinitive(ctx: Context, subject: Nominal, clitic: bool = False, joint: str = "") -> Phrase:
    """Write "to eat the apple" or "to see him".

    French has a `joint` for "to", which is then its translation, or the bare infinitive.
    """
    to = English("to")
    verb = ctx.dice.pick(verbs.among(verbs.TRANSITIVE, MET) if clitic else MEANT_VERBS)
    main = English(verb.base)
    token = French(verb.french, "verb", (main,), () if joint else (to,))
    french = [French(joint, "preposition", (to,))] if joint else []
    if clitic:
        found = direct_clitic(ctx, "p", subject)
        return Phrase([to, main, found.english], [*french, found.french, token])
    group = VerbGroup([], [to, main], [*french, token], 0)
    group = with_object(group, verb, object_of(ctx, verb, depth=0))
    return Phrase(group.rest, group.french)


@predicate(event=False)
def want(ctx, subject, ask):
    """She wants to eat the apple: "elle veut manger la pomme"."""
    if ctx.time == "future":  # "je voudrai" is hardly French
        return None
    group = verb_group(verbs.WANT, ctx.tense(True), subject, ask=ask)
    return group.add(*infinitive(ctx, subject))


@predicate(event=False)
def want_clitic(ctx, subject, ask):
    """She wants to see him: "elle veut le voir"."""
    if ctx.time == "future":
        return None
    group = verb_group(verbs.WANT, ctx.tense(True), subject, ask=ask)
    return group.add(*infinitive(ctx, subject, clitic=True))


@predicate(event=False)
def want_not(ctx, subject, ask):
    """She does not want to eat the apple: "elle ne veut pas manger la pomme"."""
    if ctx.time == "future":
        return None
    group = verb_group(verbs.WANT, ctx.tense(True), subject, negation=negate("not"), ask=ask)
    return group.add(*infinitive(ctx, subject))


@predicate(event=False)
def must(ctx, subject, ask):
    """She has to eat the apple: "elle doit manger la pomme"."""
    group = verb_group(verbs.MUST, ctx.tense(True), subject, ask=ask)
    return group.add(*infinitive(ctx, subject))


@predicate()
def attempt(ctx, subject, ask):
    """She tries to open the box: "elle essaie d'ouvrir la boîte"."""
    verb, joint = ctx.dice.pick(
        ((verbs.TRY, "de"), (verbs.BEGIN, "à"), (verbs.FORGET, "de"), (verbs.REFUSE, "de"))
    )
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    return group.add(*infinitive(ctx, subject, joint=joint))
