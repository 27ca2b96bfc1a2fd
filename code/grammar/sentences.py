"""Statements: clauses, and sentences of one clause or several.

Where English puts an adverb of time or a condition last and French puts it first, the order of
the clauses changes; this is decided by the words themselves ("if", "as", "yesterday"). In some
clauses subject and object change roles: in "the girl likes the book" the book is the subject of
the French verb, and an English passive without its doer is a French active with "on".
"""

from __future__ import annotations

from collections.abc import Callable

from . import verbs
from .actions import Saying, any_transitive, object_of, with_object
from .groups import VerbGroup, verb_group
from .lexicon import LIGHT, NOUNS, RIVER_BANK, nouns_of
from .nouns import inanimate_pronoun, noun_phrase, place, proper
from .phrases import NOTHING, Context, Nominal, Phrase, weave
from .predicates import EVENTS, PREDICATES, Predicate, named
from .relatives import rich_phrase, subject

THINGS = "octwuvhlni"  # what "it" may be
COMMA = ", | ,/punctuation/0"
STATEMENT = "<who> <does> | <who> <does>"
NOBODY = Nominal([], [], kinds="p")  # il, on: third person and no more
LIKED = "cthw"
DATIVES = (("i", 0, "me"), ("he", 2, "lui"), ("she", 2, "lui"), ("we", 3, "nous"))
DONE = "find sell buy open close break clean forget eat wash invite carry"
WEATHER = (("cold", "froid"), ("hot", "chaud"))


class Stuck(Exception):
    """The sentence so far leaves nothing to say that would make sense."""


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
        chosen = ctx.pick(options)
        before = ctx.mark()
        ctx.used.append(chosen.name)
        kinds = chosen.kinds
        if len(kinds) > 2 and not (ctx.antecedent(False, kinds) and ctx.chance(0.7)):
            kinds = ctx.pick(kinds)  # each kind as often as the next
        who = choose(kinds)
        group = chosen.build(Saying(ctx, who, ask), **chosen.options)
        # "not" could mean two things: every child does not sing
        sweeping = who.english and who.english[0].word in ("every", "all")
        if group is not None and not (group.french[0].kind == "negation" and sweeping):
            return who, group
        ctx.undo(before)
    raise Stuck


def stated(ctx: Context, options: list[Predicate], choose: Callable[[str], Nominal]) -> Phrase:
    """Write a statement with one of these predicates."""
    who, group = predicated(ctx, options, choose)
    return weave(STATEMENT, who=who, does=group)


def clause(ctx: Context, events: bool = False) -> Phrase:
    """Write one statement; with `events`, one of something that happens at a time."""
    options = EVENTS if events else PREDICATES
    if not events and ctx.antecedent(False, THINGS) and ctx.chance(0.2):
        options = named("copula_thing", "copula_not", "comparative")
        phrase = stated(ctx, options, lambda _: inanimate_pronoun(ctx))
        ctx.close_clause()
        return phrase
    others = [row for row in CLAUSES if row[1]] if events else CLAUSES
    phrase = None
    if ctx.random() * (len(options) + 2 * len(others)) < 2 * len(others):
        (name, _, build, *arguments), before = ctx.pick(others), ctx.mark()
        once = name not in ctx.used
        ctx.used.append(name)
        phrase = build(ctx, *arguments) if once else None
        if phrase is None:
            ctx.undo(before)
    if phrase is None:
        phrase = stated(ctx, options, lambda kinds: subject(ctx, kinds))
    ctx.close_clause()
    return phrase


# --- clauses that are no plain predication ------------------------------------------------------


def coordinated_subject(ctx):
    one, two = (rich_phrase(ctx, "p", relative=False) for _ in range(2))
    if one.english[-1].word == two.english[-1].word:
        return None
    words = weave("<one> and <two> | <one> et/conjunction/0 <two>", one=one, two=two)
    both = Nominal(*words, 5, one.feminine and two.feminine, True, "p")
    ctx.fresh = [(True, both.feminine, "p")]  # "they" are both of them
    return stated(ctx, [p for p in PREDICATES if p.kinds == "p"], lambda _: both)


def coordinated_object(ctx):
    who = subject(ctx, "p")
    verb = any_transitive(ctx, who)
    one = object_of(ctx, verb, depth=0)
    kin = [noun for noun in nouns_of(verb.objects) if noun.kinds[0] == one.kinds[0]]
    two = object_of(ctx, verb, depth=0, noun=ctx.pick(kin))
    if one.english[-1].word == two.english[-1].word:
        return None
    group = with_object(verb_group(verb, ctx.tense(), who), verb, one)
    # repeated in French: au roi et à la reine
    again = f"{verb.french_prep}/preposition/?main" if verb.french_prep else ""
    entry = f"and <two> | et/conjunction/0 {again} <two>"
    group = group.add(weave(entry, two=two, main=group.rest[0]))
    return weave(STATEMENT, who=who, does=group)


def coordinated_verbs(ctx):
    who, tense = subject(ctx, "p"), ctx.tense()
    one, two = ctx.pick(verbs.INTRANSITIVE), ctx.pick(verbs.TRANSITIVE)
    if one.base == two.base:
        return None
    first = verb_group(one, tense, who)
    second = with_object(verb_group(two, tense, who), two, object_of(ctx, two))
    entry = "<who> <one> and <two> | <who> <one> et/conjunction/0 <two>"
    return weave(entry, who=who, one=first, two=second)


def river_bank(ctx):
    bank = noun_phrase(ctx, RIVER_BANK, kind="the", depth=0, plural=False)
    river = noun_phrase(ctx, NOUNS["river"], kind="the", depth=0, plural=False)
    entry = "<bank> of <river> | <bank> de/preposition/0 <river>"
    english, french = weave(entry, bank=bank, river=river)
    ctx.fresh.clear()  # "it" would be the bank or the river
    whole = bank._replace(english=english, french=french)
    return stated(ctx, named("copula", "copula_not"), lambda _: whole)


def light(ctx):
    who = subject(ctx, "p")
    verb = ctx.pick(verbs.among(verbs.TRANSITIVE, "see find follow"))
    thing = noun_phrase(ctx, LIGHT, kind="the", depth=0, plural=False)
    return weave(STATEMENT, who=who, does=verb_group(verb, ctx.tense(), who).add(thing))


def _pleasing(ctx):
    return noun_phrase(ctx, ctx.pick(LIKED), kind=ctx.pick(("the", "this")), depth=0)


def _missed(ctx):
    return proper(ctx) if ctx.chance(0.4) else noun_phrase(ctx, "p", kind="the", depth=0)


def _swap(ctx, verb, choose, negation=""):
    """Write an English subject as the French indirect object, and the object as the subject."""
    who, thing = noun_phrase(ctx, "p", depth=2), choose(ctx)
    if verb is verbs.MISS and who.english[-1].word == thing.english[-1].word:
        return None
    group = verb_group(verb, ctx.tense(plain=True), who, negation=negation, agent=thing)
    entry = "<who> <likes> <thing> | <thing> <likes> à/preposition/?likes.last <who>"
    return weave(entry, who=who, likes=group, thing=thing)


def _swap_clitic(ctx, verb, choose):
    thing = choose(ctx)
    word, person, dative = ctx.pick(DATIVES)
    (e,), clitics = weave(f"{word} | {dative}/clitic/0")
    who = Nominal([e], [], person)
    group = verb_group(verb, ctx.tense(plain=True), who, agent=thing, clitics=clitics)
    return weave("<who> <likes> <thing> | <thing> <likes>", who=who, likes=group, thing=thing)


def miss_train(ctx):
    if ctx.time.startswith("during"):
        return None
    who = subject(ctx, "p")
    train = noun_phrase(ctx, NOUNS["train"], kind="the", depth=0, plural=False)
    group = verb_group(verbs.MISS_TRAIN, ctx.tense(plain=True), who)
    return weave(STATEMENT, who=who, does=group.add(train))


def _passive(ctx, negation=""):
    verb = ctx.pick(verbs.among(verbs.TRANSITIVE, DONE))
    thing = object_of(ctx, verb, kind=ctx.pick(("the", "this", "my")))
    tense = {"present": "progressive", "during": "progressive", "during_past": "background"}
    tense = tense.get(ctx.time) or ctx.tense(plain=True)
    group = verb_group(verb, tense, thing, negation=negation, agent=NOBODY, passive=True)
    entry = "<thing> <is> | on/pronoun/?by <is> <thing>"
    return weave(entry, thing=thing, by=group.first[:1], **{"is": group})


def _there(ctx, negation=""):
    if ctx.placed:
        return None
    kinds = ctx.pick("pao")
    thing = noun_phrase(ctx, kinds, kind="a", plural=ctx.chance(0.4), negated=bool(negation))
    there = weave("there | il/pronoun/?0 y/clitic/0")
    y = there.french.pop()
    group = verb_group(
        verbs.BE_HAVE, ctx.tense(True), thing, negation=negation, clitics=[y], agent=NOBODY
    )
    where = place(ctx, kinds=kinds, options="tcs" if kinds == "p" else "s")
    return chain(there, group, thing, where)


def weather(ctx):
    word, french = ctx.pick(WEATHER)
    group = verb_group(verbs.BE_DO, ctx.tense(plain=True), NOBODY)
    there = not ctx.placed and ctx.chance(0.6)
    where = place(ctx, options="tcs") if there else NOTHING
    entry = f"it <is> {word} <where> | il/pronoun/0 <is> {french}/adjective/1 <where>"
    return weave(entry, where=where, **{"is": group})


CLAUSES = (  # name, whether it happens at a time, what writes it
    ("coordinated_subject", False, coordinated_subject),  # the boy and the girl sing
    ("coordinated_object", True, coordinated_object),  # she sees the boy and the girl
    ("coordinated_verbs", True, coordinated_verbs),  # she sings and washes the dress
    ("river_bank", False, river_bank),  # la rive de la rivière est tranquille
    ("light", True, light),  # she sees the light: a light bag is another matter
    ("like", False, _swap, verbs.LIKE, _pleasing),  # le livre plaît à la fille
    ("like_not", False, _swap, verbs.LIKE, _pleasing, "not"),
    ("like_clitic", False, _swap_clitic, verbs.LIKE, _pleasing),  # le livre lui plaît
    ("miss", False, _swap, verbs.MISS, _missed),  # the boy misses the queen: la reine manque au ...
    ("miss_clitic", False, _swap_clitic, verbs.MISS, _missed),  # le roi lui manque
    ("miss_train", True, miss_train),  # she missed the train: elle a raté le train
    ("passive", True, _passive),  # the house was sold: on a vendu la maison
    ("passive_not", True, _passive, "not"),
    ("there_is", False, _there),  # there is a cat in the garden: il y a un chat dans le jardin
    ("there_is_not", False, _there, "not"),  # il n'y a pas de chat dans le jardin
    ("weather", False, weather),  # it is cold: il fait froid
)

# --- sentences ----------------------------------------------------------------------------------

TIMES = {
    "past": (
        "yesterday | hier/adverb/0",
        "last week | la/determiner/?1 semaine/noun/1 dernière/adjective/0",
        "last night | hier/adverb/0,1 soir/noun/1",
        "two days ago | il/pronoun/2 y/clitic/2 a/verb/2 deux/determiner/0 jours/noun/1",
    ),
    "present": (
        "today | aujourd'hui/adverb/0",
        "now | maintenant/adverb/0",
        "this week | cette/determiner/0?1 semaine/noun/1",
    ),
    "future": (
        "tomorrow | demain/adverb/0",
        "next week | la/determiner/?1 semaine/noun/1 prochaine/adjective/0",
        "tonight | ce/determiner/0 soir/noun/0",
        "in two days | dans/preposition/0 deux/determiner/1 jours/noun/2",
    ),
}
VOCATIVES = (  # an entry, person, feminine, plural
    ("sir | monsieur/noun/0", 4, False, False),
    ("madam | madame/noun/0", 4, True, False),
    ("doctor | docteur/noun/0", 4, False, False),
    ("children | les/determiner/?0 enfants/noun/0", 4, False, True),
    ("my friends | mes/determiner/0?1 amis/noun/1", 4, False, True),
    ("ladies | mesdames/noun/0", 4, True, True),
    ("my son | mon/determiner/0?1 fils/noun/1", 1, False, False),
    ("my daughter | ma/determiner/0?1 fille/noun/1", 1, True, False),
    ("dad | papa/noun/0", 1, False, False),
    ("mum | maman/noun/0", 1, True, False),
)
JOINTS = (  # name, entry, whether a comma goes before it
    ("and", "and | et/conjunction/0", True),
    ("but", "but | mais/conjunction/0", True),
    ("because", "because | parce/conjunction/0 que/conjunction/0", False),
    ("so", "so | donc/conjunction/0", True),
    ("while", "while | pendant/conjunction/0 que/conjunction/0", False),
    ("even_though", "even though | même/conjunction/0,1 si/conjunction/0,1", False),
)
# The time of a subordinate clause, where it is not that of the main clause.
JOINT_TIMES = {
    ("while", "present"): "during",
    ("while", "past"): "during_past",
    ("while", "future"): "when",
    ("while", "whenever"): "during",
    ("while", "would"): "supposed",
    ("even_though", "future"): "present",  # no future after a French "si"
    ("even_though", "when"): "present",
    ("even_though", "would"): "supposed",
}
FRONTED = (  # English puts these clauses last, French puts them first
    ("if_fronted", "<main> if <side> | si/conjunction/0 <side> ,/punctuation/ <main>"),
    ("as_fronted", "<main> as <side> | comme/conjunction/0 <side> ,/punctuation/ <main>"),
    (
        "once_fronted",
        "<main> once <side> | dès/conjunction/0 que/conjunction/0 <side> ,/punctuation/ <main>",
    ),
)


def chain(*parts: Phrase | Nominal | VerbGroup) -> Phrase:
    """Put phrases one behind the other on both sides."""
    return Phrase([e for p in parts for e in p.english], [f for p in parts for f in p.french])


def _reported(ctx: Context) -> Phrase:
    """Perhaps write "she says (that) the king sings": French always says "que"."""
    roll = ctx.random()
    if roll > 0.12:
        return clause(ctx)
    bare = roll < 0.06
    ctx.used.append("say_bare" if bare else "say_that")
    who = subject(ctx, "p", 0.5, relative=False)
    verb = ctx.pick((verbs.SAY, verbs.KNOW_FACT, verbs.THINK, verbs.BELIEVE))
    group = verb_group(verb, ctx.tense(plain=True), who)
    ctx.close_clause()
    that, link = ("", "?says.last") if bare else ("that", "0")
    entry = f"<who> <says> {that} <what> | <who> <says> que/conjunction/{link} <what>"
    return weave(entry, who=who, says=group, what=clause(ctx))


def compose(ctx: Context, clauses: int) -> Phrase:
    """Join this many statements in an order that both languages share."""
    if clauses == 1:
        return _reported(ctx)
    left = 1 + int(ctx.random() * (clauses - 1))
    return join(ctx, compose(ctx, left), clauses - left)


def join(ctx: Context, one: Phrase, clauses: int) -> Phrase:
    """Go on with "and", "because", "while" and so many more clauses, each joint but once."""
    if not clauses:
        return one
    options = [joint for joint in JOINTS if joint[0] == "and" or joint[0] not in ctx.used]
    name, entry, stop = ctx.pick(options)
    ctx.used.append(name)
    time = ctx.time
    ctx.time = JOINT_TIMES.get((name, time), time)
    two = clause(ctx, events=True) if name == "while" else compose(ctx, clauses)
    ctx.time = time
    both = chain(one, weave(COMMA) if stop else NOTHING, weave(entry), two)
    return join(ctx, both, clauses - 1) if name == "while" else both


def plain(ctx, clauses):
    return compose(ctx, clauses)


def time_fronted(ctx, clauses):
    when = weave(ctx.pick(TIMES[ctx.time]))
    entry = "<one> <when> | <when> ,/punctuation/ <one>"
    return join(ctx, weave(entry, when=when, one=clause(ctx, events=True)), clauses - 1)


def time_first(ctx, clauses):
    when = weave(ctx.pick(TIMES[ctx.time]))
    return join(ctx, chain(when, weave(COMMA), clause(ctx, events=True)), clauses - 1)


def place_first(ctx, clauses):
    where = place(ctx, options="tcs")
    ctx.close_clause()
    ctx.placed = True
    return join(ctx, chain(where, weave(COMMA), clause(ctx, events=True)), clauses - 1)


def addressed(ctx) -> Phrase:
    """Call on somebody, who is "you" from then on."""
    entry, *who = ctx.pick(VOCATIVES)
    ctx.you = Nominal([], [], *who, "p")
    return chain(weave(entry), weave(COMMA))


def address(ctx, clauses):
    return chain(addressed(ctx), compose(ctx, clauses))


def cleft_subject(ctx):
    options = named("transitive", "intransitive", "motion", "giving", "clitic", "frequency")
    who, group = predicated(ctx, options, lambda _: noun_phrase(ctx, "p", plural=False, depth=2))
    return who, weave("who <does> | qui/relative/0 <does>", does=group)


def cleft_object(ctx):
    verb = ctx.pick(verbs.TRANSITIVE)
    thing = object_of(ctx, verb, plural=False, kind="the", depth=0)
    who = subject(ctx, "p", 0.6, relative=False)
    group = verb_group(verb, ctx.tense(), who, agree=(thing.feminine, thing.plural))
    return thing, weave("that <who> <does> | que/relative/0 <who> <does>", who=who, does=group)


def cleft(ctx, clauses):
    if ctx.time == "past":
        ctx.time = "present"  # "c'était" would be another story
    build = ctx.pick((cleft_subject, cleft_object))
    ctx.used.append(build.__name__)
    what, rest = build(ctx)
    ctx.close_clause()
    entry = "it is <what> <rest> | c'/pronoun/0 est/verb/1 <what> <rest>"
    return join(ctx, weave(entry, what=what, rest=rest), clauses - 1)


def fronted(ctx, clauses):
    name, entry = ctx.pick(FRONTED)
    ctx.used.append(name)
    times = ctx.time, ctx.time  # of the clause that moves, and of the main clause
    if name == "once_fronted":
        times = "when", "future"
    elif name == "if_fronted":
        times = ("supposed", "would") if ctx.time == "past" else ("present", "future")
    ctx.time, main_time = times
    # what comes first in French is composed first, and neither clause leans on the other
    side = clause(ctx, events=name == "once_fronted")
    if name == "if_fronted" and clauses > 3:
        ctx.used.append("and")
        side = chain(side, weave(JOINTS[0][1]), clause(ctx))
    ctx.mentions, ctx.time = [], main_time
    return weave(entry, side=side, main=compose(ctx, max(1, clauses - 1)))


def when_first(ctx, clauses):
    time = ctx.time
    ctx.time = {"future": "when", "present": "whenever"}.get(time, time)
    side = clause(ctx, events=True)
    ctx.time = time
    entry = "when <side> <comma> <main> | quand/conjunction/0 <side> <comma> <main>"
    return weave(entry, side=side, comma=weave(COMMA), main=compose(ctx, max(1, clauses - 1)))


SENTENCES = (
    plain,  # one clause after the other
    time_fronted,  # he ate the apple yesterday: hier, il a mangé la pomme
    time_first,  # yesterday, he ate the apple
    place_first,  # in the garden, the girls sing
    address,  # sir, you ...: the vocative decides what "you" is in French
    cleft,  # it is the king who sings, it is the king that she sees
    fronted,  # she sings if the king sleeps: si le roi dort, elle chante
    when_first,  # when she arrives, he will leave: two futures in French
)
