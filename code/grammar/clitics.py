"""Predicates with object pronouns before the French verb, and verbs of giving."""

from __future__ import annotations

from . import verbs
from .actions import OFTEN
from .context import Nominal
from .groups import negate, verb_group
from .nouns import after_preposition, noun_phrase
from .predicates import adverb, object_of, predicate
from .pronouns import direct_clitic, indirect_clitic
from .tokens import English, French


def _clitic(ctx, subject, ask, plain=False, table=verbs.TRANSITIVE, **options):
    verb = ctx.dice.pick(table)
    found = direct_clitic(ctx, verb.objects, subject)
    if found is None:  # nothing of the kind was mentioned: of persons one can always speak
        verb = ctx.dice.pick(verbs.verbs_for(table, "p", "objects"))
        found = direct_clitic(ctx, "p", subject)
    tense = options.pop("tense", None) or ctx.tense(plain=plain)
    group = verb_group(
        verb, tense, subject, clitics=(found.french,), agree=found.agree, ask=ask, **options
    )
    return group.add([found.english])


@predicate(event=False)
def clitic_state(ctx, subject, ask):
    """She loves him: "elle l'aime"."""
    return _clitic(ctx, subject, ask, plain=True, table=verbs.STATIVE)


@predicate()
def clitic(ctx, subject, ask):
    """She sees him: "elle le voit"."""
    return _clitic(ctx, subject, ask)


@predicate()
def clitic_not(ctx, subject, ask):
    """She does not see him: "elle ne le voit pas"."""
    return _clitic(ctx, subject, ask, negation=negate("not"))


@predicate(event=False)
def clitic_never(ctx, subject, ask):
    """She never saw him: "elle ne l'a jamais vu"."""
    return _clitic(ctx, subject, ask, negation=negate("never"), plain=True)


@predicate(event=False)
def clitic_frequency(ctx, subject, ask):
    """He will always help her: "il l'aidera toujours"."""
    tense = ctx.tense(plain=True) if ask else ctx.habit()
    return _clitic(ctx, subject, ask, tense=tense, adverb=adverb(ctx, OFTEN))


@predicate()
def clitic_near(ctx, subject, ask):
    """He is going to help her: "il va l'aider"."""
    tense = {"present": "near", "future": "near", "past": "near_past"}.get(ctx.time)
    if tense is None:
        return None
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    found = direct_clitic(ctx, "p", subject)
    group = verb_group(verb, tense, subject, clitics=(found.french,), agree=found.agree, ask=ask)
    return group.add([found.english])


def _gift(ctx) -> tuple[verbs.Verb, Nominal]:
    verb = ctx.dice.pick(verbs.GIVING)
    return verb, object_of(ctx, verb)


@predicate()
def giving(ctx, subject, ask):
    """He gives the book to the queen."""
    verb, thing = _gift(ctx)
    to, whom = English("to"), noun_phrase(ctx, "p")
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    french = after_preposition(French("à", "preposition", (to,)), whom)
    return group.add([*thing.english, to, *whom.english], [*thing.french, *french])


@predicate()
def giving_double(ctx, subject, ask):
    """He gives the queen the book: "il donne le livre à la reine"."""
    verb, thing = _gift(ctx)
    whom = noun_phrase(ctx, "p")
    group = verb_group(verb, ctx.tense(), subject, ask=ask)
    french = after_preposition(French("à", "preposition", (), group.rest[-1:]), whom)
    return group.add([*whom.english, *thing.english], [*thing.french, *french])


@predicate()
def giving_clitic(ctx, subject, ask):
    """He gives her the book: "il lui donne le livre"."""
    verb, thing = _gift(ctx)
    whom = indirect_clitic(ctx, subject)
    group = verb_group(verb, ctx.tense(), subject, clitics=(whom.french,), ask=ask)
    return group.add([whom.english, *thing.english], thing.french)


@predicate()
def giving_clitic_not(ctx, subject, ask):
    """He does not give her the book: "il ne lui donne pas le livre"."""
    verb = ctx.dice.pick(verbs.GIVING)
    thing = object_of(ctx, verb, negated=True)
    whom = indirect_clitic(ctx, subject)
    group = verb_group(
        verb, ctx.tense(), subject, clitics=(whom.french,), negation=negate("not"), ask=ask
    )
    return group.add([whom.english, *thing.english], thing.french)


@predicate()
def two_clitics(ctx, subject, ask):
    """He buys a cup and gives it to her: "il achète une tasse et la lui donne"."""
    if ask:
        return None
    tense = ctx.tense()
    take = ctx.dice.pick(verbs.among(verbs.TRANSITIVE, "find buy wash"))
    give = ctx.dice.pick(verbs.GIVING[:2] if take.base == "wash" else verbs.GIVING)
    kinds = "".join(kind for kind in take.objects if kind in give.objects and kind != "g")
    thing = noun_phrase(ctx, kinds, kind=ctx.dice.pick(("the", "a")))
    ctx.combinations += [(take.base, thing.noun), (give.base, thing.noun)]
    e, to, word = English("them" if thing.plural else "it"), English("to"), English("and")
    form = "les" if thing.plural else "la" if thing.feminine else "le"
    whom = indirect_clitic(ctx, subject)
    whom.french.possible = (to,)
    order = [French(form, "clitic", (e,)), whom.french]
    if whom.french.word not in ("lui", "leur"):  # il me le donne, but il le lui donne
        order.reverse()
    agree = (thing.feminine, thing.plural)
    one = verb_group(take, tense, subject).add(thing.english, thing.french)
    two = verb_group(give, tense, subject, clitics=order, agree=agree)
    return one.add(
        [word, *two.first, *two.rest, e, to, whom.english],
        [French("et", "conjunction", (word,)), *two.french],
    )
