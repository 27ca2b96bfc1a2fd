"""Predicates about what somebody does: objects, clitics, negation, motion.

A predicate is a template: a function of the context, the subject and whether it stands in a
question, which gives the verb group with everything that follows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import verbs
from .context import Context, Nominal
from .groups import VerbGroup, negate, verb_group
from .nouns import after_preposition, noun_phrase
from .pronouns import Clitic, direct_clitic, indirect_clitic, reflexive
from .relatives import object_of, place, with_object
from .tokens import English, French

ADVERBS = [("often", "souvent"), ("always", "toujours")]
MANNERS = [("well", "bien"), ("badly", "mal"), ("slowly", "lentement"), ("quickly", "vite")]


class Predicate(NamedTuple):
    """A template for what is said of a subject of certain kinds."""

    name: str
    kinds: str
    build: Callable[[Context, Nominal, bool], VerbGroup]


ACTIONS: list[Predicate] = []


def action(kinds: str = "p"):
    """Enter a predicate into the list, named as its function."""

    def enter(build):
        ACTIONS.append(Predicate(build.__name__, kinds, build))
        return build

    return enter


def any_transitive(ctx: Context, subject: Nominal) -> verbs.Verb:
    """Pick a verb with an object that this subject can have."""
    table = ctx.dice.pick((verbs.TRANSITIVE, verbs.TRANSITIVE, verbs.UNEVEN))
    return ctx.dice.pick(verbs.verbs_for(table, subject.kinds, "subjects"))


def adverb(ctx: Context, options=ADVERBS):
    """Write an adverb in both languages."""
    english, french = ctx.dice.pick(options)
    e = English(english)
    return [e], [French(french, "adverb", (e,))]


@action("pa")
def intransitive(ctx, subject, ask):
    """The dog sleeps."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.INTRANSITIVE, subject.kinds, "subjects"))
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    return group.add(*place(ctx)) if ctx.dice.chance(0.6) else group


@action("p")
def manner(ctx, subject, ask):
    """She sings well: "elle chante bien", but "elle a bien chanté"."""
    verb = ctx.dice.pick([v for v in verbs.INTRANSITIVE if v.base in ("sing", "work", "dance")])
    english, french = adverb(ctx, MANNERS[:2])
    group = verb_group(verb, ctx.tense(), subject, adverb=((), french), ask=ask)
    return group.add(english)


@action("p")
def manner_not(ctx, subject, ask):
    """He does not read slowly: "il ne lit pas lentement"."""
    verb = ctx.dice.pick([v for v in verbs.INTRANSITIVE if v.base in ("read", "eat", "work")])
    english, french = adverb(ctx, MANNERS[2:])
    group = verb_group(verb, ctx.tense(), subject, negation=negate("not"), ask=ask)
    return group.add(english, french)


@action("pa")
def transitive(ctx, subject, ask):
    """The girl eats the apple."""
    verb = any_transitive(ctx, subject)
    thing = object_of(ctx, verb)
    return with_object(verb_group(verb, ctx.tense(), subject, ask=ask), verb, thing)


def _negated(ctx, subject, ask, kind):
    verb = any_transitive(ctx, subject)
    plain = not verb.french_prep  # il ne mange pas de pomme, but il ne répond pas à une lettre
    thing = object_of(ctx, verb, negated=plain)
    group = verb_group(verb, ctx.tense(), subject, negation=negate(kind), ask=ask)
    return with_object(group, verb, thing)


@action("pa")
def transitive_not(ctx, subject, ask):
    """She does not eat the apple: "elle ne mange pas la pomme"."""
    return _negated(ctx, subject, ask, "not")


@action("p")
def transitive_never(ctx, subject, ask):
    """She never eats meat: "elle ne mange jamais de viande"."""
    return _negated(ctx, subject, ask, "never")


@action("p")
def transitive_longer(ctx, subject, ask):
    """She no longer eats meat: "elle ne mange plus de viande"."""
    return _negated(ctx, subject, ask, "longer")


@action("p")
def nothing(ctx, subject, ask):
    """He saw nothing: "il n'a rien vu"."""
    verb = ctx.dice.pick([v for v in verbs.TRANSITIVE if v.base in (
        "eat", "see", "find", "buy", "hear", "read", "understand", "forget")])  # fmt: skip
    return verb_group(verb, ctx.tense(), subject, negation=negate("nothing"), ask=ask)


@action("p")
def nobody(ctx, subject, ask):
    """He saw nobody: "il n'a vu personne"."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    return verb_group(verb, ctx.tense(), subject, negation=negate("nobody"), ask=ask)


@action("p")
def only(ctx, subject, ask):
    """He eats only bread: "il ne mange que du pain"."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, subject.kinds, "subjects"))
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    word = English("only")
    group.french.insert(0, French("ne", "negation", (), (word,)))
    thing = object_of(ctx, verb)
    return group._replace(finite=group.finite + 1).add(
        [word, *thing.english], [French("que", "negation", (word,)), *thing.french]
    )


@action("p")
def frequency(ctx, subject, ask):
    """She often helps the king: "elle aide souvent le roi"."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    tense = "used_to" if ctx.time == "past" and not ask else ctx.tense(True)
    group = verb_group(verb, tense, subject, adverb=adverb(ctx), ask=ask)
    return with_object(group, verb, object_of(ctx, verb))


def _clitic(ctx, subject, ask, **options):
    table = verbs.TRANSITIVE if ctx.dice.chance(0.7) else verbs.STATIVE
    verb = ctx.dice.pick(verbs.verbs_for(table, subject.kinds, "subjects"))
    clitic = direct_clitic(ctx, verb.objects, subject)
    if clitic is None:
        verb = ctx.dice.pick(verbs.verbs_for(table, "p", "objects"))
        clitic = direct_clitic(ctx, "p", subject)
    tense = options.pop("tense", None) or ctx.tense(verb.stative)
    if verb.stative and tense in ("near", "recent"):
        tense = "present"
    group = verb_group(
        verb, tense, subject, clitics=(clitic.french,), agree=clitic.agree, ask=ask, **options
    )
    return group.add([clitic.english])


@action("p")
def clitic(ctx, subject, ask):
    """She sees him: "elle le voit"."""
    return _clitic(ctx, subject, ask)


@action("p")
def clitic_not(ctx, subject, ask):
    """She does not see him: "elle ne le voit pas"."""
    return _clitic(ctx, subject, ask, negation=negate("not"))


@action("p")
def clitic_never(ctx, subject, ask):
    """She never saw him: "elle ne l'a jamais vu"."""
    return _clitic(ctx, subject, ask, negation=negate("never"))


@action("p")
def clitic_frequency(ctx, subject, ask):
    """He will always help her: "il l'aidera toujours"."""
    tense = "used_to" if ctx.time == "past" and not ask else ctx.tense(True)
    return _clitic(ctx, subject, ask, tense=tense, adverb=adverb(ctx))


@action("p")
def clitic_near(ctx, subject, ask):
    """He is going to help her: "il va l'aider"."""
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    found = direct_clitic(ctx, "p", subject)
    tense = "near" if ctx.time in ("present", "future") else ctx.tense()
    group = verb_group(
        verb, tense, subject, clitics=(found.french,), agree=found.agree, ask=ask
    )
    return group.add([found.english])


@action("p")
def just_done(ctx, subject, ask):
    """She has just eaten the apple: "elle vient de manger la pomme"."""
    verb = ctx.dice.pick(verbs.TRANSITIVE)
    tense = "recent" if ctx.time == "present" else ctx.tense()
    group = verb_group(verb, tense, subject, ask=ask)
    return with_object(group, verb, object_of(ctx, verb))


def _gift(ctx) -> tuple[verbs.Verb, Nominal]:
    verb = ctx.dice.pick(verbs.GIVING)
    return verb, object_of(ctx, verb)


@action("p")
def giving(ctx, subject, ask):
    """He gives the book to the queen."""
    verb, thing = _gift(ctx)
    to, whom = English("to"), noun_phrase(ctx, "p")
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    french = after_preposition(French("à", "preposition", (to,)), whom)
    return group.add([*thing.english, to, *whom.english], [*thing.french, *french])


@action("p")
def giving_double(ctx, subject, ask):
    """He gives the queen the book: "il donne le livre à la reine"."""
    verb, thing = _gift(ctx)
    whom = noun_phrase(ctx, "p")
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    french = after_preposition(French("à", "preposition", (), (whom.english[0],)), whom)
    return group.add([*whom.english, *thing.english], [*thing.french, *french])


@action("p")
def giving_clitic(ctx, subject, ask):
    """He gives her the book: "il lui donne le livre"."""
    verb, thing = _gift(ctx)
    whom = indirect_clitic(ctx, subject)
    group = verb_group(verb, ctx.tense(), subject, clitics=(whom.french,), ask=ask)
    return group.add([whom.english, *thing.english], thing.french)


@action("p")
def giving_clitic_not(ctx, subject, ask):
    """He does not give her the book: "il ne lui donne pas le livre"."""
    verb = ctx.dice.pick(verbs.GIVING)
    thing = object_of(ctx, verb, negated=True)
    whom = indirect_clitic(ctx, subject)
    group = verb_group(
        verb, ctx.tense(), subject, clitics=(whom.french,), negation=negate("not"), ask=ask
    )
    return group.add([whom.english, *thing.english], thing.french)


@action("p")
def two_clitics(ctx, subject, ask):
    """He gives it to her: "il le lui donne"; "he gives it to me" is "il me le donne"."""
    verb = ctx.dice.pick(verbs.GIVING)
    them = ctx.antecedent(True, verb.objects) if subject.english[0].word != "they" else None
    it = ctx.antecedent(False, verb.objects) if subject.english[0].word != "it" else None
    if not (found := it or them):
        return giving_clitic(ctx, subject, ask)
    plural, feminine, _ = found
    e, to = English("them" if plural else "it"), English("to")
    word = "les" if plural else "la" if feminine else "le"
    thing = Clitic(e, French(word, "clitic", (e,)))
    whom = indirect_clitic(ctx, subject)
    whom.french.possible = (to,)
    order = [thing.french, whom.french]
    if whom.french.word not in ("lui", "leur"):
        order.reverse()
    group = verb_group(
        verb, ctx.tense(), subject, clitics=order, agree=(feminine, plural), ask=ask
    )
    return group.add([e, to, whom.english])


@action("pa")
def motion(ctx, subject, ask):
    """She went to the garden: "elle est allée dans le jardin"."""
    verb = ctx.dice.pick((verbs.GO, verbs.GO, verbs.COME))
    return verb_group(verb, ctx.tense(), subject, ask=ask).add(*place(ctx, going=True))


@action("p")
def motion_not(ctx, subject, ask):
    """She did not go to Japan: "elle n'est pas allée au Japon"."""
    group = verb_group(verbs.GO, ctx.tense(), subject, negation=negate("not"), ask=ask)
    return group.add(*place(ctx, going=True))


@action("pav")
def arrival(ctx, subject, ask):
    """The train leaves: "le train part"."""
    verb = ctx.dice.pick((verbs.LEAVE, verbs.ARRIVE))
    return verb_group(verb, ctx.tense(), subject, ask=ask)


@action("p")
def staying(ctx, subject, ask):
    """She stayed in the garden: "elle est restée dans le jardin"."""
    return verb_group(verbs.STAY, ctx.tense(), subject, ask=ask).add(*place(ctx))


@action("p")
def leaving_place(ctx, subject, ask):
    """She left the village: "elle a quitté le village"."""
    thing = object_of(ctx, verbs.QUIT, depth=0)
    return verb_group(verbs.QUIT, ctx.tense(), subject, ask=ask).add(thing.english, thing.french)


@action("p")
def reflexive_action(ctx, subject, ask):
    """She gets up: "elle se lève"; he washes himself: "il se lave"."""
    verb, ending = ctx.dice.pick(verbs.REFLEXIVE)
    found = reflexive(subject)
    group = verb_group(
        verb, ctx.tense(), subject, clitics=(found.french,), reflexive=True, ask=ask
    )
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


@action("p")
def each_other(ctx, subject, ask):
    """They love each other: "ils s'aiment"."""
    if not subject.plural or subject.person != 5:
        return reflexive_action(ctx, subject, ask)
    verb = ctx.dice.pick([v for v in (*verbs.TRANSITIVE, *verbs.STATIVE) if v.base in (
        "see", "help", "follow", "hear", "meet", "love", "hate", "know", "understand")])  # fmt: skip
    english = [English("each"), English("other")]
    group = verb_group(
        verb, ctx.tense(verb.stative), subject, clitics=(French("se", "clitic", (*english,)),),
        reflexive=True, ask=ask,
    )  # fmt: skip
    return group.add(english)


@action("p")
def playing(ctx, subject, ask):
    """She plays football, she plays the piano: "au football", "du piano"."""
    the = None
    if ctx.dice.chance(0.5):
        english, french, feminine, joint = ctx.dice.pick(
            (("football", "football", False, "à"), ("tennis", "tennis", False, "à"),
             ("chess", "échecs", True, "à"), ("cards", "cartes", True, "à"))
        )  # fmt: skip
        plural = english in ("chess", "cards")
    else:
        english, french, feminine, joint = ctx.dice.pick(
            (("piano", "piano", False, "de"), ("guitar", "guitare", True, "de"),
             ("violin", "violon", False, "de"))
        )  # fmt: skip
        plural, the = False, English("the")
    group = verb_group(verbs.PLAY, ctx.tense(), subject, ask=ask)
    e, main = English(english), group.rest[-1]
    word = "les" if plural else "la" if feminine else "le"
    return group.add(
        [the, e] if the else [e],
        [
            French(joint, "preposition", (), (main,)),
            French(word, "determiner", (the,) if the else (), (e,)),
            French(french, "noun", (e,), (), ""),
        ],
    )


@action("p")
def leaving_behind(ctx, subject, ask):
    """He left the key in the house: "il a laissé la clé dans la maison"."""
    verb = verbs.FORGET_BEHIND
    thing = object_of(ctx, verb, depth=0)
    group = verb_group(verb, ctx.tense(), subject, ask=ask).add(thing.english, thing.french)
    return group.add(*place(ctx))


