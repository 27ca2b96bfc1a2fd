"""Predicates about coming, going and staying: "leave" is partir, quitter or laisser."""

from __future__ import annotations

from . import verbs
from .groups import negate, verb_group
from .places import place
from .predicates import actor, object_of, predicate


@predicate("pa")
def motion(ctx, subject, ask):
    """She went to the garden: "elle est allée dans le jardin"."""
    if ctx.placed:
        return None
    verb = ctx.dice.pick((verbs.GO, verbs.GO, verbs.COME))
    where = place(ctx, going=True, kinds=actor(subject))
    return verb_group(verb, ctx.tense(), subject, ask=ask).add(*where)


@predicate()
def motion_not(ctx, subject, ask):
    """She did not go to Japan: "elle n'est pas allée au Japon"."""
    if ctx.placed:
        return None
    group = verb_group(verbs.GO, ctx.tense(), subject, negation=negate("not"), ask=ask)
    return group.add(*place(ctx, going=True))


@predicate("pav")
def arrival(ctx, subject, ask):
    """The train leaves: "le train part"."""
    verb = ctx.dice.pick((verbs.LEAVE, verbs.ARRIVE))
    return verb_group(verb, ctx.tense(), subject, ask=ask)


@predicate()
def staying(ctx, subject, ask):
    """She stayed in the garden: "elle est restée dans le jardin"."""
    if ctx.placed:
        return None
    return verb_group(verbs.STAY, ctx.tense(), subject, ask=ask).add(*place(ctx))


@predicate()
def leaving_place(ctx, subject, ask):
    """She left the village: "elle a quitté le village"."""
    if ctx.placed:
        return None
    thing = object_of(ctx, verbs.QUIT, depth=0)
    return verb_group(verbs.QUIT, ctx.tense(), subject, ask=ask).add(thing.english, thing.french)


@predicate()
def leaving_behind(ctx, subject, ask):
    """He left the key in the house: "il a laissé la clé dans la maison"."""
    if ctx.placed:
        return None
    verb = verbs.FORGET_BEHIND
    thing = object_of(ctx, verb, depth=0)
    group = verb_group(verb, ctx.tense(), subject, ask=ask).add(thing.english, thing.french)
    return group.add(*place(ctx, options="tss"))
