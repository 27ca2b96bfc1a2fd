"""Noun phrases: determiners, adjectives on either side, possessors, compounds.

An article agrees with the noun, so it is possibly linked to it; its sure link is the English
determiner, where there is one.
"""

from __future__ import annotations

from .context import Context, Nominal
from .lexicon import (
    COMPOUNDS,
    NOT_GRADED,
    NOT_OWNED,
    NOUNS,
    Adjective,
    Noun,
    attributes_of,
    nouns_of,
)
from .names import PEOPLE
from .tokens import English, French

POSSESSIVES = {  # owner's French person: English word, French m. sg., f. sg., pl.
    0: ("my", "mon", "ma", "mes"),
    1: ("your", "ton", "ta", "tes"),
    2: ("his", "son", "sa", "ses"),
    3: ("our", "notre", "notre", "nos"),
    4: ("your", "votre", "votre", "vos"),
    5: ("their", "leur", "leur", "leurs"),
}
COUNTS = [("two", "deux"), ("three", "trois"), ("four", "quatre"), ("five", "cinq")]
SINGULAR = ["the"] * 7 + ["a"] * 5 + ["this"] * 2 + ["my"] * 3 + ["every"]
PLURAL = ["the"] * 6 + ["some"] * 2 + ["this"] * 2 + ["my"] * 2 + ["count"] * 2 + [
    "many", "several", "all",
]  # fmt: skip
MASS = ["the", "the", "some", "some", "my", "this"]
RELATIVES = ["the", "my", "my", "my"]  # "two fathers" would surprise
OWNERS = ["the", "the", "the", "this", "my"]


_BUILDINGS = ("house", "castle", "school", "church", "hotel", "museum", "library")
_SETTLEMENTS = ("village", "city", "island")
OF_OWNER = {  # the door of the house: what belongs to no person
    "door": _BUILDINGS, "window": _BUILDINGS, "garden": _BUILDINGS, "king": _SETTLEMENTS,
    "queen": _SETTLEMENTS, "church": _SETTLEMENTS, "school": _SETTLEMENTS,
    "museum": _SETTLEMENTS, "library": _SETTLEMENTS,
}  # fmt: skip


def article(noun_english: English | None, feminine: bool, plural: bool, *sure: English) -> French:
    """Write the definite article; it elides by itself."""
    word = "les" if plural else "la" if feminine else "le"
    return French(word, "determiner", sure, (noun_english,) if noun_english else ())


def determine(ctx, kind, noun, feminine, plural, prenominal, negated) -> tuple[list, list, int]:
    """Write one determiner: English tokens, French tokens, and how many of them "de" swallows."""
    near = (noun,)
    if kind == "the":
        e = English("the")
        return [e], [article(noun, feminine, plural, e)], 0
    if kind in ("a", "some"):
        e = English("a" if kind == "a" else "any" if negated else "some")
        if negated:  # il n'a pas de voiture
            return [e], [French("de", "determiner", (e,), near)], 1
        if kind == "a":
            return [e], [French("une" if feminine else "un", "determiner", (e,), near)], 0
        if plural:  # de grandes maisons
            return [e], [French("de" if prenominal else "des", "determiner", (e,), near)], 1
        part = [French("de", "preposition", (e,)), article(noun, feminine, False, e)]
        return [e], part, 2
    if kind == "this":
        e = English(
            ctx.dice.pick(("these", "those")) if plural else ctx.dice.pick(("this", "that"))
        )
        word = "ces" if plural else "cette" if feminine else "ce"
        return [e], [French(word, "determiner", (e,), near, "cet" if word == "ce" else "")], 0
    if kind == "my":
        return _possess(ctx, noun, feminine, plural)
    if kind == "every":
        e = English("every")
        return [e], [French("chaque", "determiner", (e,), near)], 0
    if kind == "several":
        e = English("several")
        return [e], [French("plusieurs", "determiner", (e,), near)], 0
    if kind == "many":
        e = English("many")
        return [e], [French("beaucoup", "adverb", (e,)), French("de", "preposition", (e,), near)], 0
    if kind == "all":
        every, e = English("all"), English("the")
        word = French("toutes" if feminine else "tous", "determiner", (every,), near)
        return [every, e], [word, article(noun, feminine, True, e)], 0
    word, number = ctx.dice.pick(COUNTS)
    e = English(word)
    return [e], [French(number, "determiner", (e,), near)], 0


def _possess(ctx, noun, feminine, plural):
    owner = ctx.dice.pick((0, 0, 2, 2, 2, 3, 5) if ctx.you is None else (0, ctx.you.person, 2, 3))
    word, m, f, many = POSSESSIVES[owner]
    e = English(ctx.dice.pick(("his", "her")) if owner == 2 else word)
    french = many if plural else f if feminine else m
    vowel = m if french in ("ma", "ta", "sa") else ""
    return [e], [French(french, "determiner", (e,), (noun,), vowel)], 0


def describe_noun(ctx: Context, noun: Noun, head: English, plural: bool):
    """Choose adjectives: English tokens, French tokens before the noun, and after it."""
    english, before, after = [], [], []
    dice, feminine = ctx.dice, noun.feminine
    if dice.chance(0.2 + 0.35 * ctx.richness) and (options := attributes_of(noun, True)):
        adjective = dice.pick(options)
        e, f = adjective_tokens(adjective, feminine, plural, head, before=True)
        english.append(e)
        before.append(f)
        ctx.combinations.append((adjective.english, noun.english[0]))
    if dice.chance(0.2 + 0.35 * ctx.richness) and (options := attributes_of(noun, False)):
        adjective = dice.pick(options)
        e, f = adjective_tokens(adjective, feminine, plural, head)
        if adjective.english not in NOT_GRADED and dice.chance(0.2):
            very = English("very")
            english.append(very)
            after.append(French("très", "adverb", (very,)))
        english.append(e)
        after.append(f)
        ctx.combinations.append((adjective.english, noun.english[0]))
    return english, before, after


def adjective_tokens(
    adjective: Adjective, feminine: bool, plural: bool, *possible: English, before: bool = False
) -> tuple[English, French]:
    """Write an adjective that agrees; before a noun it may have a form for vowels."""
    e = English(adjective.english)
    vowel = adjective.before_vowel if before and not feminine and not plural else ""
    form = adjective.form(feminine, plural)
    return e, French(form, "adjective", (e,), possible, vowel or "")


def proper(ctx: Context) -> Nominal:
    """Name a person."""
    english, french, feminine = ctx.dice.pick(PEOPLE)
    e = English(english)
    return Nominal([e], [French(french, "noun", (e,), (), "")], 2, feminine, False, "p")


def after_preposition(word: French, phrase: Nominal) -> list[French]:
    """Put a French preposition before a phrase; "de" swallows an indefinite article."""
    french = phrase.french
    if word.word == "de" and phrase.article:
        for token in french[: phrase.article]:
            word.sure = (*word.sure, *token.sure)
        french = french[phrase.article :]
    return [word, *french]


def noun_phrase(
    ctx: Context,
    kinds: str,
    *,
    noun: Noun | None = None,
    plural: bool | None = None,
    kind: str | None = None,
    negated: bool = False,
    depth: int = 1,
    plain: bool = False,
) -> Nominal:
    """Write a noun phrase about a thing of one of these kinds.

    `kind` names the determiner, `negated` is true for the object of a negated verb, whose
    indefinite article turns into "de", `depth` bounds possessors within possessors, and a `plain`
    phrase has no adjectives.
    """
    dice = ctx.dice
    noun = noun or dice.pick(nouns_of(kinds, "q" if kind == "a" else ""))
    name = noun.english[0]
    if plural is None:
        one = noun.mass or kind in ("a", "every") or name in ("mother", "father")
        plural = not one and dice.chance(0.33)
    head = English(noun.english[plural])
    english, before, after = ([], [], []) if plain else describe_noun(ctx, noun, head, plural)
    body = [*before, French(noun.french[plural], "noun", (head,), (), ""), *after]
    if depth and kind is None and not noun.mass and dice.chance(0.5 * ctx.richness):
        if name in OF_OWNER:
            return _belonging(ctx, noun, plural, head, english, body)
        if name not in NOT_OWNED:
            return _owned(ctx, noun, plural, head, english, body, depth)
    if kind is None:
        options = MASS if noun.mass else PLURAL if plural else SINGULAR
        kind = dice.pick(RELATIVES if "q" in noun.kinds else options)
    if kind == "owner":
        kind = dice.pick(OWNERS)
    if (kind == "my" and name in NOT_OWNED) or (kind == "every" and negated):
        kind = "the"
    if kind == "a" and (plural or noun.mass):
        kind = "some"
    if name in COMPOUNDS and not english and ctx.extend():
        modifier, joint, word = COMPOUNDS[name]
        ctx.used.append("compound")
        e = English(modifier)
        english.append(e)
        body += [French(joint, "preposition", (), (e,)), French(word, "noun", (e,), (), "")]
    e_det, f_det, swallowed = determine(
        ctx, kind, head, noun.feminine, plural, bool(before), negated
    )
    ctx.fresh.append((plural, noun.feminine, noun.kinds))
    return Nominal(
        [*e_det, *english, head], [*f_det, *body], 5 if plural else 2, noun.feminine, plural,
        noun.kinds, swallowed, name,
    )  # fmt: skip


def _belonging(ctx, noun, plural, head, english, body) -> Nominal:
    """Write "the door of the house": the same order on both sides."""
    ctx.used.append("of_phrase")
    ctx.fresh.append((plural, noun.feminine, noun.kinds))
    whole = NOUNS[ctx.dice.pick(OF_OWNER[noun.english[0]])]
    owner = noun_phrase(ctx, whole.kinds, noun=whole, plural=False, kind="the", depth=0)
    the, of = English("the"), English("of")
    french = [article(head, noun.feminine, plural, the), *body]
    french += after_preposition(French("de", "preposition", (of,)), owner)
    words = [the, *english, head, of, *owner.english]
    return Nominal(
        words, french, 5 if plural else 2, noun.feminine, plural, noun.kinds, 0, noun.english[0]
    )


def _owned(ctx, noun, plural, head, english, body, depth) -> Nominal:
    """Write "the king's red car": "la voiture rouge du roi", the owner changes sides."""
    dice = ctx.dice
    ctx.used.append("possessor")
    ctx.fresh.append((plural, noun.feminine, noun.kinds))
    if depth > 1 and dice.chance(0.4):
        owner = noun_phrase(ctx, "q", depth=1)  # the king's sister's car
    elif dice.chance(0.3):
        owner = proper(ctx)
    else:
        owner = noun_phrase(ctx, "p", kind="owner", depth=0)
    mark = English("'" if owner.plural and owner.english[-1].word[-1] == "s" else "'s")
    french = [article(head, noun.feminine, plural), *body]
    french[0].possible = (head, mark)
    french += after_preposition(French("de", "preposition", (mark,)), owner)
    words = [*owner.english, mark, *english, head]
    return Nominal(
        words, french, 5 if plural else 2, noun.feminine, plural, noun.kinds, 0, noun.english[0]
    )
