"""Sentences: statements of one clause or several, questions, commands, exclamations.

Where English puts an adverb of time or a condition last and French puts it first, the order of
the clauses changes; this is decided by the words themselves ("if", "as", "yesterday").
"""

from __future__ import annotations

from .clauses import clause, say
from .context import Context, Nominal
from .relatives import place
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
FRONTED = (  # English may put these clauses last, French puts them first
    ("if_fronted", "if | si/conjunction/0"),
    ("as_fronted", "as | comme/conjunction/0"),
    ("once_fronted", "once | dès/conjunction/0 que/conjunction/0"),
)

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


def fixed(entry: str) -> Phrase:
    """Write a fixed expression from its line in a table."""
    english, french = entry.split(" | ")
    words = [English(word) for word in english.split()]
    tokens = []
    for part in french.split():
        word, kind, links = part.split("/")
        sure, _, possible = links.partition("?")
        vowel = "" if kind in ("noun", "verb", "adverb") else None
        tokens.append(
            French(word, kind, tuple(words[int(i)] for i in sure),
                   tuple(words[int(i)] for i in possible), vowel)
        )  # fmt: skip
    return Phrase(words, tokens)


def compose(ctx: Context, clauses: int) -> Phrase:
    """Join this many statements in an order that both languages share."""
    if clauses == 1:
        if ctx.dice.chance(0.1):
            bare = ctx.dice.chance(0.5)
            ctx.used.append("say_bare" if bare else "say_that")
            return say(ctx, clause, bare)
        return clause(ctx)
    left = 1 + int(ctx.dice.random() * (clauses - 1))
    one = compose(ctx, left)
    name, entry, stop = ctx.dice.pick(JOINTS)
    ctx.used.append(name)
    joint = fixed(entry)
    two = compose(ctx, clauses - left)
    cut = mark(",") if stop else Phrase([], [])
    return Phrase(
        [*one.english, *cut.english, *joint.english, *two.english],
        [*one.french, *cut.french, *joint.french, *two.french],
    )


@sentence
def statement(ctx, clauses):
    """One clause after the other."""
    return compose(ctx, clauses)


@sentence
def time_fronted(ctx, clauses):
    """He ate the apple yesterday: "hier, il a mangé la pomme"."""
    when = fixed(ctx.dice.pick(TIMES[ctx.time]))
    one = clause(ctx)
    french = [*when.french, comma(), *one.french]
    english = [*one.english, *when.english]
    if clauses == 1:
        return Phrase(english, french)
    name, entry, stop = ctx.dice.pick(JOINTS)
    ctx.used.append(name)
    joint, cut = fixed(entry), mark(",") if stop else Phrase([], [])
    two = compose(ctx, clauses - 1)
    return Phrase(
        [*english, *cut.english, *joint.english, *two.english],
        [*french, *cut.french, *joint.french, *two.french],
    )


@sentence
def time_first(ctx, clauses):
    """Yesterday he ate the apple."""
    when = fixed(ctx.dice.pick(TIMES[ctx.time]))
    cut = mark(",")
    rest = compose(ctx, clauses)
    return Phrase(
        [*when.english, *cut.english, *rest.english], [*when.french, *cut.french, *rest.french]
    )


@sentence
def place_first(ctx, clauses):
    """In the garden, the girls sing."""
    where, cut = place(ctx), mark(",")
    ctx.close_clause()
    rest = compose(ctx, clauses)
    return Phrase(
        [*where.english, *cut.english, *rest.english], [*where.french, *cut.french, *rest.french]
    )


@sentence
def address(ctx, clauses):
    """Sir, you ...: the vocative decides what "you" is in French."""
    entry, person, feminine, plural = ctx.dice.pick(VOCATIVES)
    who, cut = fixed(entry), mark(",")
    ctx.you = Nominal([], [], person, feminine, plural, "p")
    rest = compose(ctx, clauses)
    return Phrase(
        [*who.english, *cut.english, *rest.english], [*who.french, *cut.french, *rest.french]
    )


@sentence
def fronted(ctx, clauses):
    """She sings if the king sleeps: "si le roi dort, elle chante"."""
    name, entry = ctx.dice.pick(FRONTED)
    ctx.used.append(name)
    joint, main_time = fixed(entry), ctx.time
    right = max(1, clauses // 2)
    if name == "if_fronted" and main_time != "past":
        ctx.time, main_time = "present", "future"
    elif name == "if_fronted":
        ctx.time, main_time = "past", "past"
    elif name == "once_fronted" and main_time == "future":
        ctx.time = "when"
    # the clause that comes first in French may not lean on the other
    side = compose(ctx, right)
    ctx.mentions, ctx.time = [], main_time
    main = compose(ctx, max(1, clauses - right))
    return Phrase(
        [*main.english, *joint.english, *side.english],
        [*joint.french, *side.french, comma(), *main.french],
    )


@sentence
def when_first(ctx, clauses):
    """When she arrives, he will leave: the future of both verbs shows in French only."""
    e, cut = English("when"), mark(",")
    joint = French("quand", "conjunction", (e,))
    time = ctx.time
    ctx.time = "when" if time == "future" else time
    side = clause(ctx)
    ctx.time = time
    main = compose(ctx, max(1, clauses - 1))
    return Phrase(
        [e, *side.english, *cut.english, *main.english],
        [joint, *side.french, *cut.french, *main.french],
    )
