"""Noun phrases, pronouns and places.

An article agrees with the noun, so it is possibly linked to it; its sure link is the English
determiner, where there is one. "They" and "it" have the gender of what was mentioned, and are used
only where that is settled; "you" is singular or plural, familiar or polite, as the sentence's
vocative has said. One English "to" is à, en, au, chez, dans or sur; so is one "in".
"""

from __future__ import annotations

from typing import NamedTuple

from .lexicon import (
    COMPOUNDS,
    COUNTRIES,
    MONEY_BANK,
    NOT_GRADED,
    NOT_OWNED,
    NOUNS,
    PEOPLE,
    TOWNS,
    Adjective,
    Noun,
    attributes_of,
    nouns_of,
)  # fmt: skip
from .phrases import Context, English, French, Nominal, Phrase, weave

POSSESSIVES = {  # owner's French person: English word, French m. sg., f. sg., pl.
    0: ("my", "mon", "ma", "mes"),
    1: ("your", "ton", "ta", "tes"),
    2: ("his", "son", "sa", "ses"),
    3: ("our", "notre", "notre", "nos"),
    4: ("your", "votre", "votre", "vos"),
    5: ("their", "leur", "leur", "leurs"),
}
COUNTS = (("two", "deux"), ("three", "trois"), ("four", "quatre"), ("five", "cinq"))
SINGULAR = ["the"] * 7 + ["a"] * 5 + ["this"] * 2 + ["my"] * 3 + ["every"]
PLURAL = "the the the the the the some some this this my my count count many several all".split()
MASS = ["the", "the", "some", "some", "my", "this"]
RELATIVES = ["the", "my", "my", "my"]  # "two fathers" would surprise
OWNERS = ["the", "the", "the", "this", "my"]
INVARIABLE = {  # determiners
    "every": "every | chaque/determiner/0?noun",
    "several": "several | plusieurs/determiner/0?noun",
    "many": "many | beaucoup/adverb/0 de/preposition/0?noun",
}
_BUILDINGS = ("house", "castle", "school", "church", "hotel", "museum", "library")
_SETTLEMENTS = ("village", "city", "island")
OF_OWNER = {  # the door of the house: what belongs to no person
    "door": _BUILDINGS, "window": _BUILDINGS, "garden": _BUILDINGS, "king": _SETTLEMENTS,
    "queen": _SETTLEMENTS, "church": _SETTLEMENTS, "school": _SETTLEMENTS,
    "museum": _SETTLEMENTS, "library": _SETTLEMENTS,
}  # fmt: skip


def le(feminine: bool, plural: bool) -> str:
    """Give the definite article, which is the object pronoun too; it elides by itself."""
    return "les" if plural else "la" if feminine else "le"


def il(feminine: bool, plural: bool) -> str:
    """Give the subject pronoun."""
    return ("elle" if feminine else "il") + "s" * plural


def determine(ctx, kind, noun, feminine, plural, prenominal, negated) -> tuple[Phrase, int]:
    """Write one determiner, and say how many of its French tokens "de" swallows."""
    swallowed = 0
    if kind == "the":
        entry = f"the | {le(feminine, plural)}/determiner/0?noun"
    elif kind in ("a", "some"):
        e = "a" if kind == "a" else "any" if negated else "some"
        swallowed = 1
        if negated:  # il n'a pas de voiture
            entry = f"{e} | de/determiner/0?noun"
        elif kind == "a":
            swallowed, entry = 0, f"a | {'une' if feminine else 'un'}/determiner/0?noun"
        elif plural:  # de grandes maisons
            entry = f"some | {'de' if prenominal else 'des'}/determiner/0?noun"
        else:
            entry = f"some | de/preposition/0 {le(feminine, False)}/determiner/0?noun"
            swallowed = 2
    elif kind == "this":
        e = ctx.pick(("these", "those") if plural else ("this", "that"))
        word = "ces" if plural else "cette" if feminine else "ce"
        entry = f"{e} | {word}/determiner/0?noun"
    elif kind == "my":
        owners = (0, 0, 2, 2, 2, 3, 5) if ctx.you is None else (0, ctx.you.person, 2, 3)
        owner = ctx.pick(owners)
        e, m, f, many = POSSESSIVES[owner]
        e = ctx.pick(("his", "her")) if owner == 2 else e
        entry = f"{e} | {many if plural else f if feminine else m}/determiner/0?noun"
    elif kind == "all":
        every = "toutes" if feminine else "tous"
        entry = f"all the | {every}/determiner/0?noun les/determiner/1?noun"
    elif kind == "count":
        entry = "{} | {}/determiner/0?noun".format(*ctx.pick(COUNTS))
    else:
        entry = INVARIABLE[kind]
    return weave(entry, noun=noun), swallowed


def describe_noun(ctx: Context, noun: Noun, head: English, plural: bool):
    """Choose adjectives: English tokens, French tokens before the noun, and after it."""
    english, before, after = [], [], []
    for side, place in ((True, before), (False, after)):
        if not ctx.chance(0.2 + 0.35 * ctx.richness) or not (options := attributes_of(noun, side)):
            continue
        adjective = ctx.pick(options)
        e, f = adjective_tokens(adjective, noun.feminine, plural, head, before=side)
        if not side and adjective.english not in NOT_GRADED and ctx.chance(0.2):
            very = English("very")
            english.append(very)
            place.append(French("très", "adverb", (very,)))
        english.append(e)
        place.append(f)
        ctx.combinations.append((adjective.english, noun.english[0]))
    return english, before, after


def adjective_tokens(
    adjective: Adjective, feminine: bool, plural: bool, *possible: English, before: bool = False
) -> tuple[English, French]:
    """Write an adjective that agrees; before a noun it may have a form for vowels."""
    e = English(adjective.english)
    vowel = adjective.before_vowel if before and not feminine and not plural else ""
    return e, French(adjective.form(feminine, plural), "adjective", (e,), possible, vowel)


def noun_phrase(
    ctx: Context,
    of: str | Noun,
    *,
    plural: bool | None = None,
    kind: str | None = None,
    negated: bool = False,
    depth: int = 1,
    plain: bool = False,
) -> Nominal:
    """Write a noun phrase about this noun, or a thing of one of these kinds.

    `kind` names the determiner, `negated` is true for the object of a negated verb, whose
    indefinite article turns into "de", `depth` bounds possessors within possessors, and a `plain`
    phrase has no adjectives.
    """
    noun = of if isinstance(of, Noun) else ctx.pick(nouns_of(of, "q" if kind == "a" else ""))
    name, feminine = noun.english[0], noun.feminine
    if plural is None:
        one = noun.mass or kind in ("a", "every") or name in ("mother", "father")
        plural = not one and ctx.chance(0.33)
    head = English(noun.english[plural])
    english, before, after = ([], [], []) if plain else describe_noun(ctx, noun, head, plural)
    body = [*before, French(noun.french[plural], "noun", (head,)), *after]
    agreeing = 5 if plural else 2, feminine, plural, noun.kinds
    mention = plural, feminine, noun.kinds
    if depth and kind is None and not noun.mass and ctx.chance(0.5 * ctx.richness):
        if name in OF_OWNER or name not in NOT_OWNED:
            ctx.used.append("of_phrase" if name in OF_OWNER else "possessor")
            ctx.fresh.append(mention)
            join = _belonging if name in OF_OWNER else _owned
            word = f"{le(feminine, plural)}/determiner"
            whole = join(ctx, name, word, Phrase([*english, head], body), head, depth)
            return Nominal(*whole, *agreeing, noun=name)
    if kind is None:
        options = MASS if noun.mass else PLURAL if plural else SINGULAR
        kind = ctx.pick(RELATIVES if "q" in noun.kinds else options)
    if kind == "owner":
        kind = ctx.pick(OWNERS)
    if (kind == "my" and name in NOT_OWNED) or (kind == "every" and negated):
        kind = "the"
    if kind == "a" and (plural or noun.mass):
        kind = "some"
    if name in COMPOUNDS and not english and ctx.chance(ctx.richness):
        ctx.used.append("compound")
        modifier = weave(COMPOUNDS[name])
        english += modifier.english
        body += modifier.french
    first, swallowed = determine(ctx, kind, head, feminine, plural, bool(before), negated)
    ctx.fresh.append(mention)
    words, french = [*first.english, *english, head], [*first.french, *body]
    return Nominal(words, french, *agreeing, swallowed, name)


def _belonging(ctx, name, article, body, head, _) -> Phrase:
    """Write "the door of the house": the same order on both sides."""
    whole = NOUNS[ctx.pick(OF_OWNER[name])]
    owner = noun_phrase(ctx, whole, plural=False, kind="the", depth=0)
    entry = f"the <body> of <owner> | {article}/0?head <body> de/preposition/1 <owner>"
    return weave(entry, body=body, owner=owner, head=head)


def _owned(ctx, name, article, body, head, depth) -> Phrase:
    """Write "the king's red car": "la voiture rouge du roi", the owner changes sides."""
    if depth > 1 and ctx.chance(0.4):
        owner = noun_phrase(ctx, "q", depth=1)  # the king's sister's car
    elif ctx.chance(0.3):
        owner = proper(ctx)
    else:
        owner = noun_phrase(ctx, "p", kind="owner", depth=0)
    mark = "'" if owner.plural and owner.english[-1].word[-1] == "s" else "'s"
    entry = f"<owner> {mark} <body> | {article}/?head,0 <body> de/preposition/0 <owner>"
    return weave(entry, body=body, owner=owner, head=head)


def proper(ctx: Context) -> Nominal:
    """Name a person."""
    english, french, feminine = ctx.pick(PEOPLE)
    return Nominal(*weave(f"{english} | {french}/noun/0"), 2, feminine, False, "p")


# --- pronouns -----------------------------------------------------------------------------------

SUBJECTS = {  # English: French, person, feminine, plural
    "i": ("je", 0, False, False),
    "he": ("il", 2, False, False),
    "she": ("elle", 2, True, False),
    "we": ("nous", 3, False, True),
}
DIRECT = {  # English: French, feminine, plural, persons that may not be the subject
    "me": ("me", False, False, (0, 3)),
    "him": ("le", False, False, ()),
    "her": ("la", True, False, ()),
    "us": ("nous", False, True, (0, 3)),
}
DATIVE = {"me": "me", "him": "lui", "her": "lui", "us": "nous", "them": "leur"}
SELVES = {0: "myself", 1: "yourself", 3: "ourselves", 4: "yourselves", 5: "themselves"}
REFLEXIVES = ("me", "te", "se", "nous", "vous", "se")


class Clitic(NamedTuple):
    """An object pronoun, and (feminine, plural) for participles."""

    english: list[English]
    french: list[French]
    agree: tuple[bool, bool] | None = None


def pronoun(english: str, french: str, person=2, feminine=False, plural=False, kinds="p"):
    """Write a subject pronoun."""
    return Nominal(*weave(f"{english} | {french}/pronoun/0"), person, feminine, plural, kinds)


def _anaphor(word: str, mention: tuple[bool, bool, str]) -> Nominal:
    plural, feminine, kinds = mention
    return pronoun(word, il(feminine, plural), 5 if plural else 2, feminine, plural, kinds)


def you(ctx: Context) -> Nominal:
    """Write "you" as the vocative wants it."""
    _, _, person, feminine, plural, *_ = ctx.you
    return pronoun("you", "tu" if person == 1 else "vous", person, feminine, plural)


def subject_pronoun(ctx: Context, kinds: str) -> Nominal | None:
    """Choose a subject pronoun for something of these kinds, or None where none is clear."""
    options = list(SUBJECTS) if "p" in kinds else []
    if ctx.you is not None and "p" in kinds:
        options += ["you"] * 4
    they, it = ctx.antecedent(True, kinds), ctx.antecedent(False, kinds)
    options += ["they"] * 4 * bool(they) + ["it"] * 4 * bool(it)
    if not options:
        return None
    word = ctx.pick(options)
    if word == "you":
        return you(ctx)
    if word in ("they", "it"):
        return _anaphor(word, they if word == "they" else it)
    return pronoun(word, *SUBJECTS[word])


def inanimate_pronoun(ctx: Context) -> Nominal:
    """Write "it" for the thing last mentioned, where `Context.antecedent` has found one."""
    known = next(m for m in reversed(ctx.mentions) if not m[0] and "p" not in m[2])
    return _anaphor("it", known)


def _persons(ctx: Context, subject: Nominal) -> list[str]:
    """Object pronouns for persons who are not the subject."""
    options = [word for word, row in DIRECT.items() if subject.person not in row[3]]
    return options + ["you"] * 2 * (ctx.you is not None and subject.person != ctx.you.person)


def direct_clitic(ctx: Context, kinds: str, subject: Nominal) -> Clitic | None:
    """Choose a direct object pronoun for something of these kinds, or None where none is clear."""
    options = _persons(ctx, subject) if "p" in kinds else []
    them, it = ctx.antecedent(True, kinds), ctx.antecedent(False, kinds)
    # a pronoun that is itself "they" or "it" has used up its antecedent
    word = subject.english[0].word
    options += ["them"] * 3 * bool(them and word != "they")
    options += ["it"] * 3 * bool(it and word != "it")
    if not options:
        return None
    word = ctx.pick(options)
    if word == "you":
        french, agree = "te" if ctx.you.person == 1 else "vous", (ctx.you.feminine, ctx.you.plural)
    elif word in ("them", "it"):
        plural, feminine, _ = them if word == "them" else it
        french, agree = le(feminine, plural), (feminine, plural)
    else:
        french, *agree, _ = DIRECT[word]
    return Clitic(*weave(f"{word} | {french}/clitic/0"), tuple(agree))


def indirect_clitic(ctx: Context, subject: Nominal) -> Clitic:
    """Choose an indirect object pronoun: one "her" is la or lui, as the verb asks."""
    options = _persons(ctx, subject)
    if ctx.antecedent(True, "p") and subject.english[0].word != "they":
        options += ["them", "them"]
    word = ctx.pick(options)
    french = DATIVE.get(word) or ("te" if ctx.you.person == 1 else "vous")
    return Clitic(*weave(f"{word} | {french}/clitic/0"))


def reflexive(subject: Nominal) -> Clitic:
    """Give "himself" and "se", the same person as the subject."""
    word = SELVES.get(subject.person)
    if subject.person == 2:
        human = "p" in subject.kinds
        word = ("herself" if subject.feminine else "himself") if human else "itself"
    if subject.person == 4 and not subject.plural:
        word = "yourself"
    return Clitic(*weave(f"{word} | {REFLEXIVES[subject.person]}/clitic/0"))


# --- places -------------------------------------------------------------------------------------

PLACES = {  # how one is in a place, in both languages, and how one goes to it
    "house": ("in", "dans", "dans"), "school": ("at", "à", "à"), "church": ("in", "dans", "à"),
    "castle": ("in", "dans", "à"), "hotel": ("at", "à", "à"), "museum": ("at", "à", "à"),
    "library": ("in", "dans", "à"), "shop": ("in", "dans", "à"), "garden": ("in", "dans", "dans"),
    "forest": ("in", "dans", "dans"), "village": ("in", "dans", "à"), "city": ("in", "dans", "à"),
    "island": ("on", "sur", "sur"), "beach": ("on", "sur", "à"),
}  # fmt: skip
SPOTS = {
    "s": tuple(PLACES),
    "h": ("house", "castle", "village", "city", "forest", "island"),  # where people live
    "a": ("garden", "forest", "village", "island", "beach", "house"),  # where animals are
}
CALLED_ON = ("doctor", "baker", "lawyer", "neighbour", "teacher")  # at the doctor's


def place(ctx: Context, going: bool = False, kinds: str = "p", options: str = "tcbvss") -> Phrase:
    """Choose a place for something of these kinds; animals stay out of towns and offices.

    `options` are letters to draw from: t town, c country, b bank, v a visit to somebody,
    s a spot from the table, h one where people live.
    """
    ctx.placed = True
    choice = "a" if kinds == "a" else ctx.pick(options)
    if choice in "tc":
        english, french, word, feminine = ctx.pick(TOWNS if choice == "t" else COUNTRIES)
        ctx.fresh.append((False, feminine, "x"))  # "it" could be the town
        kind = "contraction" if word == "au" else "preposition"
        return weave(f"{'to' if going else 'in'} {english} | {word}/{kind}/0 {french}/noun/1")
    if choice == "v":
        noun, entry = NOUNS[ctx.pick(CALLED_ON)], "at <the> 's | chez/preposition/0,1 <the>"
    elif choice == "b":
        noun, entry = MONEY_BANK, "at <the> | à/preposition/0 <the>"
    else:
        name = ctx.pick(SPOTS[choice])
        noun, (e, word, to) = NOUNS[name], PLACES[name]
        entry = f"{e} <the> | {to if going else word}/preposition/0 <the>"
    plain = choice in "vb"
    the = noun_phrase(ctx, noun, kind="the", plural=False, depth=0, plain=plain)
    return weave("to" + entry[2:] if going else entry, the=the)
