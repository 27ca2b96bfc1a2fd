"""Sentences: statements of one clause or several, questions, commands, exclamations.

Where English puts an adverb of time or a condition last and French puts it first, the order of
the clauses changes; this is decided by the words themselves ("if", "as", "yesterday").
"""

from __future__ import annotations

from functools import cache

from . import verbs
from .clauses import clause
from .context import Context, Nominal
from .groups import verb_group
from .places import place
from .relatives import subject
from .swaps import cleft_object, cleft_subject
from .tokens import English, French, Phrase

# A fixed expression: English words, then French word/class/numbers of the English words that it
# translates; numbers after a question mark are possible links.
TIMES = {
    "past": (
        "yesterday | hier/adverb/0",
        "last week | la/determiner/?1 semaine/noun/1 dernière/adjective/0",
        "last night | hier/adverb/01 soir/noun/1",
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
VOCATIVES = (  # a fixed expression, person, feminine, plural
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
JOINTS = (  # name, expression, whether a comma goes before it
    ("and", "and | et/conjunction/0", True),
    ("but", "but | mais/conjunction/0", True),
    ("because", "because | parce/conjunction/0 que/conjunction/0", False),
    ("so", "so | donc/conjunction/0", True),
    ("while", "while | pendant/conjunction/0 que/conjunction/0", False),
    ("even_though", "even though | même/conjunction/01 si/conjunction/01", False),
)
FRONTED = (  # English puts these clauses last, French puts them first
    ("if_fronted", "if | si/conjunction/0"),
    ("as_fronted", "as | comme/conjunction/0"),
    ("once_fronted", "once | dès/conjunction/0 que/conjunction/0"),
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

SENTENCES: list = []
QUESTIONS: list = []


def sentence(build):
    """Enter a frame for statements into the list."""
    SENTENCES.append(build)
    return build


def question(build):
    """Enter a frame for sentences of one clause into the list."""
    QUESTIONS.append(build)
    return build


def mark(word: str) -> Phrase:
    """Write a punctuation mark on both sides."""
    e = English(word)
    return Phrase([e], [French(word, "punctuation", (e,))])


def comma() -> French:
    """Write a comma that only French has."""
    return French(",", "punctuation")


@cache
def _entry(entry: str) -> tuple[list[str], list[tuple]]:
    """Read a fixed expression: English words; French word, class, sure and possible numbers."""
    english, french = entry.split(" | ")
    tokens = []
    for part in french.split():
        word, kind, links = part.split("/")
        sure, _, possible = links.partition("?")
        # "la" in "la semaine" may elide, "a" in "il y a" has nothing to do with it
        vowel = "" if kind in ("noun", "verb", "adverb") else None
        tokens.append((word, kind, tuple(map(int, sure)), tuple(map(int, possible)), vowel))
    return english.split(), tokens


def fixed(entry: str) -> Phrase:
    """Write a fixed expression from its line in a table."""
    english, french = _entry(entry)
    words = [English(word) for word in english]
    tokens = [
        French(word, kind, tuple(words[i] for i in sure), tuple(words[i] for i in possible), vowel)
        for word, kind, sure, possible, vowel in french
    ]
    return Phrase(words, tokens)


def _reported(ctx: Context) -> Phrase:
    roll = ctx.dice.random()
    if roll > 0.12:
        return clause(ctx)
    bare = roll < 0.06
    ctx.used.append("say_bare" if bare else "say_that")
    return say(ctx, bare)


def say(ctx: Context, bare: bool) -> Phrase:
    """She says (that) the king sings: French always says "que"."""
    who = subject(ctx, "p", 0.5, relative=False)
    verb = ctx.dice.pick((verbs.SAY, verbs.KNOW_FACT, verbs.THINK, verbs.BELIEVE))
    group = verb_group(verb, ctx.tense(plain=True), who)
    that = [] if bare else [English("that")]
    ctx.close_clause()
    phrase = clause(ctx)
    que = French("que", "conjunction", tuple(that), () if that else group.rest[-1:])
    return Phrase(
        [*who.english, *group.first, *group.rest, *that, *phrase.english],
        [*who.french, *group.french, que, *phrase.french],
    )


def compose(ctx: Context, clauses: int, events: bool = False) -> Phrase:
    """Join this many statements in an order that both languages share."""
    if clauses == 1:
        return clause(ctx, events=True) if events else _reported(ctx)
    left = 1 + int(ctx.dice.random() * (clauses - 1))
    return join(ctx, compose(ctx, left, events), clauses - left)


def join(ctx: Context, one: Phrase, clauses: int) -> Phrase:
    """Go on with "and", "because", "while" and so many more clauses, each joint but once."""
    options = [joint for joint in JOINTS if joint[0] == "and" or joint[0] not in ctx.used]
    name, entry, stop = ctx.dice.pick(options)
    ctx.used.append(name)
    joint, cut = fixed(entry), mark(",") if stop else Phrase([], [])
    time = ctx.time
    ctx.time = JOINT_TIMES.get((name, time), time)
    two = clause(ctx, events=True) if name == "while" else compose(ctx, clauses)
    ctx.time = time
    both = chain(one, cut, joint, two)
    return join(ctx, both, clauses - 1) if name == "while" and clauses > 1 else both


def chain(*parts: Phrase) -> Phrase:
    """Put phrases one behind the other on both sides."""
    return Phrase([e for p in parts for e in p.english], [f for p in parts for f in p.french])


@sentence
def plain(ctx, clauses):
    """One clause after the other."""
    return compose(ctx, clauses)


@sentence
def time_fronted(ctx, clauses):
    """He ate the apple yesterday: "hier, il a mangé la pomme"."""
    when = fixed(ctx.dice.pick(TIMES[ctx.time]))
    one = clause(ctx, events=True)
    both = Phrase([*one.english, *when.english], [*when.french, comma(), *one.french])
    return join(ctx, both, clauses - 1) if clauses > 1 else both


@sentence
def time_first(ctx, clauses):
    """Yesterday, he ate the apple."""
    when = fixed(ctx.dice.pick(TIMES[ctx.time]))
    one = chain(when, mark(","), clause(ctx, events=True))
    return join(ctx, one, clauses - 1) if clauses > 1 else one


@sentence
def place_first(ctx, clauses):
    """In the garden, the girls sing."""
    where = place(ctx, options="tcs")
    ctx.close_clause()
    ctx.placed = True
    one = chain(where, mark(","), clause(ctx, events=True))
    return join(ctx, one, clauses - 1) if clauses > 1 else one


@sentence
def address(ctx, clauses):
    """Sir, you ...: the vocative decides what "you" is in French."""
    entry, person, feminine, plural = ctx.dice.pick(VOCATIVES)
    ctx.you = Nominal([], [], person, feminine, plural, "p")
    return chain(fixed(entry), mark(","), compose(ctx, clauses))


@sentence
def cleft(ctx, clauses):
    """It is the king who sings, it is the king that she sees."""
    if ctx.time == "past":
        ctx.time = "present"  # "c'était" would be another story
    build = ctx.dice.pick((cleft_subject, cleft_object))
    ctx.used.append(build.__name__)
    one = build(ctx)
    ctx.close_clause()
    return join(ctx, one, clauses - 1) if clauses > 1 else one


@sentence
def fronted(ctx, clauses):
    """She sings if the king sleeps: "si le roi dort, elle chante"."""
    name, entry = ctx.dice.pick(FRONTED)
    if name == "once_fronted":
        ctx.time = "future"
    ctx.used.append(name)
    times = {  # of the clause that moves, and of the main clause
        "if_fronted": {"past": ("supposed", "would")}.get(ctx.time, ("present", "future")),
        "once_fronted": ("when", "future"),
    }
    ctx.time, main_time = times.get(name, (ctx.time, ctx.time))
    joint = fixed(entry)
    # what comes first in French is composed first, and neither clause leans on the other
    side = clause(ctx, events=name == "once_fronted")
    if name == "if_fronted" and clauses > 3:
        ctx.used.append("and")
        side = chain(side, fixed("and | et/conjunction/0"), clause(ctx))
    ctx.mentions, ctx.time = [], main_time
    main = compose(ctx, max(1, clauses - 1))
    return Phrase(
        [*main.english, *joint.english, *side.english],
        [*joint.french, *side.french, comma(), *main.french],
    )


@sentence
def when_first(ctx, clauses):
    """When she arrives, he will leave: the future of both verbs shows in French only."""
    time, joint = ctx.time, fixed("when | quand/conjunction/0")
    ctx.time = {"future": "when", "present": "whenever"}.get(time, time)
    side = clause(ctx, events=True)
    ctx.time = time
    return chain(joint, side, mark(","), compose(ctx, max(1, clauses - 1)))
