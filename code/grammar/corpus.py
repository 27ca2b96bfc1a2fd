"""The corpus: sentences drawn until every length is filled, and its three ways of splitting."""

from __future__ import annotations

import zlib
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from attnbook.data.pairs import AlignedPair, Link

from .clauses import Stuck
from .context import Context, Dice
from .questions import command, command_not, exclamation
from .sentences import QUESTIONS, SENTENCES, mark
from .tokens import Phrase, spell_english, spell_french

BUCKETS = ((3, 10), (11, 20), (21, 30), (31, 40))  # source tokens
SHORTEST, LONGEST = 3, 40
MOST_FRENCH = 50  # before contraction and the last mark: longer ones are surely too long
TIMES = ("present", "present", "past", "future")
RICHNESS = (0.12, 0.35, 0.55, 0.62)  # how readily phrases grow, by bucket
CLAUSES = ((1,), (1, 1, 2), (2, 2, 3), (2, 3, 3))  # how many, by bucket


# each link once, however many pairs have it
_LINKS = [[(i, j) for j in range(LONGEST)] for i in range(MOST_FRENCH + 1)]


class Derivation(NamedTuple):
    """A pair, and what its derivation used."""

    pair: AlignedPair
    templates: frozenset[str]
    combinations: frozenset[tuple[str, str]]  # (adjective or verb, noun), in English


def derive(ctx: Context, bucket: int) -> tuple[Phrase, str]:
    """Derive one sentence, about as long as a bucket asks for, and its last mark."""
    roll = ctx.dice.random()
    if bucket < 2 and roll < 0.3:
        frame, stop = ctx.dice.pick(QUESTIONS), "?"
    elif bucket < 2 and roll < 0.42:
        frame, stop = ctx.dice.pick((command, command_not, exclamation)), "!"
    else:
        frame, stop = ctx.dice.pick(SENTENCES), "."
    ctx.used.append(frame.__name__)
    phrase = frame(ctx, ctx.dice.pick(CLAUSES[bucket])) if stop == "." else frame(ctx)
    return phrase, stop


def finish(ctx: Context, phrase: Phrase, stop: str) -> Derivation:
    """Spell both sides and read the links off the tokens."""
    end = mark(stop)
    source = spell_english([*phrase.english, *end.english])
    for index, token in enumerate(source):
        token.index = index
    target = spell_french([*phrase.french, *end.french])
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
        derivation = finish(ctx, phrase, stop)
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
    french = [
        f"{word}/{kind}/{_links(pair.sure, t)}"
        + "?" * bool(possible := _links(pair.possible - pair.sure, t))
        + possible
        for t, (word, kind) in enumerate(zip(pair.target, pair.classes, strict=True))
    ]
    joined = int(any(map(held_out, derivation.combinations)))
    return f"{' '.join(pair.source)}\t{' '.join(french)}\t{pair.template}\t{joined}"


def _links(links: frozenset[Link], target: int) -> str:
    return ",".join(str(s) for t, s in sorted(links) if t == target)


def text() -> bytes:
    """The whole corpus file, before it is compressed."""
    return "".join(line(derivation) + "\n" for derivation in derivations()).encode()
