"""Where, and where to: one English "to" is à, en, au, chez, dans or sur; so is one "in"."""

from __future__ import annotations

from typing import NamedTuple

from .context import Context
from .lexicon import MONEY_BANK, NOUNS, Noun
from .names import COUNTRIES, TOWNS
from .nouns import after_preposition, noun_phrase
from .tokens import English, French, Phrase


class Place(NamedTuple):
    """How one is in a place and how one goes to it."""

    noun: Noun
    english_in: str
    french_in: str
    french_to: str


PLACES = {
    name: Place(NOUNS[name], *words)
    for name, *words in (
        ("house", "in", "dans", "dans"),
        ("school", "at", "à", "à"),
        ("church", "in", "dans", "à"),
        ("castle", "in", "dans", "à"),
        ("hotel", "at", "à", "à"),
        ("museum", "at", "à", "à"),
        ("library", "in", "dans", "à"),
        ("shop", "in", "dans", "à"),
        ("garden", "in", "dans", "dans"),
        ("forest", "in", "dans", "dans"),
        ("village", "in", "dans", "à"),
        ("city", "in", "dans", "à"),
        ("island", "on", "sur", "sur"),
        ("beach", "on", "sur", "à"),
    )
}
CALLED_ON = ("doctor", "baker", "lawyer", "neighbour", "teacher")  # at the doctor's
HOMES = ("house", "castle", "village", "city", "forest", "island")  # where people live
OUTDOORS = ("garden", "forest", "village", "island", "beach", "house")  # where animals are


def place(ctx: Context, going: bool = False, kinds: str = "p", options: str = "tcbvss") -> Phrase:
    """Choose a place for something of these kinds; animals stay out of towns and offices.

    `options` are letters to draw from: t town, c country, b bank, v a visit to somebody,
    s a spot from the table, h one where people live.
    """
    ctx.placed = True
    choice = "a" if kinds == "a" else ctx.dice.pick(options)
    if choice in "tc":
        return _named(ctx, going, *ctx.dice.pick(TOWNS if choice == "t" else COUNTRIES))
    if choice == "v":
        return _visit(ctx, going)
    if choice == "b":
        e = English("to" if going else "at")
        the = noun_phrase(ctx, "h", noun=MONEY_BANK, kind="the", plural=False, depth=0, plain=True)
        french = after_preposition(French("à", "preposition", (e,)), the)
        return Phrase([e, *the.english], french)
    names = {"a": OUTDOORS, "h": HOMES}.get(choice) or tuple(PLACES)
    spot = PLACES[ctx.dice.pick(names)]
    e = English("to" if going else spot.english_in)
    the = noun_phrase(ctx, "hl", noun=spot.noun, kind="the", plural=False, depth=0)
    word = spot.french_to if going else spot.french_in
    return Phrase([e, *the.english], after_preposition(French(word, "preposition", (e,)), the))


def _named(
    ctx: Context, going: bool, english: str, french: str, preposition: str, feminine: bool
) -> Phrase:
    """Write "in paris", "in france", "in japan": à Paris, en France, au Japon."""
    e, name = English("to" if going else "in"), English(english)
    ctx.fresh.append((False, feminine, "x"))  # "it" could be the town
    kind = "contraction" if preposition == "au" else "preposition"
    return Phrase(
        [e, name],
        [French(preposition, kind, (e,)), French(french, "noun", (name,), (), "")],
    )


def _visit(ctx: Context, going: bool) -> Phrase:
    """Write "at the doctor's": "chez le médecin"."""
    e, mark = English("to" if going else "at"), English("'s")
    noun = NOUNS[ctx.dice.pick(CALLED_ON)]
    the = noun_phrase(ctx, "p", noun=noun, kind="the", plural=False, depth=0, plain=True)
    chez = French("chez", "preposition", (e, mark))
    return Phrase([e, *the.english, mark], [chez, *the.french])
