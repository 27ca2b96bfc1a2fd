"""Predicates about what somebody does: objects, negation, reflexive verbs, durations."""

from __future__ import annotations

from . import verbs
from .groups import negate, verb_group
from .places import place
from .predicates import (
    actor,
    adverb,
    any_transitive,
    object_of,
    predicate,
    with_object,
)
from .pronouns import reflexive
from .tokens import English, French

OFTEN = (("often", "souvent"), ("always", "toujours"))
WELL = (("well", "bien"), ("badly", "mal"))
SLOWLY = (("slowly", "lentement"), ("quickly", "vite"))
LIKE = (("sing", "bird", "oiseau"), ("run", "horse", "cheval"), ("run", "rabbit", "lapin"),
        ("eat", "bird", "oiseau"), ("eat", "king", "roi"), ("sleep", "cat", "chat"),
        ("sleep", "child", "enfant"))  # fmt: skip
SPORTS = (("football", "le football"), ("tennis", "le tennis"), ("chess", "les échecs"),
          ("cards", "les cartes"))  # fmt: skip
INSTRUMENTS = (("piano", "le piano"), ("guitar", "la guitare"), ("violin", "le violon"))


@predicate("pa")
def intransitive(ctx, subject, ask):
    """The dog sleeps."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.INTRANSITIVE, actor(subject), "subjects"))
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    if ctx.placed or verb.base == "swim" or ctx.dice.chance(0.3):
        return group
    options = "c" if verb.base == "travel" else "tss"
    return group.add(*place(ctx, kinds=actor(subject), options=options))


@predicate(event=False)
def manner(ctx, subject, ask):
    """She sings well: "elle chante bien", but "elle a bien chanté"."""
    verb = ctx.dice.pick(verbs.among(verbs.INTRANSITIVE, "sing work dance sleep"))
    english, french = adverb(ctx, WELL)
    tense = ctx.tense(plain=True)
    return verb_group(verb, tense, subject, adverb=((), french), ask=ask).add(english)


@predicate()
def manner_not(ctx, subject, ask):
    """He does not read slowly: "il ne lit pas lentement"."""
    verb = ctx.dice.pick(verbs.among(verbs.INTRANSITIVE, "read eat work run"))
    group = verb_group(verb, ctx.tense(), subject, negation=negate("not"), ask=ask)
    return group.add(*adverb(ctx, SLOWLY))


@predicate()
def manner_like(ctx, subject, ask):
    """She sings like a bird: "elle chante comme un oiseau"."""
    base, english, french = ctx.dice.pick(LIKE)
    if subject.noun == english:
        return None
    (verb,) = verbs.among(verbs.INTRANSITIVE, base)
    ctx.fresh.append((False, False, "x"))  # "it" could be the bird
    like, a, e = English("like"), English("a"), English(english)
    return verb_group(verb, ctx.tense(), subject, ask=ask).add(
        [like, a, e],
        [
            French("comme", "preposition", (like,)),
            French("un", "determiner", (a,), (e,)),
            French(french, "noun", (e,), (), ""),
        ],
    )


@predicate("pa")
def transitive(ctx, subject, ask):
    """The girl eats the apple."""
    verb = any_transitive(ctx, subject)
    thing = object_of(ctx, verb, subject)
    return with_object(verb_group(verb, ctx.tense(), subject, ask=ask), verb, thing)


def _negated(ctx, subject, ask, kind, tense):
    verb = any_transitive(ctx, subject)
    plain = not verb.french_prep  # il ne mange pas de pomme, but il ne répond pas à une lettre
    thing = object_of(ctx, verb, subject, negated=plain)
    group = verb_group(verb, tense, subject, negation=negate(kind), ask=ask)
    return with_object(group, verb, thing)


@predicate("pa")
def transitive_not(ctx, subject, ask):
    """She does not eat the apple: "elle ne mange pas la pomme"."""
    return _negated(ctx, subject, ask, "not", ctx.tense())


@predicate(event=False)
def transitive_never(ctx, subject, ask):
    """She never eats meat: "elle ne mange jamais de viande"."""
    return _negated(ctx, subject, ask, "never", ctx.tense(plain=True))


@predicate(event=False)
def transitive_longer(ctx, subject, ask):
    """She no longer eats meat: "elle ne mange plus de viande"."""
    tense = "imperfect" if ctx.time in ("past", "during_past") else ctx.tense(plain=True)
    return _negated(ctx, subject, ask, "longer", tense)


@predicate()
def nothing(ctx, subject, ask):
    """He saw nothing: "il n'a rien vu"."""
    verb = ctx.dice.pick(
        verbs.among(verbs.TRANSITIVE, "eat drink see find buy hear read understand")
    )
    tense = ctx.tense(plain=True)
    return verb_group(verb, tense, subject, negation=negate("nothing"), ask=ask)


@predicate()
def nobody(ctx, subject, ask):
    """He saw nobody: "il n'a vu personne"."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    tense = ctx.tense(plain=True)
    return verb_group(verb, tense, subject, negation=negate("nobody"), ask=ask)


@predicate()
def only(ctx, subject, ask):
    """He eats only bread: "il ne mange que du pain"."""
    verb = ctx.dice.pick(verbs.among(verbs.TRANSITIVE, "eat drink see find buy hear read wash"))
    group = verb_group(verb, ctx.tense(plain=True), subject, ask=ask)
    word = English("only")
    group.french.insert(0, French("ne", "negation", (), (word,)))
    thing = object_of(ctx, verb, subject, kind=ctx.dice.pick(("the", "this", "my", "a")))
    return group._replace(finite=group.finite + 1).add(
        [word, *thing.english], [French("que", "negation", (word,)), *thing.french]
    )


@predicate(event=False)
def frequency(ctx, subject, ask):
    """She often helps the king: "elle aide souvent le roi"."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    tense = ctx.tense(plain=True) if ask else ctx.habit()
    group = verb_group(verb, tense, subject, adverb=adverb(ctx, OFTEN), ask=ask)
    return with_object(group, verb, object_of(ctx, verb))


@predicate()
def just_done(ctx, subject, ask):
    """She has just eaten the apple: "elle vient de manger la pomme"."""
    tense = {"present": "recent", "past": "recent_past"}.get(ctx.time)
    if tense is None:
        return None
    verb = ctx.dice.pick(verbs.TRANSITIVE)
    group = verb_group(verb, tense, subject, ask=ask)
    return with_object(group, verb, object_of(ctx, verb))


@predicate()
def reflexive_action(ctx, subject, ask):
    """She gets up: "elle se lève"; he washes himself: "il se lave"."""
    verb, ending = ctx.dice.pick(verbs.REFLEXIVE)
    found = reflexive(subject)
    group = verb_group(verb, ctx.tense(), subject, clitics=(found.french,), reflexive=True, ask=ask)
    if ending == "self":
        return group.add([found.english])
    main = group.rest[-1]
    found.french.sure, found.french.possible = (), (main,)
    if not ending:
        return group
    particle = English(ending)
    for token in group.french:
        if token.kind in ("verb", "auxiliary") and main in token.sure:
            token.sure = (*token.sure, particle)
    return group.add([particle])


@predicate()
def each_other(ctx, subject, ask):
    """They love each other: "ils s'aiment"."""
    if not subject.plural or subject.person != 5:
        return None
    verb = ctx.dice.pick(verbs.among(verbs.MUTUAL, "see help follow hear meet love hate know"))
    english = [English("each"), English("other")]
    group = verb_group(
        verb, ctx.tense(verb.stative), subject, clitics=(French("se", "clitic", (*english,)),),
        reflexive=True, ask=ask,
    )  # fmt: skip
    return group.add(english)


@predicate()
def playing_sport(ctx, subject, ask):
    """She plays football: "elle joue au football"."""
    return _play(ctx, subject, ask, SPORTS, "à", False)


@predicate()
def playing_music(ctx, subject, ask):
    """She plays the piano: "elle joue du piano"."""
    return _play(ctx, subject, ask, INSTRUMENTS, "de", True)


def _play(ctx, subject, ask, options, joint, article):
    english, french = ctx.dice.pick(options)
    group = verb_group(verbs.PLAY, ctx.tense(), subject, ask=ask)
    e, the = English(english), [English("the")] if article else []
    determiner, noun = french.split()
    if article:
        ctx.fresh.append((False, determiner == "la", "x"))  # "it" could be the piano
    return group.add(
        [*the, e],
        [
            French(joint, "preposition", (), group.rest[-1:]),
            French(determiner, "determiner", (*the,), (e,)),
            French(noun, "noun", (e,), (), ""),
        ],
    )


@predicate()
def duration_closed(ctx, subject, ask):
    """She worked for two hours: "elle a travaillé pendant deux heures"."""
    if ctx.time == "present":
        return None
    verb = ctx.dice.pick(verbs.among(verbs.INTRANSITIVE, "work sleep sing dance cry travel"))
    group = verb_group(verb, ctx.tense(plain=True), subject, ask=ask)
    return group.add(*_span(ctx, "pendant"))


@predicate(event=False)
def duration_open(ctx, subject, ask):
    """She has worked for two hours: "elle travaille depuis deux heures"."""
    if ctx.time != "present":
        return None
    verb = ctx.dice.pick(verbs.among(verbs.INTRANSITIVE, "work sleep sing dance cry travel"))
    group = verb_group(verb, "since", subject, ask=ask)
    return group.add(*_span(ctx, "depuis"))


def _span(ctx, preposition):
    number, french = ctx.dice.pick((("two", "deux"), ("three", "trois"), ("four", "quatre")))
    unit, units = ctx.dice.pick((("hours", "heures"), ("days", "jours")))
    for_, count, time = English("for"), English(number), English(unit)
    return [for_, count, time], [
        French(preposition, "preposition", (for_,)),
        French(french, "determiner", (count,)),
        French(units, "noun", (time,), (), ""),
    ]
