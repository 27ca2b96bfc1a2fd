"""Relative clauses, and the subjects that may carry them."""

from __future__ import annotations

from . import verbs
from .context import RELATIVE_TIME, Context, Nominal
from .groups import VerbGroup, verb_group
from .lexicon import NOT_OWNED, adjectives_of, nouns_of
from .nouns import adjective_tokens, noun_phrase
from .pronouns import subject_pronoun
from .tokens import English, French

WORKING = [v for v in verbs.INTRANSITIVE if v.base in ("work", "sleep", "sing")]
SHARED = [v for v in verbs.INTRANSITIVE if v.base in ("dance", "work", "travel")]


def subject(ctx: Context, kinds: str, pronoun: float = 0.35, relative: bool = True) -> Nominal:
    """Choose a subject of one of these kinds: a pronoun with this probability, or a phrase."""
    if ctx.dice.chance(pronoun) and (chosen := subject_pronoun(ctx, kinds)):
        return chosen
    return rich_phrase(ctx, kinds, relative=relative)


def rich_phrase(ctx: Context, kinds: str, *, relative: bool = True, **options) -> Nominal:
    """Write a noun phrase and perhaps hang a relative clause on it."""
    phrase = noun_phrase(ctx, kinds, depth=2, **options)
    if not relative or not ctx.dice.chance(0.6 * ctx.richness):
        return phrase
    if any(e.word in ("of", "'s", "'") for e in phrase.english):
        return phrase  # a relative clause could belong to either noun
    if options.get("negated") and phrase.article:
        return phrase  # "pas de roi" speaks of no king of whom more could be said
    time, ctx.time = ctx.time, RELATIVE_TIME[ctx.time]
    options = [maker for kind, makers in RELATIVES for maker in makers if kind in phrase.kinds]
    if options:
        phrase = ctx.dice.pick(options)(ctx, phrase)
    ctx.time = time
    return phrase


def _attach(phrase: Nominal, english: list[English], french: list[French]) -> Nominal:
    return phrase._replace(english=[*phrase.english, *english], french=[*phrase.french, *french])


def _plain_predicate(ctx: Context, who: Nominal) -> VerbGroup:
    if ctx.dice.chance(0.4):
        verb = ctx.dice.pick(verbs.INTRANSITIVE)
        return verb_group(verb, ctx.tense(), who)
    verb = ctx.dice.pick(verbs.TRANSITIVE)
    noun = ctx.dice.pick(nouns_of(verb.objects))
    ctx.combinations.append((verb.base, noun.english[0]))
    thing = noun_phrase(ctx, noun.kinds, noun=noun, depth=0)
    return verb_group(verb, ctx.tense(), who).add(thing.english, thing.french)


def relative_subject(ctx: Context, phrase: Nominal) -> Nominal:
    """The girl who sings: "la fille qui chante"."""
    ctx.used.append("relative_subject")
    who = English("who")
    group = _plain_predicate(ctx, phrase)
    return _attach(
        phrase,
        [who, *group.first, *group.rest],
        [French("qui", "relative", (who,)), *group.french],
    )


def relative_copula(ctx: Context, phrase: Nominal) -> Nominal:
    """The book that is heavy: "le livre qui est lourd"."""
    ctx.used.append("relative_copula")
    that = English("that")
    said = [e.word for e in phrase.english]
    options = [a for a in adjectives_of(phrase.kinds) if not a.before and a.english not in said]
    e, f = adjective_tokens(ctx.dice.pick(options), phrase.feminine, phrase.plural)
    group = verb_group(verbs.BE, ctx.tense(True), phrase).add([e], [f])
    return _attach(
        phrase,
        [that, *group.first, *group.rest],
        [French("qui", "relative", (that,)), *group.french],
    )


def _object_relative(ctx: Context, phrase: Nominal, word: str) -> Nominal:
    options = verbs.verbs_for(verbs.TRANSITIVE, phrase.kinds, "objects")
    verb = ctx.dice.pick(options)
    ctx.combinations.append((verb.base, phrase.noun))
    who = subject(ctx, "p", 0.5, relative=False)
    group = verb_group(verb, ctx.tense(), who, agree=(phrase.feminine, phrase.plural))
    that = [English(word)] if word else []
    que = French("que", "relative", tuple(that), () if that else (group.rest[-1],))
    return _attach(
        phrase,
        [*that, *who.english, *group.first, *group.rest],
        [que, *who.french, *group.french],
    )


def relative_object(ctx: Context, phrase: Nominal) -> Nominal:
    """The apple that she ate: "la pomme qu'elle a mangée"."""
    ctx.used.append("relative_object")
    return _object_relative(ctx, phrase, "that")


def relative_object_bare(ctx: Context, phrase: Nominal) -> Nominal:
    """The apple she ate: French may not leave "que" out."""
    ctx.used.append("relative_object_bare")
    return _object_relative(ctx, phrase, "")


def relative_whose(ctx: Context, phrase: Nominal) -> Nominal:
    """The boy whose sister sings: "le garçon dont la sœur chante"."""
    ctx.used.append("relative_whose")
    whose = English("whose")
    noun = ctx.dice.pick([n for n in nouns_of("p") if n.english[0] not in NOT_OWNED])
    owned = noun_phrase(ctx, "p", noun=noun, kind="the", depth=0)
    the = owned.english.pop(0)  # English has no article here
    for token in owned.french:
        token.sure = tuple(e for e in token.sure if e is not the)
    group = _plain_predicate(ctx, owned)
    return _attach(
        phrase,
        [whose, *owned.english, *group.first, *group.rest],
        [French("dont", "relative", (whose,)), *owned.french, *group.french],
    )


def relative_animal(ctx: Context, phrase: Nominal) -> Nominal:
    """The dog that follows the boy: "le chien qui suit le garçon"."""
    ctx.used.append("relative_animal")
    that = English("that")
    options = verbs.verbs_for(verbs.ACTING, "a", "subjects")
    verb = ctx.dice.pick(options)
    group = verb_group(verb, ctx.tense(), phrase)
    if verb.objects:
        kinds = "".join(kind for kind in verb.objects if kind in "pafg")
        thing = noun_phrase(ctx, kinds, depth=0)
        ctx.combinations.append((verb.base, thing.noun))
        group = group.add(thing.english, thing.french)
    return _attach(
        phrase,
        [that, *group.first, *group.rest],
        [French("qui", "relative", (that,)), *group.french],
    )


def relative_where(ctx: Context, phrase: Nominal) -> Nominal:
    """The house where the king works: "la maison où travaille le roi"."""
    ctx.used.append("relative_where")
    where = English("where")
    verb = ctx.dice.pick(WORKING)
    who = noun_phrase(ctx, "p", depth=0)
    tense = ctx.tense()
    group = verb_group(verb, tense, who)
    french = [*who.french, *group.french]
    if len(group.french) == 1:  # a simple tense: the subject may follow
        french = [*group.french, *who.french]
    return _attach(
        phrase,
        [where, *who.english, *group.first, *group.rest],
        [French("où", "relative", (where,)), *french],
    )


def relative_stranded(ctx: Context, phrase: Nominal) -> Nominal:
    """The boy that she dances with: "le garçon avec qui elle danse"."""
    ctx.used.append("relative_stranded")
    that, with_ = English("that"), English("with")
    verb = ctx.dice.pick(SHARED)
    who = subject(ctx, "p", 0.5, relative=False)
    group = verb_group(verb, ctx.tense(), who)
    return _attach(
        phrase,
        [that, *who.english, *group.first, *group.rest, with_],
        [
            French("avec", "preposition", (with_,)),
            French("qui", "relative", (that,)),
            *who.french,
            *group.french,
        ],
    )


def relative_about(ctx: Context, phrase: Nominal) -> Nominal:
    """The book that he talks about: "le livre dont il parle"."""
    ctx.used.append("relative_about")
    that, about = English("that"), English("about")
    who = subject(ctx, "p", 0.5, relative=False)
    group = verb_group(verbs.TALK, ctx.tense(), who)
    return _attach(
        phrase,
        [that, *who.english, *group.first, *group.rest, about],
        [French("dont", "relative", (that, about)), *who.french, *group.french],
    )


def relative_need(ctx: Context, phrase: Nominal) -> Nominal:
    """The key that she needs: "la clé dont elle a besoin"."""
    ctx.used.append("relative_need")
    that = English("that")
    who = subject(ctx, "p", 0.5, relative=False)
    group = verb_group(verbs.NEED, ctx.tense(True), who)
    need = group.rest[-1]
    return _attach(
        phrase,
        [that, *who.english, *group.first, *group.rest],
        [
            French("dont", "relative", (that,)),
            *who.french,
            *group.french,
            French("besoin", "noun", (need,)),
        ],
    )


RELATIVES = (  # which clause may follow a noun of which kind
    ("p", (relative_subject, relative_subject, relative_whose, relative_object,
           relative_stranded)),
    ("a", (relative_animal, relative_animal, relative_object)),
    ("f", (relative_object, relative_object_bare)),
    ("o", (relative_object, relative_object_bare, relative_need, relative_copula)),
    ("c", (relative_object, relative_object_bare, relative_copula)),
    ("t", (relative_object, relative_object_bare, relative_about, relative_need)),
    ("v", (relative_object, relative_object_bare, relative_copula, relative_need)),
    ("h", (relative_where, relative_where, relative_object, relative_copula)),
    ("l", (relative_where, relative_object)),
    ("i", (relative_about, relative_object)),
)  # fmt: skip
