"""The corpus: sentences drawn until every length is filled, and the file that they are kept in."""

from __future__ import annotations

import zlib
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from attnbook.data.pairs import AlignedPair, Link

from .lexicon import COUNTRIES, PEOPLE, TOWNS
from .phrases import Context, Dice, Phrase, spell_english, spell_french, weave
from .questions import COMMANDS, QUESTIONS
from .sentences import SENTENCES, Stuck, chain

CLASSES = ("noun", "verb", "adjective", "adverb")  # content words, which always have a sure link
BUCKETS = ((3, 10), (11, 20), (21, 30), (31, 40))  # source tokens
SHORTEST, LONGEST = 3, 40
MOST_FRENCH = 50  # before contraction and the last mark: longer ones are surely too long
TIMES = ("present", "present", "past", "future")
RICHNESS = (0.12, 0.35, 0.55, 0.62)  # how readily phrases grow, by bucket
CLAUSES = ((1,), (1, 1, 2), (2, 2, 3), (2, 3, 3))  # how many, by bucket
PROPER = frozenset(row[1] for row in (*PEOPLE, *TOWNS, *COUNTRIES))
# each link once, however many pairs have it
_LINKS = [[(i, j) for j in range(LONGEST)] for i in range(MOST_FRENCH + 1)]


class Derivation(NamedTuple):
    """A pair, and what its derivation used."""

    pair: AlignedPair
    templates: frozenset[str]
    combinations: frozenset[tuple[str, str]]  # (adjective or verb, noun), in English


def derive(ctx: Context, bucket: int) -> tuple[Phrase, str]:
    """Derive one sentence, about as long as a bucket asks for, and its last mark."""
    roll = ctx.random()
    if bucket > 1 or roll >= 0.42:
        frame = ctx.pick(SENTENCES)
        ctx.used.append(frame.__name__)
        return frame(ctx, ctx.pick(CLAUSES[bucket])), "."
    frame, stop = (ctx.pick(QUESTIONS), "?") if roll < 0.3 else (ctx.pick(COMMANDS), "!")
    ctx.used.append(frame.__name__)
    return frame(ctx), stop


def finish(ctx: Context, phrase: Phrase) -> Derivation:
    """Spell both sides and read the links off the tokens."""
    source, target = spell_english(phrase.english), spell_french(phrase.french)
    for index, token in enumerate(source):
        token.index = index
    sure = frozenset([_LINKS[i][e.index] for i, t in enumerate(target) for e in t.sure])
    possible = [_LINKS[i][e.index] for i, t in enumerate(target) for e in t.possible]
    templates = dict.fromkeys(ctx.used)
    pair = AlignedPair(
        tuple([t.word for t in source]),
        tuple([t.word for t in target]),
        sure,
        sure.union(possible),
        tuple([t.kind for t in target]),
        " + ".join(templates),
    )
    return Derivation(pair, frozenset(templates), frozenset(ctx.combinations))


def stutters(pair: AlignedPair) -> bool:
    """Tell whether a word stands twice in a row: right by grammar, and no good sentence."""
    return any(a == b for a, b in pairwise(pair.source)) or any(
        a == b and a not in ("nous", "vous") for a, b in pairwise(pair.target)
    )


@lru_cache(maxsize=2)
def derivations(seed: int = 0, size: int = 24_000) -> tuple[Derivation, ...]:
    """Derive `size` sentences with distinct sources, a quarter of them in each bucket."""
    dice = Dice(seed)
    seen: set[tuple[str, ...]] = set()
    room = [size // 4 + (i < size % 4) for i in range(4)]
    done: list[Derivation] = []
    while len(done) < size:
        wanted = room.index(max(room))
        ctx = Context(dice, dice.pick(TIMES), RICHNESS[wanted])
        try:
            phrase, stop = derive(ctx, wanted)
        except Stuck:
            continue
        length = len(phrase.english) + 1
        bucket = next((i for i, (low, high) in enumerate(BUCKETS) if low <= length <= high), None)
        if bucket is None or not room[bucket] or len(phrase.french) > MOST_FRENCH:
            continue
        derivation = finish(ctx, chain(phrase, weave(f"{stop} | {stop}/punctuation/0")))
        pair = derivation.pair
        if not SHORTEST <= len(pair.target) <= LONGEST or stutters(pair) or pair.source in seen:
            continue
        seen.add(pair.source)
        room[bucket] -= 1
        done.append(derivation)
    dice.shuffle(done)
    return tuple(done)


def held_out(combination: tuple[str, str]) -> bool:
    """Tell whether this adjective or verb and this noun never meet in "combinations" training."""
    return zlib.crc32(" ".join(combination).encode()) % 13 == 0  # the same on every machine


def line(derivation: Derivation) -> str:
    """Write one line of the corpus file, which `attnbook.data.grammar` reads."""
    pair = derivation.pair
    french = []
    for t, (word, kind) in enumerate(zip(pair.target, pair.classes, strict=True)):
        sure, possible = _links(pair.sure, t), _links(pair.possible - pair.sure, t)
        french.append(f"{word}/{kind}/{sure}{'?' * bool(possible)}{possible}")
    joined = int(any(map(held_out, derivation.combinations)))
    return f"{' '.join(pair.source)}\t{' '.join(french)}\t{pair.template}\t{joined}"


def _links(links: frozenset[Link], target: int) -> str:
    return ",".join(str(s) for t, s in sorted(links) if t == target)


def text() -> bytes:
    """The whole corpus file, before it is compressed."""
    return "".join(line(derivation) + "\n" for derivation in derivations()).encode()


def french_text(tokens) -> str:
    """Join French tokens as a typesetter would.

    Elided words close up, an inverted pronoun keeps its hyphen, names and the first word get
    their capitals, and a no-break space stands before "?" and "!".
    """
    text = ""
    for token in tokens:
        word = token.capitalize() if token in PROPER else token
        if token in ("?", "!"):
            word = "\u00a0" + word
        elif text and not text.endswith("'") and token[0] not in ".,-":
            word = " " + word
        text += word
    return (text[:1].upper() + text[1:]).replace("'", "\u2019")
