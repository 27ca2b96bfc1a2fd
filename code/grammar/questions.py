"""Questions, commands and exclamations."""

from __future__ import annotations

from . import verbs
from .clauses import predicated
from .conjugation import english_forms, french_forms
from .context import Nominal
from .groups import VerbGroup, negate, verb_group
from .lexicon import attributes_of, nouns_of
from .nouns import adjective_tokens, noun_phrase
from .predicates import PREDICATES, named, object_of, with_object
from .relatives import subject
from .sentences import VOCATIVES, chain, fixed, mark, question
from .tokens import English, French, Phrase

INVERTED = {"je": "-je", "tu": "-tu", "il": "-il", "elle": "-elle", "nous": "-nous",
            "vous": "-vous", "ils": "-ils", "elles": "-elles"}  # fmt: skip


ASKED = (
    "eat drink see find buy sell wash hear read write open close break wear carry lose clean cut"
)
FORBIDDEN = "eat drink buy sell wash follow read open close forget cut invite lose break"
COMMANDED = "eat drink find buy sell wash help follow read write open close forget cut invite"


def est_ce_que(*links: English) -> list[French]:
    """Write the words that turn a French statement into a question."""
    return [
        French("est-ce", "question", (), links),
        French("que", "question", (), links),
    ]


def invert(who: Nominal, group: VerbGroup) -> list[French]:
    """Put a subject pronoun behind its verb: "vois-tu", "a-t-il vu"."""
    (pronoun,) = who.french
    french = list(group.french)
    verb = french[group.finite].word
    word = INVERTED[pronoun.word]
    if verb[-1] in "aeé" and word in ("-il", "-elle"):
        word = "-t" + word
    pronoun.word, pronoun.before_vowel = word, ""
    french.insert(group.finite + 1, pronoun)
    return french


@question
def yes_no(ctx):
    """Does the girl see the cat: "est-ce que la fille voit le chat"."""
    who, group = predicated(
        ctx, PREDICATES, lambda kinds: subject(ctx, kinds, relative=False), ask=True
    )
    return Phrase(
        [*group.first, *who.english, *group.rest],
        [*est_ce_que(*group.first), *who.french, *group.french],
    )


@question
def inversion(ctx):
    """Madam, do you see the cat: "madame, voyez-vous le chat"."""
    call = addressed(ctx)
    e = English("you")
    who = ctx.you._replace(
        english=[e],
        french=[French("tu" if ctx.you.person == 1 else "vous", "pronoun", (e,))],
    )
    options = [p for p in PREDICATES if p.kinds == "p"]
    _, group = predicated(ctx, options, lambda _: who, ask=True)
    asked = Phrase([*group.first, e, *group.rest], invert(who, group))
    return chain(call, mark(","), asked)


def addressed(ctx) -> Phrase:
    """Call on somebody, who is "you" from then on."""
    entry, person, feminine, plural = ctx.dice.pick(VOCATIVES)
    ctx.you = Nominal([], [], person, feminine, plural, "p")
    return fixed(entry)


@question
def where(ctx):
    """Where does the girl sing: "où chante la fille"."""
    e = English("where")
    verb = ctx.dice.pick(verbs.among(verbs.INTRANSITIVE, "sleep sing work swim dance eat"))
    who = noun_phrase(ctx, "p", kind="owner")
    group = verb_group(verb, ctx.tense(), who, ask=True)
    french = [*group.french, *who.french]
    if len(group.french) > 1:
        french = [*est_ce_que(*group.first), *who.french, *group.french]
    return Phrase(
        [e, *group.first, *who.english, *group.rest], [French("où", "question", (e,)), *french]
    )


@question
def what(ctx):
    """What does the girl eat: "que mange la fille"; "qu'est-ce que la fille a mangé"."""
    e = English("what")
    who = noun_phrase(ctx, "p", kind="owner")
    verb = ctx.dice.pick(verbs.among(verbs.TRANSITIVE, ASKED))
    group = verb_group(verb, ctx.tense(), who, ask=True)
    french = [*group.french, *who.french]
    if len(group.french) > 1:
        french = [*est_ce_que(*group.first), *who.french, *group.french]
    return Phrase(
        [e, *group.first, *who.english, *group.rest], [French("que", "question", (e,)), *french]
    )


@question
def who(ctx):
    """Who eats the apple: "qui mange la pomme"."""
    e = English("who")
    someone = Nominal([e], [French("qui", "question", (e,))], 2, False, False, "p")
    options = [p for p in PREDICATES if p.kinds == "p"]
    _, group = predicated(ctx, options, lambda _: someone)
    return Phrase([e, *group.first, *group.rest], [*someone.french, *group.french])


@question
def whom(ctx):
    """Who does the girl see: "qui est-ce que la fille voit"."""
    e = English("who")
    verb = ctx.dice.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    someone = subject(ctx, "p", relative=False)
    group = verb_group(verb, ctx.tense(), someone, ask=True)
    return Phrase(
        [e, *group.first, *someone.english, *group.rest],
        [
            French("qui", "question", (e,)),
            *est_ce_que(*group.first),
            *someone.french,
            *group.french,
        ],
    )


@question
def when(ctx):
    """When does the train leave: "quand le train part-il", with one more pronoun."""
    return _complex_inversion(ctx, "when", "quand")


@question
def why(ctx):
    """Why does the train leave: "pourquoi le train part-il"."""
    return _complex_inversion(ctx, "why", "pourquoi")


def _complex_inversion(ctx, english, french):
    e = English(english)
    ctx.time = ctx.dice.pick(("past", "future")) if english == "when" else ctx.time
    options = named("transitive", "motion", "arrival", "giving")
    someone = noun_phrase(ctx, "p", kind="owner")
    _, group = predicated(ctx, options, lambda _: someone, ask=True)
    word = ("elle" if someone.feminine else "il") + "s" * someone.plural
    twin = someone._replace(french=[French(word, "pronoun", (), someone.english[-1:])])
    return Phrase(
        [e, *group.first, *someone.english, *group.rest],
        [French(french, "question", (e,)), *someone.french, *invert(twin, group)],
    )


@question
def which(ctx):
    """Which apple did she eat: "quelle pomme est-ce qu'elle a mangée"."""
    e = English("which")
    verb = ctx.dice.pick(verbs.TRANSITIVE)
    noun = ctx.dice.pick(nouns_of(verb.objects))
    plural = not noun.mass and ctx.dice.chance(0.4)
    thing = noun_phrase(ctx, noun.kinds, noun=noun, plural=plural, kind="the", depth=0)
    thing.english.pop(0)
    thing.french.pop(0)
    word = ("quelle" if noun.feminine else "quel") + "s" * plural
    someone = subject(ctx, "p", relative=False)
    group = verb_group(verb, ctx.tense(), someone, ask=True, agree=(noun.feminine, plural))
    ctx.combinations.append((verb.base, noun.english[0]))
    return Phrase(
        [e, *thing.english, *group.first, *someone.english, *group.rest],
        [
            French(word, "question", (e,)),
            *thing.french,
            *est_ce_que(*group.first),
            *someone.french,
            *group.french,
        ],
    )


@question
def how_many(ctx):
    """How many apples did she eat: "combien de pommes est-ce qu'elle a mangées"."""
    how, many = English("how"), English("many")
    verb = ctx.dice.pick([v for v in verbs.TRANSITIVE if v.base != "drink"])
    noun = ctx.dice.pick([n for n in nouns_of(verb.objects) if not n.mass])
    thing = noun_phrase(ctx, noun.kinds, noun=noun, plural=True, kind="the", depth=0)
    thing.english.pop(0)
    thing.french.pop(0)
    someone = subject(ctx, "p", relative=False)
    group = verb_group(verb, ctx.tense(), someone, ask=True, agree=(noun.feminine, True))
    ctx.combinations.append((verb.base, noun.english[0]))
    return Phrase(
        [how, many, *thing.english, *group.first, *someone.english, *group.rest],
        [
            French("combien", "question", (how, many)),
            French("de", "preposition", (how, many)),
            *thing.french,
            *est_ce_que(*group.first),
            *someone.french,
            *group.french,
        ],
    )


def _command(ctx, negative):
    call = addressed(ctx)
    person = ctx.you.person
    verb = ctx.dice.pick(verbs.among(verbs.TRANSITIVE, FORBIDDEN if negative else COMMANDED))
    main = English(english_forms(verb.english)[0])
    form = french_forms(verb.french)["present"][person]
    if person == 1 and (verb.french.endswith("er") or verb.french == "ouvrir"):
        form = form[:-1]  # mange, without the s of tu manges
    token = French(form, "verb", (main,))
    negation = negate("not") if negative else None
    do = [English("do"), *negation.english] if negative else []
    token.possible = tuple(do[:1])
    french = [negation.ne, token, negation.second] if negative else [token]
    group = VerbGroup([], [*do, main], french, 0)
    group = with_object(group, verb, object_of(ctx, verb, negated=negative))
    return chain(call, mark(","), Phrase(group.rest, group.french))


def command(ctx):
    """Children, open the door: "les enfants, ouvrez la porte"."""
    return _command(ctx, False)


def command_not(ctx):
    """Children, do not open the door: "les enfants, n'ouvrez pas la porte"."""
    return _command(ctx, True)


def exclamation(ctx):
    """What a beautiful house: "quelle belle maison"."""
    what_, a = English("what"), English("a")
    noun = ctx.dice.pick(nouns_of("pachwltc"))
    head = English(noun.english[0])
    before = ctx.dice.chance(0.5) and attributes_of(noun, True)
    adjective = ctx.dice.pick(before or attributes_of(noun, False))
    e, f = adjective_tokens(adjective, noun.feminine, False, head, before=adjective.before)
    ctx.combinations.append((adjective.english, noun.english[0]))
    ctx.fresh.append((False, noun.feminine, noun.kinds))
    word = French("quelle" if noun.feminine else "quel", "determiner", (what_,), (a, head))
    name = French(noun.french[0], "noun", (head,), (), "")
    body = [f, name] if adjective.before else [name, f]
    return Phrase([what_, a, e, head], [word, *body])
