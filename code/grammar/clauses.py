"""Whole clauses: a subject with a predicate, and coordinations of their parts."""

from __future__ import annotations

from collections.abc import Callable

from . import actions, clitics, intentions, motions, states, verbs  # noqa: F401 (they fill PREDICATES)
from .context import Context, Nominal
from .groups import VerbGroup, verb_group
from .lexicon import LIGHT, NOUNS, RIVER_BANK, nouns_of
from .nouns import after_preposition, noun_phrase
from .predicates import PREDICATES, Predicate, any_transitive, named, object_of, with_object
from .pronouns import inanimate_pronoun
from .relatives import rich_phrase, subject
from .tokens import English, French, Phrase

THINGS = "octwuvhlni"  # what "it" may be
CLAUSES: list[tuple[Callable[[Context], Phrase | None], bool]] = []
EVENTS: list[Predicate] = []


def whole(event: bool = False):
    """Enter a clause that is no plain predication into the list."""

    def enter(build):
        CLAUSES.append((build, event))
        return build

    return enter


def statement(who: Nominal, group: VerbGroup) -> Phrase:
    """Join a subject and its predicate."""
    return Phrase([*who.english, *group.first, *group.rest], [*who.french, *group.french])


class Stuck(Exception):
    """The sentence so far leaves nothing to say that would make sense."""


def _sweeping(who: Nominal) -> bool:
    """Tell whether "not" could mean two things: every child does not sing."""
    return bool(who.english) and who.english[0].word in ("every", "all")


def predicated(
    ctx: Context,
    options: list[Predicate],
    choose: Callable[[str], Nominal],
    ask: bool = False,
) -> tuple[Nominal, VerbGroup]:
    """Draw predicates until one goes with the subject that `choose` makes for it.

    Raises Stuck after twenty that do not.
    """
    for _ in range(20):
        chosen = ctx.dice.pick(options)
        before = ctx.mark()
        ctx.used.append(chosen.name)
        kinds = chosen.kinds
        if len(kinds) > 2 and not (ctx.antecedent(False, kinds) and ctx.dice.chance(0.7)):
            kinds = ctx.dice.pick(kinds)  # each kind as often as the next
        who = choose(kinds)
        group = chosen.build(ctx, who, ask)
        if group is not None and not (group.french[0].kind == "negation" and _sweeping(who)):
            return who, group
        ctx.undo(before)
    raise Stuck


def clause(ctx: Context, events: bool = False) -> Phrase:
    """Write one statement; with `events`, one of something that happens at a time."""
    if not EVENTS:
        EVENTS.extend(p for p in PREDICATES if p.event)
    options = EVENTS if events else PREDICATES
    if not events and ctx.antecedent(False, THINGS) and ctx.dice.chance(0.2):
        options = named("copula_thing", "copula_not", "comparative")
        phrase = statement(*predicated(ctx, options, lambda _: inanimate_pronoun(ctx)))
        ctx.close_clause()
        return phrase
    others = [build for build, event in CLAUSES if event] if events else [b for b, _ in CLAUSES]
    phrase = None
    if ctx.dice.random() * (len(options) + 2 * len(others)) < 2 * len(others):
        build, before = ctx.dice.pick(others), ctx.mark()
        once = build.__name__ not in ctx.used
        ctx.used.append(build.__name__)
        phrase = build(ctx) if once else None
        if phrase is None:
            ctx.undo(before)
    if phrase is None:
        phrase = statement(*predicated(ctx, options, lambda kinds: subject(ctx, kinds)))
    ctx.close_clause()
    return phrase


def _pair(one: Nominal, two: Nominal) -> Nominal:
    word = English("and")
    return Nominal(
        [*one.english, word, *two.english],
        [*one.french, French("et", "conjunction", (word,)), *two.french],
        5, one.feminine and two.feminine, True, "p",
    )  # fmt: skip


@whole()
def coordinated_subject(ctx):
    """The boy and the girl sing: "le garçon et la fille chantent"."""
    one, two = (rich_phrase(ctx, "p", relative=False) for _ in range(2))
    if one.english[-1].word == two.english[-1].word:
        return None
    both = _pair(one, two)
    ctx.fresh = [(True, both.feminine, "p")]  # "they" are both of them
    options = [p for p in PREDICATES if p.kinds == "p"]
    return statement(*predicated(ctx, options, lambda _: both))


@whole(event=True)
def coordinated_object(ctx):
    """She sees the boy and the girl."""
    who = subject(ctx, "p")
    verb = any_transitive(ctx, who)
    one = object_of(ctx, verb, depth=0)
    kin = [noun for noun in nouns_of(verb.objects) if noun.kinds[0] == one.kinds[0]]
    two = object_of(ctx, verb, depth=0, noun=ctx.dice.pick(kin))
    if one.english[-1].word == two.english[-1].word:
        return None
    word = English("and")
    group = with_object(verb_group(verb, ctx.tense(), who), verb, one)
    french = two.french
    if verb.french_prep:  # repeated in French: au roi et à la reine
        again = French(verb.french_prep, "preposition", (), (group.rest[0],))
        french = after_preposition(again, two)
    return statement(
        who, group.add([word, *two.english], [French("et", "conjunction", (word,)), *french])
    )


@whole(event=True)
def coordinated_verbs(ctx):
    """She sings and washes the dress."""
    who = subject(ctx, "p")
    word, tense = English("and"), ctx.tense()
    one, two = ctx.dice.pick(verbs.INTRANSITIVE), ctx.dice.pick(verbs.TRANSITIVE)
    if one.base == two.base:
        return None
    first = verb_group(one, tense, who)
    second = with_object(verb_group(two, tense, who), two, object_of(ctx, two))
    return statement(
        who,
        first.add(
            [word, *second.first, *second.rest],
            [French("et", "conjunction", (word,)), *second.french],
        ),
    )


@whole()
def river_bank(ctx):
    """The bank of the river is quiet: "la rive de la rivière est tranquille"."""
    of = English("of")
    bank = noun_phrase(ctx, "l", noun=RIVER_BANK, kind="the", depth=0, plural=False)
    river = noun_phrase(ctx, "n", noun=NOUNS["river"], kind="the", depth=0, plural=False)
    french = after_preposition(French("de", "preposition", (of,)), river)
    whole_bank = bank._replace(
        english=[*bank.english, of, *river.english], french=[*bank.french, *french]
    )
    ctx.fresh.clear()  # "it" would be the bank or the river
    return statement(*predicated(ctx, named("copula", "copula_not"), lambda _: whole_bank))


@whole(event=True)
def light(ctx):
    """She sees the light: a light bag is another matter."""
    who = subject(ctx, "p")
    verb = ctx.dice.pick(verbs.among(verbs.TRANSITIVE, "see find follow"))
    thing = noun_phrase(ctx, "x", noun=LIGHT, kind="the", depth=0, plural=False)
    return statement(who, verb_group(verb, ctx.tense(), who).add(thing.english, thing.french))
