"""Predicates: intentions, coming and going, states; and the table of all of them.

One English verb may be several French ones: "leave" is partir, quitter or laisser.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from . import actions as act
from . import verbs
from .actions import OF_PERSONS, actor, object_of, with_object
from .groups import VerbGroup
from .lexicon import NOT_GRADED, NOUNS, adjectives_of, family_of
from .nouns import adjective_tokens, direct_clitic, noun_phrase, place
from .phrases import Phrase, weave
from .verbs import INTRANSITIVE, TRANSITIVE, among

VERY = ("very | très/adverb/0", "too | trop/adverb/0")
FEELINGS = (
    "hungry | faim/noun/0", "thirsty | soif/noun/0", "cold | froid/noun/0", "hot | chaud/noun/0",
    "right | raison/noun/0", "wrong | tort/noun/0",
)  # fmt: skip
AGES = (
    "ten years old | dix/determiner/0 ans/noun/1?2",
    "twelve years old | douze/determiner/0 ans/noun/1?2",
    "twenty years old | vingt/determiner/0 ans/noun/1?2",
)
WITH = ("with <whom> | avec/preposition/0 <whom>", "without <whom> | sans/preposition/0 <whom>")
PROFESSIONS = ("teacher", "doctor", "actress", "baker", "lawyer", "nurse", "student")
MEANT = among(  # what one does on purpose
    verbs.DOING,
    "eat drink see find buy sell wash help follow read write open close carry clean visit watch "
    "listen look answer phone invite",
)
ENDED = among(TRANSITIVE, "eat drink see find buy hear read understand")
MET = among(TRANSITIVE, "see find help follow watch invite meet")


class Predicate(NamedTuple):
    """A template for what is said of a subject of certain kinds."""

    name: str
    kinds: str
    event: bool  # something that happens at a time, not a lasting state
    build: Callable[..., VerbGroup | None]
    options: dict = {}  # noqa: RUF012 (read, never written)


# --- intentions ---------------------------------------------------------------------------------


def infinitive(s, clitic: bool = False, joint: str = "") -> Phrase | VerbGroup:
    """Write "to eat the apple" or "to see him".

    French has a `joint` for "to", which is then its translation, or the bare infinitive.
    """
    verb = s.ctx.pick(MET if clitic else MEANT)
    if clitic:
        him = direct_clitic(s.ctx, "p", s.who)
        return weave(f"to {verb.base} <him> | <him> {verb.french}/verb/1?0", him=him)
    links = "1" if joint else "1?0"
    joint = f"{joint}/preposition/0 " if joint else ""
    eat = weave(f"to {verb.base} | {joint}{verb.french}/verb/{links}")
    group = with_object(VerbGroup([], *eat, 0), verb, object_of(s.ctx, verb, depth=0))
    return Phrase(group.rest, group.french)


def _want(s, clitic=False, negation=""):
    if s.ctx.time == "future":  # "je voudrai" is hardly French
        return None
    return s.verb(verbs.WANT, negation=negation).add(infinitive(s, clitic))


def attempt(s):
    verb = s.ctx.pick((verbs.TRY, verbs.BEGIN, verbs.FORGET, verbs.REFUSE))
    return s.verb(verb).add(infinitive(s, joint="à" if verb is verbs.BEGIN else "de"))


# --- coming, going and staying ------------------------------------------------------------------


def elsewhere(build):
    """Let a predicate say where, unless the clause has done so."""
    return lambda s: None if s.ctx.placed else build(s)


@elsewhere
def motion(s):
    verb = s.ctx.pick((verbs.GO, verbs.GO, verbs.COME))
    where = place(s.ctx, going=True, kinds=actor(s.who))
    return s.verb(verb).add(where)


motion_not = elsewhere(lambda s: s.verb(verbs.GO, negation="not").add(place(s.ctx, going=True)))
living_in = elsewhere(lambda s: s.verb(verbs.INHABIT).add(place(s.ctx, options="tchh")))


@elsewhere
def leaving_place(s):
    thing = object_of(s.ctx, verbs.QUIT, depth=0)
    return s.verb(verbs.QUIT).add(thing)


@elsewhere
def leaving_behind(s):
    thing = object_of(s.ctx, verbs.FORGET_BEHIND, depth=0)
    group = s.verb(verbs.FORGET_BEHIND).add(thing)
    return group.add(place(s.ctx, options="tss"))


@elsewhere
def copula_place(s):
    kinds = "a" if s.who.kinds == "a" else "p"
    where = place(s.ctx, kinds=kinds, options="tcbvss" if "p" in s.who.kinds else "tss")
    return s.verb(verbs.BE).add(where)


# --- states -------------------------------------------------------------------------------------


def _copula(s, negation=""):
    ctx, subject = s.ctx, s.who
    group = s.verb(verbs.BE, negation=negation)
    # nothing is said twice: "it is not heavy, so it is heavy"
    said = [*(e.word for e in subject.english), *ctx.said, *(a for a, _ in ctx.combinations)]
    over = frozenset(["good"]).union(*map(family_of, said))
    options = [a for a in adjectives_of(subject.kinds) if a.english not in over]
    if not options:
        return None
    adjective = ctx.pick(options)
    ctx.said.append(adjective.english)
    e, f = adjective_tokens(adjective, subject.feminine, subject.plural)
    if not negation and e.word not in NOT_GRADED and ctx.chance(0.3):
        group = group.add(weave(ctx.pick(VERY)))
    return group.add(Phrase([e], [f]))


def profession(s):
    if s.who.noun in PROFESSIONS:  # the doctor is a doctor
        return None
    names = [name for name in PROFESSIONS if NOUNS[name].feminine == s.who.feminine]
    noun, plural = NOUNS[s.ctx.pick(names)], s.who.plural
    english, french = noun.english[plural], noun.french[plural]
    entry = f"{english} | {french}/noun/0" if plural else f"a {english} | {french}/noun/1"
    return s.verb(verbs.BE).add(weave(entry))


def _compare(s, negation=""):
    options = [a for a in adjectives_of(s.who.kinds) if a.graded or a.english in (
        "expensive", "famous", "beautiful", "tired", "strange")]  # fmt: skip
    adjective = s.ctx.pick(options)
    form = adjective.form(s.who.feminine, s.who.plural)
    kinds = next(kind for kind in s.who.kinds if kind in adjective.kinds)
    kind = "my" if kinds == "q" else s.ctx.pick(("the", "this", "my"))
    other = noun_phrase(s.ctx, kinds, kind=kind, depth=0, plain=True)
    if other.english[-1].word == s.who.english[-1].word:
        return None
    english, main = adjective.graded, 0
    if not english:  # two English words for two
        english, main = f"more {adjective.english}", 1
    entry = f"plus/adverb/0 {form}/adjective/{main} que/conjunction/{main + 1} <other>"
    group = s.verb(verbs.BE, negation=negation)
    return group.add(weave(f"{english} than <other> | {entry}", other=other))


def _has(s, entries, negation=""):
    return s.verb(verbs.BE_HAVE, negation=negation).add(weave(s.ctx.pick(entries)))


def _having(s, negation="", **options):
    thing = object_of(s.ctx, verbs.HAVE, negated=bool(negation), **options)
    return s.verb(verbs.HAVE, negation=negation).add(thing)


def feeling_for(s):
    verb = s.ctx.pick(verbs.STATIVE)
    return with_object(s.verb(verb), verb, object_of(s.ctx, verb, kind="the", depth=0))


def living_with(s):
    entry, whom = s.ctx.pick(WITH), noun_phrase(s.ctx, "p")
    return s.verb(verbs.LIVE).add(weave(entry, whom=whom))


def afraid(s):
    group, thing = s.verb(verbs.BE_HAVE), noun_phrase(s.ctx, "pa")
    return group.add(weave("afraid of <it> | peur/noun/0 de/preposition/1 <it>", it=thing))


def needing(s):
    thing, group = object_of(s.ctx, verbs.NEED), s.verb(verbs.NEED)
    entry = "<it> | besoin/noun/need de/preposition/?need <it>"
    return group.add(weave(entry, it=thing, need=group.last))


def know_how(s):
    verb = s.ctx.pick(among(INTRANSITIVE, "sing dance swim cook read"))
    swim = weave(f"how to {verb.base} | {verb.french}/verb/2?1")
    group = s.verb(verbs.KNOW_FACT)
    group.french[group.finite].possible += (swim.english[0],)
    return group.add(swim)


def letting(s):
    making = s.ctx.pick((verbs.MAKE, verbs.LET))
    verb = s.ctx.pick(among(INTRANSITIVE, "sleep sing dance work eat cry run"))
    whom = noun_phrase(s.ctx, "p")
    return s.verb(making).add(weave(f"<whom> {verb.base} | {verb.french}/verb/0 <whom>", whom=whom))


THINGS = "pactvhlouni"
TO_WHOM = "<thing> to <whom> | <thing> à/preposition/0 <whom>"
WHOM = "<whom> <thing> | <thing> à/preposition/?main <whom>"
PREDICATES = [
    Predicate(*row)
    for row in (
        ("intransitive", "pa", True, act.intransitive),  # the dog sleeps
        ("manner", "p", False, act.manner),  # she sings well: elle chante bien, elle a bien chanté
        ("manner_not", "p", True, act.manner_not),  # he does not read slowly
        ("manner_like", "p", True, act.manner_like),  # she sings like a bird: comme un oiseau
        ("transitive", "pa", True, act.transitive),  # the girl eats the apple
        ("transitive_not", "pa", True, act.negated_action, {"negation": "not"}),
        # elle ne mange jamais de viande
        ("transitive_never", "p", False, act.negated_action, {"negation": "never", "plain": True}),
        ("transitive_longer", "p", False, act.transitive_longer),  # elle ne mange plus de viande
        # he saw nothing: il n'a rien vu
        ("nothing", "p", True, lambda s: s.plain(s.ctx.pick(ENDED), negation="nothing")),
        # he saw nobody: il n'a vu personne
        ("nobody", "p", True, lambda s: s.plain(s.ctx.pick(OF_PERSONS), negation="nobody")),
        ("only", "p", True, act.only),  # he eats only bread: il ne mange que du pain
        ("frequency", "p", False, act.frequency),  # elle aide souvent le roi
        ("just_done", "p", True, act.just_done),  # she has just eaten it: elle vient de manger ...
        ("reflexive_action", "p", True, act.reflexive_action),  # she gets up: elle se lève
        ("each_other", "p", True, act.each_other),  # they love each other: ils s'aiment
        ("playing_sport", "p", True, act.playing, {"entries": act.SPORTS}),  # elle joue au football
        # elle joue du piano
        ("playing_music", "p", True, act.playing, {"entries": act.INSTRUMENTS}),
        # she worked for two hours: elle a travaillé pendant deux heures
        ("duration_closed", "p", True, act.duration, {"preposition": "pendant"}),
        # she has worked for two hours: elle travaille depuis deux heures
        ("duration_open", "p", False, act.duration, {"preposition": "depuis", "tense": "since"}),
        # she loves him: elle l'aime
        ("clitic_state", "p", False, act.with_clitic, {"plain": True, "table": verbs.STATIVE}),
        ("clitic", "p", True, act.with_clitic),  # she sees him: elle le voit
        ("clitic_not", "p", True, act.with_clitic, {"negation": "not"}),  # elle ne le voit pas
        # she never saw him: elle ne l'a jamais vu
        ("clitic_never", "p", False, act.with_clitic, {"negation": "never", "plain": True}),
        ("clitic_frequency", "p", False, act.clitic_frequency),  # il l'aidera toujours
        ("clitic_near", "p", True, act.clitic_near),  # he is going to help her: il va l'aider
        ("giving", "p", True, act.giving, {"entry": TO_WHOM}),  # he gives the book to the queen
        ("giving_double", "p", True, act.giving, {"entry": WHOM}),  # he gives the queen the book
        ("giving_clitic", "p", True, act.giving_clitic),  # il lui donne le livre
        ("giving_clitic_not", "p", True, act.giving_clitic, {"negation": "not"}),
        ("two_clitics", "p", True, act.two_clitics),  # il achète une tasse et la lui donne
        ("want", "p", False, _want),  # she wants to eat the apple: elle veut manger la pomme
        ("want_clitic", "p", False, _want, {"clitic": True}),  # elle veut le voir
        ("want_not", "p", False, _want, {"negation": "not"}),
        # she has to eat the apple: elle doit manger la pomme
        ("must", "p", False, lambda s: s.verb(verbs.MUST).add(infinitive(s))),
        ("attempt", "p", True, attempt),  # she tries to open the box: elle essaie d'ouvrir ...
        ("motion", "pa", True, motion),  # she went to the garden: elle est allée dans le jardin
        ("motion_not", "p", True, motion_not),  # elle n'est pas allée au Japon
        # the train leaves: le train part
        ("arrival", "pav", True, lambda s: s.verb(s.ctx.pick((verbs.LEAVE, verbs.ARRIVE)))),
        # she stayed in the garden
        ("staying", "p", True, elsewhere(lambda s: s.verb(verbs.STAY).add(place(s.ctx)))),
        ("leaving_place", "p", True, leaving_place),  # she left the village: elle a quitté ...
        ("leaving_behind", "p", True, leaving_behind),  # he left the key in the house: il a laissé
        ("copula", THINGS, False, _copula),  # the house is beautiful
        ("copula_thing", "octwuhlnti", False, _copula),  # the key is heavy; it is heavy
        ("copula_not", THINGS, False, _copula, {"negation": "not"}),
        ("profession", "p", False, profession),  # she is a teacher: elle est professeur
        ("copula_place", "pao", False, copula_place),  # the key is in the garden
        ("comparative", "pacvhl", False, _compare),  # la reine est plus grande que le roi
        ("comparative_not", "pacvhl", False, _compare, {"negation": "not"}),
        ("feeling", "p", False, _has, {"entries": FEELINGS}),  # she is hungry: elle a faim
        ("feeling_not", "p", False, _has, {"entries": FEELINGS, "negation": "not"}),
        ("age", "p", False, _has, {"entries": AGES}),  # she is ten years old: elle a dix ans
        ("afraid", "p", False, afraid),  # she is afraid of the dog: elle a peur du chien
        ("having", "p", False, _having),  # he has a car
        # he does not have a car: il n'a pas de voiture
        ("having_not", "p", False, _having, {"negation": "not", "kind": "a", "depth": 0}),
        ("needing", "p", False, needing),  # he needs the key: il a besoin de la clé
        ("feeling_for", "p", False, feeling_for),  # she knows the king, loves him, hates cheese
        ("living_in", "p", False, living_in),  # she lives in Paris: elle habite à Paris
        ("living_with", "p", False, living_with),  # she lives with her sister: elle vit avec ...
        ("know_how", "p", False, know_how),  # she knows how to swim: elle sait nager
        ("letting", "p", True, letting),  # she makes the child laugh: elle fait rire l'enfant
    )
]
EVENTS = [predicate for predicate in PREDICATES if predicate.event]


@cache
def named(*names: str) -> list[Predicate]:
    """Pick predicates by name, in the order of the list."""
    return [predicate for predicate in PREDICATES if predicate.name in names]
