"""The corpus: sentences drawn until every length is filled, and its three ways of splitting."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..pairs import AlignedPair, Splits
from .context import Context, Dice
from .lexicon import ADJECTIVES, NOUNS
from .questions import command, command_not, exclamation
from .sentences import QUESTIONS, SENTENCES, mark
from .tokens import Phrase, spell_english, spell_french

BUCKETS = ((3, 10), (11, 20), (21, 30), (31, 40))  # source tokens
SHORTEST, LONGEST = 3, 40
RICHNESS = (0.12, 0.35, 0.55, 0.62)  # how readily phrases grow, by bucket
CLAUSES = ((1,), (1, 1, 2), (2, 2, 3), (2, 3, 3, 4))  # how many, by bucket


class Derivation(NamedTuple):
    """A pair, and what its derivation used."""

    pair: AlignedPair
    templates: frozenset[str]
    combinations: frozenset[tuple[str, str]]  # (adjective or verb, noun), in English


def derive(dice: Dice, bucket: int) -> Derivation:
    """Derive one sentence, about as long as a bucket asks for."""
    time = dice.pick(("present", "present", "past", "future"))
    ctx = Context(dice, time, RICHNESS[bucket])
    stop = "."
    roll = dice.random()
    clauses = dice.pick(CLAUSES[bucket])
    if bucket < 2 and roll < 0.3:
        frame, stop = dice.pick(QUESTIONS), "?"
        ctx.used.append(frame.__name__)
        phrase = frame(ctx)
    elif bucket < 2 and roll < 0.42:
        frame = dice.pick((command, command_not, exclamation))
        stop = "!"
        ctx.used.append(frame.__name__)
        phrase = frame(ctx)
    else:
        frame = dice.pick(SENTENCES)
        ctx.used.append(frame.__name__)
        phrase = frame(ctx, clauses)
    return finish(ctx, phrase, stop)


def finish(ctx: Context, phrase: Phrase, stop: str) -> Derivation:
    """Spell both sides and read the links off the tokens."""
    end = mark(stop)
    source = spell_english([*phrase.english, *end.english])
    for index, token in enumerate(source):
        token.index = index
    target = spell_french([*phrase.french, *end.french])
    sure = frozenset((i, e.index) for i, t in enumerate(target) for e in t.sure)
    possible = frozenset((i, e.index) for i, t in enumerate(target) for e in t.possible)
    templates = dict.fromkeys(ctx.used)
    pair = AlignedPair(
        tuple(t.word for t in source),
        tuple(t.word for t in target),
        sure,
        sure | possible,
        tuple(t.kind for t in target),
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
        wanted = max(range(4), key=lambda i: room[i])
        derivation = derive(dice, wanted)
        pair = derivation.pair
        length = len(pair.source)
        if stutters(pair):
            continue
        if not SHORTEST <= length <= LONGEST or len(pair.target) > LONGEST:
            continue
        bucket = next(i for i, (_, most) in enumerate(BUCKETS) if length <= most)
        if not room[bucket] or pair.source in seen:
            continue
        seen.add(pair.source)
        room[bucket] -= 1
        done.append(derivation)
    dice.shuffle(done)
    return tuple(done)


def held_out_combination(pair: tuple[str, str]) -> bool:
    """Tell whether an adjective or a verb never meets this noun in training."""
    names = list(ADJECTIVES)
    first = names.index(pair[0]) if pair[0] in ADJECTIVES else sum(map(ord, pair[0]))
    second = list(NOUNS).index(pair[1]) if pair[1] in NOUNS else 0
    return (first * 7 + second * 3) % 13 == 0


HELD_OUT_TEMPLATES = frozenset(
    """clitic_not clitic_near two_clitics giving_double like_not passive_not comparative_not
    want_clitic relative_stranded how_many motion_not""".split()
)


def grammar_corpus(split: str = "random", *, seed: int = 0, size: int = 24_000) -> Splits:
    """Give the English-French grammar corpus in one of its splits.

    "random" splits by source sentence, "combinations" holds adjectives and nouns, verbs and
    objects apart that never meet in training, "templates" holds whole templates out.
    """
    done = derivations(seed, size)
    share = max(1, size // 12)
    if split == "random":
        kept, test = done[:-share], done[-share:]
    elif split == "combinations":
        kept, test = _partition(done, lambda d: any(map(held_out_combination, d.combinations)))
    elif split == "templates":
        kept, test = _partition(done, lambda d: bool(d.templates & HELD_OUT_TEMPLATES))
    else:
        raise ValueError(f'split must be "random", "combinations" or "templates", got {split!r}')
    pairs = [d.pair for d in kept]
    seen = {w for p in pairs[share:] for w in (*p.source, *p.target)}
    held = [d.pair for d in test]
    if split != "random":
        held = [p for p in held if seen.issuperset(p.source) and seen.issuperset(p.target)]
    return Splits(pairs[share:], pairs[:share], held)


def _partition(done, out):
    kept, test = [], []
    for derivation in done:
        (test if out(derivation) else kept).append(derivation)
    return kept, test
