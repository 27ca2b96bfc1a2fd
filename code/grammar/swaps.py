"""Clauses whose parts change roles between the languages.

In "the girl likes the book" the book is the subject of the French verb: "le livre plaît à la
fille". An English passive without its doer is a French active with "on".
"""

from __future__ import annotations

from . import verbs
from .clauses import predicated, statement, whole
from .context import Nominal
from .groups import negate, verb_group
from .lexicon import NOUNS
from .nouns import after_preposition, noun_phrase, proper
from .places import place
from .predicates import named, object_of
from .relatives import subject
from .tokens import English, French, Phrase

NOBODY = Nominal([], [], 2, False, False, "p")  # il, on: third person and no more
LIKED = "cthw"
DATIVES = (("i", 0, "me"), ("he", 2, "lui"), ("she", 2, "lui"), ("we", 3, "nous"))
DONE = "find sell buy open close break clean forget eat wash invite carry"


def _swap(ctx, verb, who: Nominal, thing: Nominal, negation=None) -> Phrase:
    """Write an English subject as the French indirect object, and the object as the subject."""
    group = verb_group(verb, ctx.tense(plain=True), who, negation=negation, agent=thing)
    to = French("à", "preposition", (), group.rest[-1:])
    return Phrase(
        [*who.english, *group.first, *group.rest, *thing.english],
        [*thing.french, *group.french, *after_preposition(to, who)],
    )


def _swap_clitic(ctx, verb, thing: Nominal) -> Phrase:
    word, person, dative = ctx.dice.pick(DATIVES)
    e = English(word)
    who = Nominal([e], [], person)
    clitic = French(dative, "clitic", (e,))
    group = verb_group(verb, ctx.tense(plain=True), who, agent=thing, clitics=(clitic,))
    return Phrase([e, *group.first, *group.rest, *thing.english], [*thing.french, *group.french])


def _pleasing(ctx):
    return noun_phrase(ctx, ctx.dice.pick(LIKED), kind=ctx.dice.pick(("the", "this")), depth=0)


def _missed(ctx):
    return proper(ctx) if ctx.dice.chance(0.4) else noun_phrase(ctx, "p", kind="the", depth=0)


@whole()
def like(ctx):
    """The girl likes the book: "le livre plaît à la fille"."""
    return _swap(ctx, verbs.LIKE, noun_phrase(ctx, "p", depth=2), _pleasing(ctx))


@whole()
def like_not(ctx):
    """The girl does not like the book: "le livre ne plaît pas à la fille"."""
    return _swap(ctx, verbs.LIKE, noun_phrase(ctx, "p", depth=2), _pleasing(ctx), negate("not"))


@whole()
def like_clitic(ctx):
    """She likes the book: "le livre lui plaît"."""
    return _swap_clitic(ctx, verbs.LIKE, _pleasing(ctx))


@whole()
def miss(ctx):
    """The boy misses the queen: "la reine manque au garçon"."""
    who, missed = noun_phrase(ctx, "p", depth=2), _missed(ctx)
    if who.english[-1].word == missed.english[-1].word:
        return None
    return _swap(ctx, verbs.MISS, who, missed)


@whole()
def miss_clitic(ctx):
    """She misses the king: "le roi lui manque"."""
    return _swap_clitic(ctx, verbs.MISS, _missed(ctx))


@whole(event=True)
def miss_train(ctx):
    """She missed the train: "elle a raté le train"."""
    if ctx.time.startswith("during"):
        return None
    who = subject(ctx, "p")
    train = noun_phrase(ctx, "v", noun=NOUNS["train"], kind="the", depth=0, plural=False)
    group = verb_group(verbs.MISS_TRAIN, ctx.tense(plain=True), who)
    return statement(who, group.add(train.english, train.french))


@whole(event=True)
def passive(ctx):
    """The house was sold: "on a vendu la maison"."""
    return _passive(ctx, None)


@whole(event=True)
def passive_not(ctx):
    """The house was not sold: "on n'a pas vendu la maison"."""
    return _passive(ctx, negate("not"))


def _passive(ctx, negation):
    verb = ctx.dice.pick(verbs.among(verbs.TRANSITIVE, DONE))
    thing = object_of(ctx, verb, kind=ctx.dice.pick(("the", "this", "my")))
    tense = {"present": "progressive", "during": "progressive"}.get(ctx.time)
    tense = tense or ("background" if ctx.time == "during_past" else ctx.tense(plain=True))
    group = verb_group(verb, tense, thing, negation=negation, agent=NOBODY, passive=True)
    on = French("on", "pronoun", (), group.first[:1])
    return Phrase([*thing.english, *group.first, *group.rest], [on, *group.french, *thing.french])


@whole()
def there_is(ctx):
    """There is a cat in the garden: "il y a un chat dans le jardin"."""
    return _there(ctx, None)


@whole()
def there_is_not(ctx):
    """There is not a cat in the garden: "il n'y a pas de chat dans le jardin"."""
    return _there(ctx, negate("not"))


def _there(ctx, negation):
    if ctx.placed:
        return None
    kinds = ctx.dice.pick("pao")
    thing = noun_phrase(ctx, kinds, kind="a", plural=ctx.dice.chance(0.4), negated=bool(negation))
    there = English("there")
    y = French("y", "clitic", (there,))
    group = verb_group(
        verbs.BE_HAVE, ctx.tense(plain=True), thing, negation=negation, clitics=(y,), agent=NOBODY
    )
    where = place(ctx, kinds=kinds, options="tcs" if kinds == "p" else "s")
    il = French("il", "pronoun", (), (there,))
    return Phrase(
        [there, *group.first, *group.rest, *thing.english, *where.english],
        [il, *group.french, *thing.french, *where.french],
    )


@whole()
def weather(ctx):
    """It is cold: "il fait froid"."""
    word, french = ctx.dice.pick((("cold", "froid"), ("hot", "chaud")))
    it, e = English("it"), English(word)
    group = verb_group(verbs.BE_DO, ctx.tense(plain=True), NOBODY)
    il = French("il", "pronoun", (it,))
    where = Phrase([], [])
    if not ctx.placed and ctx.dice.chance(0.6):
        where = place(ctx, options="tcs")
    return Phrase(
        [it, *group.first, *group.rest, e, *where.english],
        [il, *group.french, French(french, "adjective", (e,)), *where.french],
    )


def cleft_subject(ctx) -> Phrase:
    """It is the king who sings: "c'est le roi qui chante"."""
    options = named("transitive", "intransitive", "motion", "giving", "clitic", "frequency")
    who, group = predicated(ctx, options, lambda _: noun_phrase(ctx, "p", plural=False, depth=2))
    word = English("who")
    qui = French("qui", "relative", (word,))
    return _cleft(who, [word, *group.first, *group.rest], [qui, *group.french])


def cleft_object(ctx) -> Phrase:
    """It is the king that she sees: "c'est le roi qu'elle voit"."""
    verb = ctx.dice.pick(verbs.TRANSITIVE)
    thing = object_of(ctx, verb, plural=False, kind="the", depth=0)
    who, that = subject(ctx, "p", 0.6, relative=False), English("that")
    group = verb_group(verb, ctx.tense(), who, agree=(thing.feminine, thing.plural))
    que = French("que", "relative", (that,))
    return _cleft(
        thing,
        [that, *who.english, *group.first, *group.rest],
        [que, *who.french, *group.french],
    )


def _cleft(what: Nominal, english: list[English], french: list[French]) -> Phrase:
    it, be = English("it"), English("is")
    this = French("ce", "pronoun", (it,), (), "c'")
    return Phrase(
        [it, be, *what.english, *english],
        [this, French("est", "verb", (be,)), *what.french, *french],
    )
