"""Questions, commands and exclamations."""

from __future__ import annotations

from . import verbs
from .actions import object_of, with_object
from .groups import VerbGroup, verb_group
from .lexicon import attributes_of, nouns_of
from .nouns import adjective_tokens, il, noun_phrase, you
from .phrases import Nominal, Phrase, weave
from .predicates import PREDICATES, named
from .relatives import subject
from .sentences import addressed, chain, predicated

ASKED = (
    "eat drink see find buy sell wash hear read write open close break wear carry lose clean cut"
)
FORBIDDEN = "eat drink buy sell wash follow read open close forget cut invite lose break"
COMMANDED = "eat drink find buy sell wash help follow read write open close forget cut invite"
OF_PERSONS = [p for p in PREDICATES if p.kinds == "p"]
# The English auxiliary is what "est-ce que" stands for.
EST_CE_QUE = "est-ce/question/?does.first que/question/?does.first <who> <does>"


def invert(who: Nominal | Phrase, group: VerbGroup) -> Phrase:
    """Put a subject pronoun behind its verb: "vois-tu", "a-t-il vu"."""
    (token,) = who.french
    french = list(group.french)
    vowel = french[group.finite].word[-1] in "aeé" and token.word in ("il", "elle")
    token.word, token.before_vowel = f"-t-{token.word}" if vowel else f"-{token.word}", ""
    french.insert(group.finite + 1, token)
    return Phrase([], french)


def yes_no(ctx):
    who, group = predicated(
        ctx, PREDICATES, lambda kinds: subject(ctx, kinds, relative=False), ask=True
    )
    return weave(f"<does.first> <who> <does.rest> | {EST_CE_QUE}", who=who, does=group)


def inversion(ctx):
    call, who = addressed(ctx), you(ctx)
    _, group = predicated(ctx, OF_PERSONS, lambda _: who, ask=True)
    entry = "<call> <does.first> <who> <does.rest> | <call> <asked>"
    return weave(entry, call=call, who=who, does=group, asked=invert(who, group))


def _simple(who: Nominal, verb: verbs.Verb, tense: str, words: str) -> Phrase:
    """Ask with a question word; the subject follows a verb of one word."""
    group = verb_group(verb, tense, who, ask=True)
    order = "<does> <who>" if len(group.french) == 1 else EST_CE_QUE
    english, french = words.split("/", 1)
    entry = f"{english} <does.first> <who> <does.rest> | {french} {order}"
    return weave(entry, who=who, does=group)


def where(ctx):
    verb = ctx.pick(verbs.among(verbs.INTRANSITIVE, "sleep sing work swim dance eat"))
    who = noun_phrase(ctx, "p", kind="owner")
    return _simple(who, verb, ctx.tense(), "where/où/question/0")


def what(ctx):
    who = noun_phrase(ctx, "p", kind="owner")
    verb = ctx.pick(verbs.among(verbs.TRANSITIVE, ASKED))
    return _simple(who, verb, ctx.tense(), "what/que/question/0")


def who(ctx):
    someone = Nominal(*weave("who | qui/question/0"), kinds="p")
    _, group = predicated(ctx, OF_PERSONS, lambda _: someone)
    return chain(someone, group)


def whom(ctx):
    verb = ctx.pick(verbs.verbs_for(verbs.TRANSITIVE, "p", "objects"))
    someone = subject(ctx, "p", relative=False)
    group = verb_group(verb, ctx.tense(), someone, ask=True)
    entry = f"who <does.first> <who> <does.rest> | qui/question/0 {EST_CE_QUE}"
    return weave(entry, who=someone, does=group)


def when(ctx):
    ctx.time = ctx.pick(("past", "future"))
    return _complex_inversion(ctx, "when", "quand")


def why(ctx):
    return _complex_inversion(ctx, "why", "pourquoi")


def _complex_inversion(ctx, english, french):
    """Name the subject and put its pronoun behind the verb: "le train part-il"."""
    options = named("transitive", "motion", "arrival", "giving")
    who = noun_phrase(ctx, "p", kind="owner")
    _, group = predicated(ctx, options, lambda _: who, ask=True)
    word = il(who.feminine, who.plural)
    twin = weave(f" | {word}/pronoun/?noun", noun=who.english[-1])
    entry = f"{english} <does.first> <who> <does.rest> | {french}/question/0 <who> <asked>"
    return weave(entry, who=who, does=group, asked=invert(twin, group))


def _asked_for(ctx, verb, noun, plural, english, french):
    """Ask for the object: "quelle pomme est-ce qu'elle a mangée"."""
    thing = noun_phrase(ctx, noun, plural=plural, kind="the", depth=0)
    thing.english.pop(0)
    thing.french.pop(0)
    who = subject(ctx, "p", relative=False)
    group = verb_group(verb, ctx.tense(), who, ask=True, agree=(noun.feminine, plural))
    ctx.combinations.append((verb.base, noun.english[0]))
    entry = f"{english} <thing> <does.first> <who> <does.rest> | {french} <thing> {EST_CE_QUE}"
    return weave(entry, thing=thing, who=who, does=group)


def which(ctx):
    verb = ctx.pick(verbs.TRANSITIVE)
    noun = ctx.pick(nouns_of(verb.objects))
    plural = not noun.mass and ctx.chance(0.4)
    word = ("quelle" if noun.feminine else "quel") + "s" * plural
    return _asked_for(ctx, verb, noun, plural, "which", f"{word}/question/0")


def how_many(ctx):
    verb = ctx.pick([v for v in verbs.TRANSITIVE if v.base != "drink"])
    noun = ctx.pick([n for n in nouns_of(verb.objects) if not n.mass])
    french = "combien/question/0,1 de/preposition/0,1"
    return _asked_for(ctx, verb, noun, True, "how many", french)


def command(ctx, negation=False):
    """Children, open the door: "les enfants, ouvrez la porte"."""
    call, person = addressed(ctx), ctx.you.person
    verb = ctx.pick(verbs.among(verbs.TRANSITIVE, FORBIDDEN if negation else COMMANDED))
    form = verbs.french_forms(verb.french)["present"][person]
    if person == 1 and (verb.french.endswith("er") or verb.french == "ouvrir"):
        form = form[:-1]  # mange, without the s of tu manges
    entry = f"{verb.base} | {form}/verb/0"
    if negation:
        entry = f"do not {verb.base} | ne/negation/?1 {form}/verb/2?0 pas/negation/1"
    thing = object_of(ctx, verb, negated=negation)
    return chain(call, with_object(VerbGroup([], *weave(entry), 0), verb, thing))


def command_not(ctx):
    """Children, do not open the door: "les enfants, n'ouvrez pas la porte"."""
    return command(ctx, negation=True)


def exclamation(ctx):
    """What a beautiful house: "quelle belle maison"."""
    noun = ctx.pick(nouns_of("pachwltc"))
    before = ctx.chance(0.5) and attributes_of(noun, True)
    adjective = ctx.pick(before or attributes_of(noun, False))
    ctx.combinations.append((adjective.english, noun.english[0]))
    ctx.fresh.append((False, noun.feminine, noun.kinds))
    (head,), house = weave(f"{noun.english[0]} | {noun.french[0]}/noun/0")
    e, f = adjective_tokens(adjective, noun.feminine, False, head, before=adjective.before)
    body = Phrase([e, head], [f, *house] if adjective.before else [*house, f])
    word = "quelle" if noun.feminine else "quel"
    return weave(f"what a <body> | {word}/determiner/0?1,head <body>", body=body, head=head)


QUESTIONS = (
    yes_no,  # does the girl see the cat: est-ce que la fille voit le chat
    inversion,  # madam, do you see the cat: madame, voyez-vous le chat
    where,  # where does the girl sing: où chante la fille
    what,  # what does the girl eat: que mange la fille; qu'est-ce que la fille a mangé
    who,  # who eats the apple: qui mange la pomme
    whom,  # who does the girl see: qui est-ce que la fille voit
    when,  # when does the train leave: quand le train part-il, with one more pronoun
    why,
    which,  # which apple did she eat: quelle pomme est-ce qu'elle a mangée
    how_many,  # combien de pommes est-ce qu'elle a mangées
)
COMMANDS = (command, command_not, exclamation)
