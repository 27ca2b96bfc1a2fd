"""Relative clauses, and the subjects that may carry them."""

from __future__ import annotations

from . import verbs
from .groups import VerbGroup, verb_group
from .lexicon import NOT_OWNED, adjectives_of, nouns_of
from .nouns import adjective_tokens, noun_phrase, subject_pronoun
from .phrases import Context, Nominal, Phrase, weave

WORKING = verbs.among(verbs.INTRANSITIVE, "work sleep sing")
SHARED = verbs.among(verbs.INTRANSITIVE, "dance work travel")
# A relative clause does not take part in the conditions of the clause around it.
TIMES = {"past": "past", "during_past": "past", "future": "future"}  # otherwise the present


def subject(ctx: Context, kinds: str, pronoun: float = 0.35, relative: bool = True) -> Nominal:
    """Choose a subject of one of these kinds: a pronoun with this probability, or a phrase."""
    if ctx.chance(pronoun) and (chosen := subject_pronoun(ctx, kinds)):
        return chosen
    return rich_phrase(ctx, kinds, relative=relative)


def rich_phrase(ctx: Context, of, *, relative: bool = True, **options) -> Nominal:
    """Write a noun phrase and perhaps hang a relative clause on it."""
    phrase = noun_phrase(ctx, of, depth=2, **options)
    if not relative or not ctx.chance(0.6 * ctx.richness):
        return phrase
    if any(e.word in ("of", "'s", "'") for e in phrase.english):
        return phrase  # a relative clause could belong to either noun
    if options.get("negated") and phrase.article:
        return phrase  # "pas de roi" speaks of no king of whom more could be said
    makers = [maker for kind in RELATIVES if kind in phrase.kinds for maker in RELATIVES[kind]]
    if not makers:
        return phrase
    time, ctx.time = ctx.time, TIMES.get(ctx.time, "present")
    maker = ctx.pick(makers)
    ctx.used.append(maker.__name__)
    english, french = maker(ctx, phrase)
    ctx.time = time
    return phrase._replace(english=[*phrase.english, *english], french=[*phrase.french, *french])


def _plain_predicate(ctx: Context, who: Nominal) -> VerbGroup:
    if ctx.chance(0.4):
        return verb_group(ctx.pick(verbs.INTRANSITIVE), ctx.tense(), who)
    verb = ctx.pick(verbs.TRANSITIVE)
    noun = ctx.pick(nouns_of(verb.objects))
    ctx.combinations.append((verb.base, noun.english[0]))
    thing = noun_phrase(ctx, noun, depth=0)
    return verb_group(verb, ctx.tense(), who).add(thing)


def _said(ctx: Context, verb: verbs.Verb, entry: str, **options) -> Phrase:
    """Say what somebody does, in a clause whose <who> and <does> the entry puts in order."""
    who = subject(ctx, "p", 0.5, relative=False)
    return weave(entry, who=who, does=verb_group(verb, ctx.tense(verb.stative), who, **options))


def relative_subject(ctx: Context, phrase: Nominal) -> Phrase:
    """The girl who sings: "la fille qui chante"."""
    return weave("who <does> | qui/relative/0 <does>", does=_plain_predicate(ctx, phrase))


def relative_copula(ctx: Context, phrase: Nominal) -> Phrase:
    """The book that is heavy: "le livre qui est lourd"."""
    said = [e.word for e in phrase.english]
    options = [a for a in adjectives_of(phrase.kinds) if not a.before and a.english not in said]
    e, f = adjective_tokens(ctx.pick(options), phrase.feminine, phrase.plural)
    group = verb_group(verbs.BE, ctx.tense(True), phrase).add(Phrase([e], [f]))
    return weave("that <is> | qui/relative/0 <is>", **{"is": group})


def _object(ctx: Context, phrase: Nominal, entry: str) -> Phrase:
    verb = ctx.pick(verbs.verbs_for(verbs.TRANSITIVE, phrase.kinds, "objects"))
    ctx.combinations.append((verb.base, phrase.noun))
    return _said(ctx, verb, entry, agree=(phrase.feminine, phrase.plural))


def relative_object(ctx: Context, phrase: Nominal) -> Phrase:
    """The apple that she ate: "la pomme qu'elle a mangée"."""
    return _object(ctx, phrase, "that <who> <does> | que/relative/0 <who> <does>")


def relative_object_bare(ctx: Context, phrase: Nominal) -> Phrase:
    """The apple she ate: French may not leave "que" out."""
    return _object(ctx, phrase, "<who> <does> | que/relative/?does.last <who> <does>")


def relative_whose(ctx: Context, phrase: Nominal) -> Phrase:
    """The boy whose sister sings: "le garçon dont la sœur chante"."""
    noun = ctx.pick([n for n in nouns_of("p") if n.english[0] not in NOT_OWNED])
    owned = noun_phrase(ctx, noun, kind="the", depth=0)
    the = owned.english.pop(0)  # English has no article here
    for token in owned.french:
        token.sure = tuple(e for e in token.sure if e is not the)
    entry = "whose <owned> <does> | dont/relative/0 <owned> <does>"
    return weave(entry, owned=owned, does=_plain_predicate(ctx, owned))


def relative_animal(ctx: Context, phrase: Nominal) -> Phrase:
    """The dog that follows the boy: "le chien qui suit le garçon"."""
    verb = ctx.pick(verbs.verbs_for(verbs.ACTING, "a", "subjects"))
    group = verb_group(verb, ctx.tense(), phrase)
    if verb.objects:
        thing = noun_phrase(ctx, "".join(k for k in verb.objects if k in "pafg"), depth=0)
        ctx.combinations.append((verb.base, thing.noun))
        group = group.add(thing)
    return weave("that <does> | qui/relative/0 <does>", does=group)


def relative_where(ctx: Context, phrase: Nominal) -> Phrase:
    """The house where the king works: "la maison où travaille le roi"."""
    verb = ctx.pick(WORKING)
    who = noun_phrase(ctx, "p", depth=0)
    group = verb_group(verb, ctx.tense(), who)
    # in a simple tense the subject may follow
    order = "<does> <who>" if len(group.french) == 1 else "<who> <does>"
    return weave(f"where <who> <does> | où/relative/0 {order}", who=who, does=group)


def relative_stranded(ctx: Context, phrase: Nominal) -> Phrase:
    """The boy that she dances with: "le garçon avec qui elle danse"."""
    entry = "that <who> <does> with | avec/preposition/1 qui/relative/0 <who> <does>"
    return _said(ctx, ctx.pick(SHARED), entry)


def relative_about(ctx: Context, phrase: Nominal) -> Phrase:
    """The book that he talks about: "le livre dont il parle"."""
    return _said(ctx, verbs.TALK, "that <who> <does> about | dont/relative/0,1 <who> <does>")


def relative_need(ctx: Context, phrase: Nominal) -> Phrase:
    """The key that she needs: "la clé dont elle a besoin"."""
    entry = "that <who> <does> | dont/relative/0 <who> <does> besoin/noun/does.last"
    return _said(ctx, verbs.NEED, entry)


RELATIVES = {  # which clause may follow a noun of which kind
    "p": (relative_subject, relative_subject, relative_whose, relative_object, relative_stranded),
    "a": (relative_animal, relative_animal, relative_object),
    "f": (relative_object, relative_object_bare),
    "o": (relative_object, relative_object_bare, relative_need, relative_copula),
    "c": (relative_object, relative_object_bare, relative_copula),
    "t": (relative_object, relative_object_bare, relative_about, relative_need),
    "v": (relative_object, relative_object_bare, relative_copula, relative_need),
    "h": (relative_where, relative_where, relative_object, relative_copula),
    "l": (relative_where, relative_object),
    "i": (relative_about, relative_object),
}  # fmt: skip
