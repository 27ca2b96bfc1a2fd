"""What may follow a noun: relative clauses and places; and the subjects of clauses."""

from __future__ import annotations

from . import verbs
from .context import Context, Nominal
from .groups import VerbGroup, verb_group
from .lexicon import COUNTRIES, MONEY_BANK, PLACES, TOWNS, nouns_of
from .nouns import adjective_tokens, after_preposition, noun_phrase
from .lexicon import adjectives_of
from .pronouns import subject_pronoun
from .tokens import English, French, Phrase


def with_object(group: VerbGroup, verb: verbs.Verb, thing: Nominal) -> VerbGroup:
    """Add an object, with the preposition that either verb asks for and the other lacks."""
    token = next(t for t in reversed(group.french) if t.kind == "verb")
    english, french = thing.english, thing.french
    if verb.english_prep:
        preposition = English(verb.english_prep)
        token.possible = (*token.possible, preposition)
        english = [preposition, *english]
    if verb.french_prep:
        french = after_preposition(
            French(verb.french_prep, "preposition", (), token.sure[-1:]), thing
        )
    return group.add(english, french)


def place(ctx: Context, going: bool = False) -> Phrase:
    """Say where, or where to: one English "to" is à, en, au, chez, dans or sur."""
    dice = ctx.dice
    roll = dice.random()
    if roll < 0.2:
        english, french = dice.pick(TOWNS)
        e, name = English("to" if going else "in"), English(english)
        return Phrase(
            [e, name],
            [French("à", "preposition", (e,)), French(french, "noun", (name,), (), "")],
        )
    if roll < 0.4:
        english, french, preposition = dice.pick(COUNTRIES)
        e, name = English("to" if going else "in"), English(english)
        kind = "preposition" if preposition == "en" else "contraction"
        return Phrase(
            [e, name], [French(preposition, kind, (e,)), French(french, "noun", (name,), (), "")]
        )
    if roll < 0.48:
        e = English("to" if going else "at")
        the = noun_phrase(ctx, "p", kind="the", noun=None, plural=False, depth=0)
        return Phrase([e, *the.english], [French("chez", "preposition", (e,)), *the.french])
    if roll < 0.55:
        e = English("to" if going else "at")
        the = noun_phrase(ctx, "h", noun=MONEY_BANK, kind="the", plural=False, depth=0)
        return Phrase([e, *the.english], [French("à", "preposition", (e,)), *the.french])
    spot = dice.pick(PLACES)
    e = English("to" if going else spot.english_in)
    the = noun_phrase(ctx, "hl", noun=spot.noun, kind="the", plural=False, depth=0)
    word = spot.french_to if going else spot.french_in
    return Phrase([e, *the.english], after_preposition(French(word, "preposition", (e,)), the))


def subject(ctx: Context, kinds: str, pronoun: float = 0.35, relative: bool = True) -> Nominal:
    """Choose a subject of one of these kinds: a pronoun with this probability, or a phrase."""
    if ctx.dice.chance(pronoun) and (chosen := subject_pronoun(ctx, kinds)):
        return chosen
    return rich_phrase(ctx, kinds, relative=relative)


def rich_phrase(ctx: Context, kinds: str, *, relative: bool = True, **options) -> Nominal:
    """Write a noun phrase and perhaps hang a relative clause on it."""
    phrase = noun_phrase(ctx, kinds, depth=2, **options)
    if not relative or not ctx.dice.chance(0.55 * ctx.richness):
        return phrase
    if any(e.word == "of" for e in phrase.english):  # or it could belong to either noun
        return phrase
    time, ctx.time = ctx.time, "present" if ctx.time in ("when", "would") else ctx.time
    options = [maker for kind, makers in RELATIVES for maker in makers if kind in phrase.kinds]
    if options:
        phrase = ctx.dice.pick(options)(ctx, phrase)
    ctx.time = time
    return phrase


def _attach(phrase: Nominal, english: list[English], french: list[French]) -> Nominal:
    return phrase._replace(
        english=[*phrase.english, *english], french=[*phrase.french, *french]
    )


def _plain_predicate(ctx: Context, who: Nominal) -> VerbGroup:
    if ctx.dice.chance(0.4):
        verb = ctx.dice.pick(verbs.INTRANSITIVE)
        group = verb_group(verb, ctx.tense(), who)
        return group.add(*place(ctx)) if ctx.extend() else group
    verb = ctx.dice.pick(verbs.TRANSITIVE)
    thing = object_of(ctx, verb, depth=0)
    return with_object(verb_group(verb, ctx.tense(), who), verb, thing)


def object_of(ctx: Context, verb: verbs.Verb, depth: int = 1, **options) -> Nominal:
    """Choose what a verb is done to."""
    noun = options.pop("noun", None) or ctx.dice.pick(nouns_of(verb.objects))
    name = f"{verb.base} {verb.english_prep}".strip()
    ctx.combinations.append((name, noun.english[0]))
    if depth:
        return rich_phrase(ctx, noun.kinds, noun=noun, **options)
    return noun_phrase(ctx, noun.kinds, noun=noun, depth=0, **options)


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
    options = adjectives_of(phrase.kinds, False) or adjectives_of(phrase.kinds)
    e, f = adjective_tokens(ctx.dice.pick(options), phrase.feminine, phrase.plural)
    group = verb_group(verbs.BE, ctx.tense(True), phrase).add([e], [f])
    return _attach(
        phrase,
        [that, *group.first, *group.rest],
        [French("qui", "relative", (that,)), *group.french],
    )


def _object_relative(ctx: Context, phrase: Nominal, word: str) -> Nominal:
    options = verbs.verbs_for(verbs.TRANSITIVE, phrase.kinds, "objects")
    if not options:
        return phrase
    verb = ctx.dice.pick(options)
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
    owned = noun_phrase(ctx, "p", kind="the", depth=0)
    the = owned.english.pop(0)  # English has no article here
    for token in owned.french:
        token.sure = tuple(e for e in token.sure if e is not the)
    group = _plain_predicate(ctx, owned)
    return _attach(
        phrase,
        [whose, *owned.english, *group.first, *group.rest],
        [French("dont", "relative", (whose,)), *owned.french, *group.french],
    )


def relative_where(ctx: Context, phrase: Nominal) -> Nominal:
    """The house where the king works: "la maison où travaille le roi"."""
    ctx.used.append("relative_where")
    where = English("where")
    verb = ctx.dice.pick([v for v in verbs.INTRANSITIVE if v.base in ("work", "sleep", "sing")])
    who = noun_phrase(ctx, "p", depth=0)
    tense = ctx.tense()
    group = verb_group(verb, tense, who)
    french = [*group.french, *who.french] if len(group.french) == 1 else [*who.french, *group.french]
    return _attach(
        phrase,
        [where, *who.english, *group.first, *group.rest],
        [French("où", "relative", (where,)), *french],
    )


def relative_stranded(ctx: Context, phrase: Nominal) -> Nominal:
    """The boy that she dances with: "le garçon avec qui elle danse"."""
    ctx.used.append("relative_stranded")
    that, with_ = English("that"), English("with")
    verb = ctx.dice.pick([v for v in verbs.INTRANSITIVE if v.base in ("dance", "work", "travel")])
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
    ("f", (relative_object, relative_object_bare)),
    ("o", (relative_object, relative_object_bare, relative_need, relative_copula)),
    ("c", (relative_object, relative_object_bare, relative_copula)),
    ("t", (relative_object, relative_object_bare, relative_about, relative_need)),
    ("v", (relative_object, relative_object_bare, relative_copula, relative_need)),
    ("h", (relative_where, relative_where, relative_object, relative_copula)),
    ("l", (relative_where, relative_object)),
    ("i", (relative_about, relative_object)),
)  # fmt: skip
