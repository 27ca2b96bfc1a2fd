"""Predicates about how things are: copulas, comparison, having, needing, knowing, wanting."""

from __future__ import annotations

from . import verbs
from .context import Context, Nominal
from .groups import negate, verb_group
from .lexicon import NOT_GRADED, NOUNS, adjectives_of, family_of
from .nouns import adjective_tokens, after_preposition, noun_phrase
from .places import place
from .predicates import object_of, predicate, with_object
from .tokens import English, French

FEELINGS = [("hungry", "faim"), ("thirsty", "soif"), ("cold", "froid"), ("hot", "chaud"),
            ("right", "raison"), ("wrong", "tort")]  # fmt: skip
PROFESSIONS = ["teacher", "doctor", "actress", "baker", "lawyer", "nurse", "student"]
THINGS = "pactvhlouni"


def predicative(ctx: Context, subject: Nominal) -> tuple[English, French] | None:
    """Choose an adjective that agrees with the subject across the verb."""
    # nothing is said twice: "it is not heavy, so it is heavy"
    said = [*(e.word for e in subject.english), *ctx.said, *(a for a, _ in ctx.combinations)]
    over = frozenset(["good"]).union(*map(family_of, said))
    options = [a for a in adjectives_of(subject.kinds) if a.english not in over]
    if not options:
        return None
    adjective = ctx.dice.pick(options)
    ctx.said.append(adjective.english)
    return adjective_tokens(adjective, subject.feminine, subject.plural)


@predicate(THINGS, event=False)
def copula(ctx, subject, ask):
    """The house is beautiful."""
    group = verb_group(verbs.BE, ctx.tense(True), subject, ask=ask)
    if not (said := predicative(ctx, subject)):
        return None
    e, f = said
    if e.word not in NOT_GRADED and ctx.dice.chance(0.3):
        english, french = ctx.dice.pick((("very", "très"), ("too", "trop")))
        word = English(english)
        group = group.add([word], [French(french, "adverb", (word,))])
    return group.add([e], [f])


@predicate("octwuhlnti", event=False)
def copula_thing(ctx, subject, ask):
    """The key is heavy; it is heavy."""
    return copula(ctx, subject, ask)


@predicate(THINGS, event=False)
def copula_not(ctx, subject, ask):
    """The house is not beautiful."""
    group = verb_group(verbs.BE, ctx.tense(True), subject, negation=negate("not"), ask=ask)
    if not (said := predicative(ctx, subject)):
        return None
    e, f = said
    return group.add([e], [f])


@predicate(event=False)
def profession(ctx, subject, ask):
    """She is a teacher: "elle est professeur", without an article."""
    if subject.noun in PROFESSIONS:  # the doctor is a doctor
        return None
    names = [name for name in PROFESSIONS if NOUNS[name].feminine == subject.feminine]
    noun = NOUNS[ctx.dice.pick(names)]
    plural = subject.plural
    e = English(noun.english[plural])
    group = verb_group(verbs.BE, ctx.tense(True), subject, ask=ask)
    return group.add(
        [e] if plural else [English("a"), e], [French(noun.french[plural], "noun", (e,), (), "")]
    )


@predicate("pao", event=False)
def copula_place(ctx, subject, ask):
    """The key is in the garden."""
    if ctx.placed:
        return None
    kinds = "a" if subject.kinds == "a" else "p"
    where = place(ctx, kinds=kinds, options="tcbvss" if "p" in subject.kinds else "tss")
    return verb_group(verbs.BE, ctx.tense(True), subject, ask=ask).add(*where)


@predicate("pacvhl", event=False)
def comparative(ctx, subject, ask):
    """The queen is taller than the king: "la reine est plus grande que le roi"."""
    return _compare(ctx, subject, ask, None)


@predicate("pacvhl", event=False)
def comparative_not(ctx, subject, ask):
    """The queen is not taller than the king."""
    return _compare(ctx, subject, ask, negate("not"))


def _compare(ctx, subject, ask, negation):
    options = [a for a in adjectives_of(subject.kinds) if a.graded or a.english in (
        "expensive", "famous", "beautiful", "tired", "strange")]  # fmt: skip
    adjective = ctx.dice.pick(options)
    group = verb_group(verbs.BE, ctx.tense(True), subject, negation=negation, ask=ask)
    form = adjective.form(subject.feminine, subject.plural)
    if adjective.graded:  # one English word for two
        more = main = English(adjective.graded[0])
        english = [main]
    else:
        english = [more, main] = [English("more"), English(adjective.english)]
    than = English("than")
    kinds = next(kind for kind in subject.kinds if kind in adjective.kinds)
    kind = "my" if kinds == "q" else ctx.dice.pick(("the", "this", "my"))
    other = noun_phrase(ctx, kinds, kind=kind, depth=0, plain=True)
    if other.english[-1].word == subject.english[-1].word:
        return None
    french = [French("plus", "adverb", (more,)), French(form, "adjective", (main,))]
    french.append(French("que", "conjunction", (than,)))
    return group.add([*english, than, *other.english], [*french, *other.french])


@predicate(event=False)
def feeling(ctx, subject, ask):
    """She is hungry: "elle a faim"."""
    return _feel(ctx, subject, ask, None)


@predicate(event=False)
def feeling_not(ctx, subject, ask):
    """She is not hungry: "elle n'a pas faim"."""
    return _feel(ctx, subject, ask, negate("not"))


def _feel(ctx, subject, ask, negation):
    english, french = ctx.dice.pick(FEELINGS)
    e = English(english)
    group = verb_group(verbs.BE_HAVE, ctx.tense(True), subject, negation=negation, ask=ask)
    return group.add([e], [French(french, "noun", (e,))])


@predicate(event=False)
def age(ctx, subject, ask):
    """She is ten years old: "elle a dix ans"."""
    english, french = ctx.dice.pick((("ten", "dix"), ("twelve", "douze"), ("twenty", "vingt")))
    number, years, old = English(english), English("years"), English("old")
    group = verb_group(verbs.BE_HAVE, ctx.tense(True), subject, ask=ask)
    return group.add(
        [number, years, old],
        [French(french, "determiner", (number,)), French("ans", "noun", (years,), (old,))],
    )


@predicate(event=False)
def afraid(ctx, subject, ask):
    """She is afraid of the dog: "elle a peur du chien"."""
    word, of = English("afraid"), English("of")
    group = verb_group(verbs.BE_HAVE, ctx.tense(True), subject, ask=ask)
    thing = noun_phrase(ctx, "pa")
    french = after_preposition(French("de", "preposition", (of,)), thing)
    return group.add([word, of, *thing.english], [French("peur", "noun", (word,)), *french])


@predicate(event=False)
def having(ctx, subject, ask):
    """He has a car."""
    thing = object_of(ctx, verbs.HAVE)
    group = verb_group(verbs.HAVE, ctx.tense(True), subject, ask=ask)
    return group.add(thing.english, thing.french)


@predicate(event=False)
def having_not(ctx, subject, ask):
    """He does not have a car: "il n'a pas de voiture"."""
    thing = object_of(ctx, verbs.HAVE, negated=True, kind="a", depth=0)
    group = verb_group(verbs.HAVE, ctx.tense(True), subject, negation=negate("not"), ask=ask)
    return group.add(thing.english, thing.french)


@predicate(event=False)
def needing(ctx, subject, ask):
    """He needs the key: "il a besoin de la clé"."""
    thing = object_of(ctx, verbs.NEED)
    group = verb_group(verbs.NEED, ctx.tense(True), subject, ask=ask)
    need = group.rest[-1]
    french = after_preposition(French("de", "preposition", (), (need,)), thing)
    return group.add(thing.english, [French("besoin", "noun", (need,)), *french])


@predicate(event=False)
def feeling_for(ctx, subject, ask):
    """She knows the king, loves him, hates cheese: stative verbs."""
    verb = ctx.dice.pick(verbs.STATIVE)
    group = verb_group(verb, ctx.tense(True), subject, ask=ask)
    return with_object(group, verb, object_of(ctx, verb, kind="the", depth=0))


@predicate(event=False)
def living_in(ctx, subject, ask):
    """She lives in Paris: "elle habite à Paris"."""
    if ctx.placed:
        return None
    group = verb_group(verbs.INHABIT, ctx.tense(True), subject, ask=ask)
    return group.add(*place(ctx, options="tchh"))


@predicate(event=False)
def living_with(ctx, subject, ask):
    """She lives with her sister: "elle vit avec sa sœur"."""
    word, french = ctx.dice.pick((("with", "avec"), ("without", "sans")))
    e, whom = English(word), noun_phrase(ctx, "p")
    group = verb_group(verbs.LIVE, ctx.tense(True), subject, ask=ask)
    return group.add([e, *whom.english], [French(french, "preposition", (e,)), *whom.french])


@predicate(event=False)
def know_how(ctx, subject, ask):
    """She knows how to swim: "elle sait nager"."""
    group = verb_group(verbs.KNOW_FACT, ctx.tense(True), subject, ask=ask)
    verb = ctx.dice.pick(verbs.among(verbs.INTRANSITIVE, "sing dance swim cook read"))
    how, to, main = English("how"), English("to"), English(verb.base)
    group.french[group.finite].possible += (how,)
    return group.add([how, to, main], [French(verb.french, "verb", (main,), (to,))])


@predicate()
def letting(ctx, subject, ask):
    """She makes the child laugh: "elle fait rire l'enfant"."""
    making = ctx.dice.pick((verbs.MAKE, verbs.LET))
    verb = ctx.dice.pick(verbs.among(verbs.INTRANSITIVE, "sleep sing dance work eat cry run"))
    whom, main = noun_phrase(ctx, "p"), English(verb.base)
    group = verb_group(making, ctx.tense(), subject, ask=ask)
    return group.add([*whom.english, main], [French(verb.french, "verb", (main,)), *whom.french])
