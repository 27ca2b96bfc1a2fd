"""The corpus: sentences drawn until every length is filled, and its three ways of splitting."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..._checks import check_count
from ..pairs import AlignedPair, Splits
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
def derivations(seed: int, size: int) -> tuple[Derivation, ...]:
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


HELD_OUT_TEMPLATES = frozenset(
    """clitic_not clitic_near two_clitics giving_double like_not passive_not comparative_not
    want_clitic relative_stranded whom motion_not""".split()
)  # every word of theirs has a place in other templates too


def held_out(combination: tuple[str, str]) -> bool:
    """Tell whether this adjective or verb and this noun never meet in "combinations" training."""
    return zlib.crc32(" ".join(combination).encode()) % 13 == 0  # the same on every machine


def grammar_corpus(split: str = "random", *, seed: int = 0, size: int = 24_000) -> Splits:
    """Give the English to French grammar corpus in one of its splits.

    All splits part the same `size` pairs with distinct sources, a quarter of them in each length
    of `BUCKETS`; the pairs depend on nothing but `seed` and `size`. A twelfth is for validation
    and resembles the training pairs. The test set is

    - "random": another twelfth;
    - "combinations": every pair in which an adjective and a noun, or a verb and its object, stand
      together that never do so in training (`held_out`);
    - "templates": every pair that uses one of `HELD_OUT_TEMPLATES`.

    In the last two every word of the test set occurs in training; the few pairs for which that
    fails belong to no part. Raises ValueError for another `split` or a negative or too small
    `size`, TypeError unless `seed` and `size` are ints.
    """
    check_count("seed", seed)
    size = check_count("size", size, least=12)
    if split not in ("random", "combinations", "templates"):
        raise ValueError(f'split must be "random", "combinations" or "templates", got {split!r}')
    done = derivations(seed, size)
    if split == "random":
        kept, test = [d.pair for d in done], []
    elif split == "combinations":
        kept, test = _partition(done, lambda d: any(map(held_out, d.combinations)))
    else:
        kept, test = _partition(done, lambda d: not d.templates.isdisjoint(HELD_OUT_TEMPLATES))
    share = size // 12
    if split == "random":
        test = [kept.pop() for _ in range(share)]
    validation, train = kept[:share], kept[share:]
    words = {word for pair in train for word in (*pair.source, *pair.target)}
    if split != "random":  # what is new in a test pair is how its words are put together
        test = [p for p in test if words.issuperset(p.source) and words.issuperset(p.target)]
    return Splits(train, validation, test)


def _partition(
    done: tuple[Derivation, ...], out: Callable[[Derivation], bool]
) -> tuple[list[AlignedPair], list[AlignedPair]]:
    """Part the pairs that are kept from those that are held out."""
    parts: tuple[list[AlignedPair], list[AlignedPair]] = ([], [])
    for derivation in done:
        parts[out(derivation)].append(derivation.pair)
    return parts
