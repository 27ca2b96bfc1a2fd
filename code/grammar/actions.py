"""What somebody does: predicates with objects, adverbs, negations and object pronouns.

A predicate is a template: a function of a `Saying` which gives the verb group with everything that
follows it, or None where the subject or the text so far does not allow it.
"""

from __future__ import annotations

from typing import NamedTuple

from . import verbs
from .groups import VerbGroup, verb_group
from .lexicon import nouns_of
from .nouns import (
    direct_clitic,
    indirect_clitic,
    le,
    noun_phrase,
    place,
    reflexive,
)  # fmt: skip
from .phrases import Context, English, Nominal, Phrase, weave
from .relatives import rich_phrase
from .verbs import INTRANSITIVE, TRANSITIVE, Table, Verb, among, verbs_for

OFTEN = ("often | souvent/adverb/0", "always | toujours/adverb/0")
WELL = ("well | bien/adverb/0", "badly | mal/adverb/0")
SLOWLY = ("slowly | lentement/adverb/0", "quickly | vite/adverb/0")
LIKE = (("sing", "bird", "oiseau"), ("run", "horse", "cheval"), ("run", "rabbit", "lapin"),
        ("eat", "bird", "oiseau"), ("eat", "king", "roi"), ("sleep", "cat", "chat"),
        ("sleep", "child", "enfant"))  # fmt: skip
SPORTS = (
    "football | à/preposition/?main le/determiner/?0 football/noun/0",
    "tennis | à/preposition/?main le/determiner/?0 tennis/noun/0",
    "chess | à/preposition/?main les/determiner/?0 échecs/noun/0",
    "cards | à/preposition/?main les/determiner/?0 cartes/noun/0",
)
INSTRUMENTS = (
    "the piano | de/preposition/?main le/determiner/0?1 piano/noun/1",
    "the guitar | de/preposition/?main la/determiner/0?1 guitare/noun/1",
    "the violin | de/preposition/?main le/determiner/0?1 violon/noun/1",
)
SPANS = (("two", "deux"), ("three", "trois"), ("four", "quatre"))
UNITS = (("hours", "heures"), ("days", "jours"))
LASTING = among(INTRANSITIVE, "work sleep sing dance cry travel")
DULL = among(INTRANSITIVE, "read eat work run")
OF_PERSONS = verbs_for(TRANSITIVE, "p", "objects")


class Saying(NamedTuple):
    """Of whom something is to be said, and whether it stands in a question."""

    ctx: Context
    who: Nominal
    ask: bool

    def verb(self, verb: Verb, tense: str = "", **options) -> VerbGroup:
        """Conjugate a verb, in a tense that suits the time unless one is given."""
        tense = tense or self.ctx.tense(verb.stative)
        return verb_group(verb, tense, self.who, ask=self.ask, **options)

    def plain(self, verb: Verb, **options) -> VerbGroup:
        """Conjugate a verb in the plainest tense."""
        return self.verb(verb, self.ctx.tense(plain=True), **options)

    def habit(self) -> str:
        """Choose a tense for what happens again and again."""
        used = self.ctx.time == "past" and not self.ask
        return "used_to" if used else self.ctx.tense(plain=True)


def actor(subject: Nominal) -> str:
    """Tell whether a person or an animal acts."""
    return "p" if "p" in subject.kinds else "a"


def any_transitive(ctx: Context, subject: Nominal) -> Verb:
    """Pick a verb with an object that this subject can have."""
    table = ctx.pick((TRANSITIVE, TRANSITIVE, verbs.UNEVEN))
    verb = ctx.pick(verbs_for(table, actor(subject), "subjects"))
    # in the garden nobody visits the museum
    return any_transitive(ctx, subject) if ctx.placed and verb.base == "visit" else verb


def object_of(ctx: Context, verb: Verb, who: Nominal | None = None, **options) -> Nominal:
    """Choose what a verb is done to; an animal deals with people, animals and food."""
    kinds = verb.objects
    if who is not None and actor(who) == "a":
        kinds = "".join(kind for kind in kinds if kind in "pafg")
    noun = options.pop("noun", None) or ctx.pick(nouns_of(kinds))
    while who is not None and noun.english[0] == who.noun:
        noun = ctx.pick(nouns_of(kinds))
    ctx.combinations.append((f"{verb.base} {verb.english_prep}".strip(), noun.english[0]))
    phrase = noun_phrase if options.get("depth") == 0 else rich_phrase
    return phrase(ctx, noun, **options)


def with_object(group: VerbGroup, verb: Verb, thing: Nominal) -> VerbGroup:
    """Add an object, with the preposition that one verb asks for and the other does not."""
    token = next(t for t in reversed(group.french) if t.kind == "verb")
    if verb.english_prep:
        preposition = English(verb.english_prep)
        token.possible = (*token.possible, preposition)
        thing = thing._replace(english=[preposition, *thing.english])
    if verb.french_prep:
        entry = f"<it> | {verb.french_prep}/preposition/?main <it>"
        return group.add(weave(entry, it=thing, main=token.sure[-1]))
    return group.add(thing)


# --- actions ------------------------------------------------------------------------------------


def intransitive(s):
    verb = s.ctx.pick(verbs_for(INTRANSITIVE, actor(s.who), "subjects"))
    group = s.verb(verb)
    if s.ctx.placed or verb.base == "swim" or s.ctx.chance(0.3):
        return group
    options = "c" if verb.base == "travel" else "tss"
    return group.add(place(s.ctx, kinds=actor(s.who), options=options))


def manner(s):
    verb = s.ctx.pick(among(INTRANSITIVE, "sing work dance sleep"))
    english, french = weave(s.ctx.pick(WELL))
    return s.plain(verb, adverb=Phrase([], french)).add(Phrase(english, []))


def manner_not(s):
    return s.verb(s.ctx.pick(DULL), negation="not").add(weave(s.ctx.pick(SLOWLY)))


def manner_like(s):
    base, english, french = s.ctx.pick(LIKE)
    if s.who.noun == english:
        return None
    s.ctx.fresh.append((False, False, "x"))  # "it" could be the bird
    entry = f"like a {english} | comme/preposition/0 un/determiner/1?2 {french}/noun/2"
    return s.verb(*among(INTRANSITIVE, base)).add(weave(entry))


def transitive(s):
    verb = any_transitive(s.ctx, s.who)
    thing = object_of(s.ctx, verb, s.who)
    return with_object(s.verb(verb), verb, thing)


def negated_action(s, negation, plain=False, tense=""):
    tense = tense or s.ctx.tense(plain)
    verb = any_transitive(s.ctx, s.who)
    direct = not verb.french_prep  # il ne mange pas de pomme, but il ne répond pas à une lettre
    thing = object_of(s.ctx, verb, s.who, negated=direct)
    return with_object(s.verb(verb, tense, negation=negation), verb, thing)


def transitive_longer(s):
    past = s.ctx.time in ("past", "during_past")
    return negated_action(s, "longer", plain=True, tense="imperfect" if past else "")


def only(s):
    verb = s.ctx.pick(among(TRANSITIVE, "eat drink see find buy hear read wash"))
    group = s.plain(verb)
    thing = object_of(s.ctx, verb, s.who, kind=s.ctx.pick(("the", "this", "my", "a")))
    rest = weave("only <it> | ne/negation/?0 que/negation/0 <it>", it=thing)
    group.french.insert(0, rest.french.pop(0))
    return group._replace(finite=group.finite + 1).add(rest)


def frequency(s):
    verb = s.ctx.pick(OF_PERSONS)
    group = s.verb(verb, s.habit(), adverb=weave(s.ctx.pick(OFTEN)))
    return with_object(group, verb, object_of(s.ctx, verb))


def just_done(s):
    tense = {"present": "recent", "past": "recent_past"}.get(s.ctx.time)
    if tense is None:
        return None
    verb = s.ctx.pick(TRANSITIVE)
    return with_object(s.verb(verb, tense), verb, object_of(s.ctx, verb))


def reflexive_action(s):
    verb, ending = s.ctx.pick(verbs.REFLEXIVE)
    himself, clitics, _ = reflexive(s.who)
    group = s.verb(verb, clitics=clitics, reflexive=True)
    if ending == "self":
        return group.add(Phrase(himself, []))
    main = group.last
    clitics[0].sure, clitics[0].possible = (), (main,)
    if not ending:
        return group
    particle = English(ending)
    for token in group.french:
        if token.kind in ("verb", "auxiliary") and main in token.sure:
            token.sure = (*token.sure, particle)
    return group.add(Phrase([particle], []))


def each_other(s):
    if not s.who.plural or s.who.person != 5:
        return None
    verb = s.ctx.pick(among(verbs.MUTUAL, "see help follow hear meet love hate know"))
    english, clitics = weave("each other | se/clitic/0,1")
    return s.verb(verb, clitics=clitics, reflexive=True).add(Phrase(english, []))


def duration(s, preposition, tense=""):
    if (s.ctx.time == "present") != bool(tense):
        return None
    group = s.verb(s.ctx.pick(LASTING), tense or s.ctx.tense(plain=True))
    (number, french), (unit, units) = s.ctx.pick(SPANS), s.ctx.pick(UNITS)
    entry = f"{preposition}/preposition/0 {french}/determiner/1 {units}/noun/2"
    return group.add(weave(f"for {number} {unit} | {entry}"))


def playing(s, entries):
    entry = s.ctx.pick(entries)
    if entry.startswith("the"):  # "it" could be the piano
        s.ctx.fresh.append((False, " la/" in entry, "x"))
    group = s.verb(verbs.PLAY)
    return group.add(weave(entry, main=group.last))


# --- object pronouns and giving -----------------------------------------------------------------


def with_clitic(s, plain: bool = False, table: Table = TRANSITIVE, tense: str = "", **options):
    verb = s.ctx.pick(table)
    found = direct_clitic(s.ctx, verb.objects, s.who)
    if found is None:  # nothing of the kind was mentioned: of persons one can always speak
        verb = s.ctx.pick(verbs_for(table, "p", "objects"))
        found = direct_clitic(s.ctx, "p", s.who)
    tense = tense or s.ctx.tense(plain)
    group = s.verb(verb, tense, clitics=found.french, agree=found.agree, **options)
    return group.add(Phrase(found.english, []))


def clitic_frequency(s):
    return with_clitic(s, tense=s.habit(), adverb=weave(s.ctx.pick(OFTEN)))


def clitic_near(s):
    tense = {"present": "near", "future": "near", "past": "near_past"}.get(s.ctx.time)
    if tense is None:
        return None
    verb = s.ctx.pick(OF_PERSONS)
    found = direct_clitic(s.ctx, "p", s.who)
    group = s.verb(verb, tense, clitics=found.french, agree=found.agree)
    return group.add(Phrase(found.english, []))


def giving(s, entry):
    verb = s.ctx.pick(verbs.GIVING)
    thing, whom = object_of(s.ctx, verb), noun_phrase(s.ctx, "p")
    group = s.verb(verb)
    return group.add(weave(entry, thing=thing, whom=whom, main=group.last))


def giving_clitic(s, negation=""):
    verb = s.ctx.pick(verbs.GIVING)
    thing = object_of(s.ctx, verb, negated=bool(negation))
    whom = indirect_clitic(s.ctx, s.who)
    group = s.verb(verb, clitics=whom.french, negation=negation)
    return group.add(weave("<whom> <thing> | <thing>", whom=whom, thing=thing))


def two_clitics(s):
    if s.ask:
        return None
    ctx, tense = s.ctx, s.ctx.tense()
    take = ctx.pick(among(TRANSITIVE, "find buy wash"))
    give = ctx.pick(verbs.GIVING[:2] if take.base == "wash" else verbs.GIVING)
    kinds = "".join(kind for kind in take.objects if kind in give.objects and kind != "g")
    thing = noun_phrase(ctx, kinds, kind=ctx.pick(("the", "a")))
    ctx.combinations += [(take.base, thing.noun), (give.base, thing.noun)]
    agree = thing.feminine, thing.plural
    whom = indirect_clitic(ctx, s.who)
    entry = f"{'them' if thing.plural else 'it'} to | {le(*agree)}/clitic/0"
    it, clitics = weave(entry)
    whom.french[0].possible = (it[1],)
    clitics += whom.french
    if clitics[1].word not in ("lui", "leur"):  # il me le donne, but il le lui donne
        clitics.reverse()
    two = verb_group(give, tense, s.who, clitics=clitics, agree=agree)
    rest = weave("and <gives> | et/conjunction/0 <gives>", gives=two)
    rest.english.extend((*it, *whom.english))
    return verb_group(take, tense, s.who).add(thing).add(rest)
