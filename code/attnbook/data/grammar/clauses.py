"""Whole clauses: a subject with a predicate, and those whose parts change roles.

In "the girl likes the book" the book is the subject of the French verb: "le livre plaît à la
fille". Such clauses cannot be built from a predicate.
"""

from __future__ import annotations

from . import verbs
from .actions import ACTIONS, any_transitive
from .conjugation import english_forms
from .context import Context, Nominal
from .groups import VerbGroup, negate, verb_group
from .lexicon import LIGHT, nouns_of
from .nouns import after_preposition, article, noun_phrase, proper
from .relatives import object_of, place, rich_phrase, subject, with_object
from .states import STATES
from .tokens import English, French, Phrase

PREDICATES = [*ACTIONS, *STATES]
CLAUSES: list = []
ON = Nominal([], [], 2, False, False, "p")


def whole(build):
    """Enter a clause into the list."""
    CLAUSES.append(build)
    return build


def state_of(who: Nominal, group: VerbGroup) -> Phrase:
    """Join a subject and its predicate."""
    return Phrase(
        [*who.english, *group.first, *group.rest], [*who.french, *group.french]
    )


def predication(ctx: Context, names: frozenset[str] | None = None) -> tuple:
    """Choose a predicate and a subject for it: name, subject, builder."""
    predicate = ctx.dice.pick(PREDICATES)
    kinds = predicate.kinds
    if len(kinds) > 1 and ctx.dice.chance(0.5):
        kinds = ctx.dice.pick(kinds)
    return predicate, subject(ctx, kinds)


def clause(ctx: Context) -> Phrase:
    """Write one statement."""
    if ctx.dice.random() * (len(PREDICATES) + 2 * len(CLAUSES)) < 2 * len(CLAUSES):
        build = ctx.dice.pick(CLAUSES)
        ctx.used.append(build.__name__)
        phrase = build(ctx)
    else:
        predicate, who = predication(ctx)
        ctx.used.append(predicate.name)
        phrase = state_of(who, predicate.build(ctx, who, False))
    ctx.close_clause()
    return phrase


def _role_swap(ctx, verb, liked, liker, negation=None):
    """Build a verb whose English subject is the indirect object in French."""
    english = verb_group(verb, ctx.tense(True), liker, negation=negation)
    # the French verb agrees with the thing liked: conjugate again and keep the words' identity
    twin = verb_group(verb, _last_tense(ctx), liked, negation=negation)
    main, old = english.rest[-1], twin.rest[-1]
    helpers = (*english.first, *(e for e in english.rest if e is not main))
    for token in twin.french:
        token.sure = tuple(main if e is old else e for e in token.sure if e is old)
        if token.kind == "negation":
            nots = tuple(e for e in english.rest if e is not main)
            token.sure = nots if token.word != "ne" else ()
            token.possible = nots if token.word == "ne" else ()
        else:
            will = tuple(e for e in helpers if e.word in ("will", "would"))
            token.sure = (*will, *token.sure)
            token.possible = tuple(e for e in helpers if e.word in ("do", "does", "did"))
    return english, twin


def _last_tense(ctx):
    return ctx.tense(True)  # one tense for each time: the two sides agree


def _to(whom: Nominal) -> list[French]:
    return after_preposition(French("à", "preposition", (), whom.english[:1]), whom)


@whole
def like(ctx):
    """The girl likes the book: "le livre plaît à la fille"."""
    return _like(ctx, None)


@whole
def like_not(ctx):
    """The girl does not like the book: "le livre ne plaît pas à la fille"."""
    return _like(ctx, negate("not"))


def _like(ctx, negation):
    liker = noun_phrase(ctx, "p")
    kind = ctx.dice.pick("cthlv")
    liked = noun_phrase(ctx, kind, kind="the", depth=0)
    english, french = _role_swap(ctx, verbs.LIKE, liked, liker, negation)
    return Phrase(
        [*liker.english, *english.first, *english.rest, *liked.english],
        [*liked.french, *french.french, *_to(liker)],
    )


@whole
def like_clitic(ctx):
    """She likes the book: "le livre lui plaît"."""
    return _swap_clitic(ctx, verbs.LIKE, noun_phrase(ctx, ctx.dice.pick("cthlv"), kind="the"))


@whole
def miss(ctx):
    """The boy misses the queen: "la reine manque au garçon"."""
    missed = proper(ctx) if ctx.dice.chance(0.4) else noun_phrase(ctx, "p", kind="the", depth=0)
    who = noun_phrase(ctx, "p")
    english, french = _role_swap(ctx, verbs.MISS, missed, who)
    return Phrase(
        [*who.english, *english.first, *english.rest, *missed.english],
        [*missed.french, *french.french, *_to(who)],
    )


@whole
def miss_clitic(ctx):
    """She misses the king: "le roi lui manque"."""
    missed = proper(ctx) if ctx.dice.chance(0.4) else noun_phrase(ctx, "p", kind="the", depth=0)
    return _swap_clitic(ctx, verbs.MISS, missed)


def _swap_clitic(ctx, verb, thing):
    forms = {"i": (0, "me"), "he": (2, "lui"), "she": (2, "lui"), "we": (3, "nous")}
    word = ctx.dice.pick(tuple(forms))
    person, dative = forms[word]
    e = English(word)
    liker = Nominal([e], [], person, False, person == 3, "p")
    english, french = _role_swap(ctx, verb, thing, liker)
    clitic = French(dative, "clitic", (e,))
    return Phrase(
        [e, *english.first, *english.rest, *thing.english],
        [*thing.french, clitic, *french.french],
    )


@whole
def miss_train(ctx):
    """She missed the train: "elle a raté le train"."""
    who = subject(ctx, "p")
    group = verb_group(verbs.MISS_TRAIN, ctx.tense(), who)
    train = next(n for n in nouns_of("v") if n.english[0] in ("train",))
    thing = noun_phrase(ctx, "v", noun=train, kind="the", depth=0)
    return state_of(who, group.add(thing.english, thing.french))


@whole
def passive(ctx):
    """The house was sold: "on a vendu la maison"."""
    return _passive(ctx, None)


@whole
def passive_not(ctx):
    """The house was not sold: "on n'a pas vendu la maison"."""
    return _passive(ctx, negate("not"))


def _passive(ctx, negation):
    verb = ctx.dice.pick(
        [v for v in verbs.TRANSITIVE if v.base in (
            "find", "sell", "buy", "open", "close", "break", "clean", "forget", "eat", "wash",
            "invite", "hide", "write")]
    )  # fmt: skip
    thing = object_of(ctx, verb, kind="the")
    tense = {"present": "past", "past": "past", "future": "future"}.get(ctx.time, ctx.tense())
    will = "would" if tense == "conditional" else "will"
    done = English(english_forms(verb.english)[3])
    if tense == "past":
        helpers = [English("were" if thing.plural else "was")]
        group = verb_group(verb, tense, ON, negation=negation)
    else:
        helpers = [English(will), English("be")]
        group = verb_group(verb, tense, ON, negation=negation)
    for token in group.french:
        if token.kind == "auxiliary":
            token.sure, token.possible = (helpers[0],), ()
        elif token.kind == "verb":
            token.sure = (*helpers[:-1], done) if tense != "past" else (done,)
            token.possible = helpers[-1:] if tense != "past" else ()
    nots = negation.english if negation else []
    on = French("on", "pronoun", (), (helpers[-1],))
    return Phrase(
        [*thing.english, helpers[0], *nots, *helpers[1:], done],
        [on, *group.french, *thing.french],
    )


@whole
def there_is(ctx):
    """There is a cat in the garden: "il y a un chat dans le jardin"."""
    return _there(ctx, None)


@whole
def there_is_not(ctx):
    """There is not a cat in the garden: "il n'y a pas de chat dans le jardin"."""
    return _there(ctx, negate("not"))


def _there(ctx, negation):
    thing = noun_phrase(ctx, "paov", kind="a", plural=ctx.dice.chance(0.4), negated=bool(negation))
    there = English("there")
    tense = ctx.tense(True)
    shape = Nominal([], [], 5 if thing.plural else 2)
    english = verb_group(verbs.BE, tense, shape, negation=negation)
    form = verb_group(verbs.BE_HAVE, tense, ON).french[0]
    main = english.first[0] if english.first else english.rest[-1]
    be = english.rest[-1] if tense in ("future", "conditional") else main
    form.sure = (main,) if be is main else (main, be)
    form.possible = (there,)
    y = French("y", "clitic", (there,), form.sure)
    il = French("il", "pronoun", (), (there,))
    if negation:
        french = [il, negation.ne, y, form, negation.second]
    else:
        french = [il, y, form]
    where = place(ctx)
    return Phrase(
        [there, *english.first, *english.rest, *thing.english, *where.english],
        [*french, *thing.french, *where.french],
    )


@whole
def weather(ctx):
    """It is cold: "il fait froid"."""
    word, french = ctx.dice.pick((("cold", "froid"), ("hot", "chaud")))
    it, e = English("it"), English(word)
    tense = ctx.tense(True)
    group = verb_group(verbs.BE_DO, tense, ON)
    il = French("il", "pronoun", (it,))
    where = place(ctx) if ctx.extend() else Phrase([], [])
    return Phrase(
        [it, *group.first, *group.rest, e, *where.english],
        [il, *group.french, French(french, "adjective", (e,)), *where.french],
    )


@whole
def cleft(ctx):
    """It is the king who sings: "c'est le roi qui chante"."""
    it, be = English("it"), English("is")
    who = noun_phrase(ctx, "p", plural=False, depth=1)
    group = PREDICATES[0].build(ctx, who, False)
    word = English("who")
    return Phrase(
        [it, be, *who.english, word, *group.first, *group.rest],
        [
            French("ce", "pronoun", (it,), (), "c'"),
            French("est", "verb", (be,)),
            *who.french,
            French("qui", "relative", (word,)),
            *group.french,
        ],
    )


@whole
def cleft_object(ctx):
    """It is the king that she sees: "c'est le roi qu'elle voit"."""
    it, be, that = English("it"), English("is"), English("that")
    verb = ctx.dice.pick(verbs.TRANSITIVE)
    thing = object_of(ctx, verb, plural=False, depth=0)
    who = subject(ctx, "p", 0.6, relative=False)
    group = verb_group(verb, ctx.tense(), who, agree=(thing.feminine, thing.plural))
    return Phrase(
        [it, be, *thing.english, that, *who.english, *group.first, *group.rest],
        [
            French("ce", "pronoun", (it,), (), "c'"),
            French("est", "verb", (be,)),
            *thing.french,
            French("que", "relative", (that,)),
            *who.french,
            *group.french,
        ],
    )


@whole
def coordinated_subject(ctx):
    """The boy and the girl sing: "le garçon et la fille chantent"."""
    one, two = rich_phrase(ctx, "p", relative=False), rich_phrase(ctx, "p", relative=False)
    word = English("and")
    both = Nominal(
        [*one.english, word, *two.english],
        [*one.french, French("et", "conjunction", (word,)), *two.french],
        5, one.feminine and two.feminine, True, "p",
    )  # fmt: skip
    ctx.fresh.append((True, both.feminine, "p"))
    predicate = ctx.dice.pick([p for p in PREDICATES if p.kinds == "p"])
    ctx.used.append(predicate.name)
    return state_of(both, predicate.build(ctx, both, False))


@whole
def coordinated_object(ctx):
    """She sees the boy and the girl."""
    who = subject(ctx, "p")
    verb = any_transitive(ctx, who)
    one, two = object_of(ctx, verb), object_of(ctx, verb)
    word = English("and")
    group = with_object(verb_group(verb, ctx.tense(), who), verb, one)
    french = two.french
    if verb.french_prep:
        french = after_preposition(French(verb.french_prep, "preposition", (), (word,)), two)
    return state_of(
        who, group.add([word, *two.english], [French("et", "conjunction", (word,)), *french])
    )


@whole
def coordinated_verbs(ctx):
    """She sings and dances."""
    who = subject(ctx, "p")
    word, tense = English("and"), ctx.tense()
    one, two = ctx.dice.pick(verbs.INTRANSITIVE), ctx.dice.pick(verbs.TRANSITIVE)
    first = verb_group(one, tense, who)
    thing = object_of(ctx, two)
    second = with_object(verb_group(two, tense, who), two, thing)
    return state_of(
        who,
        first.add(
            [word, *second.first, *second.rest],
            [French("et", "conjunction", (word,)), *second.french],
        ),
    )


@whole
def river_bank(ctx):
    """The bank of the river is quiet: "la rive de la rivière est tranquille"."""
    return _scenery(ctx)


def _scenery(ctx):
    the, e, of = English("the"), English("bank"), English("of")
    river = next(n for n in nouns_of("n") if n.english[0] == "river")
    whole_ = noun_phrase(ctx, "n", noun=river, kind="the", depth=0, plural=False)
    french = [article(e, True, False, the), French("rive", "noun", (e,), (), "")]
    french += after_preposition(French("de", "preposition", (of,)), whole_)
    bank = Nominal([the, e, of, *whole_.english], french, 2, True, False, "l")
    predicate = next(p for p in STATES if p.name == "copula")
    return state_of(bank, predicate.build(ctx, bank, False))


@whole
def light(ctx):
    """The light of the house is beautiful; a light bag is another matter."""
    who = subject(ctx, "p")
    verb = ctx.dice.pick([v for v in verbs.TRANSITIVE if v.base in ("see", "admire")])
    thing = noun_phrase(ctx, "x", noun=LIGHT, kind="the", depth=0, plural=False)
    return state_of(who, verb_group(verb, ctx.tense(), who).add(thing.english, thing.french))


def say(ctx: Context, inner, bare: bool) -> Phrase:
    """She says (that) the king sings: French always says "que"."""
    who = subject(ctx, "p", 0.5, relative=False)
    verb = ctx.dice.pick((verbs.SAY, verbs.KNOW_FACT, verbs.THINK, verbs.BELIEVE))
    group = verb_group(verb, ctx.tense(True), who)
    that = [] if bare else [English("that")]
    ctx.close_clause()
    phrase = inner(ctx)
    que = French("que", "conjunction", tuple(that), () if that else (group.rest[-1],))
    return Phrase(
        [*who.english, *group.first, *group.rest, *that, *phrase.english],
        [*who.french, *group.french, que, *phrase.french],
    )


