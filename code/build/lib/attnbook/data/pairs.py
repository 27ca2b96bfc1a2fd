"""What every corpus of the room gives: pairs of sentences with gold links, and their splits."""

from __future__ import annotations

from typing import NamedTuple

Link = tuple[int, int]


class AlignedPair(NamedTuple):
    """Two sentences that translate each other, with the gold links between their tokens.

    A link is (target index, source index), zero-based: row q and column k of a heat map whose
    queries are target tokens. Corpora without gold leave `sure` and `possible` empty. Sure and
    possible links: Och and Ney 2003, section 5.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[Link] = frozenset()
    possible: frozenset[Link] = frozenset()  # every sure link is possible too
    classes: tuple[str, ...] = ()  # word class of each target token, () where unknown
    template: str = ""  # name of the template that derived the pair, "" where unknown


class Splits(NamedTuple):
    """A corpus in three lists of AlignedPair: train on the first, choose by the second.

    The test set is looked at once, at the end.
    """

    train: list[AlignedPair]
    validation: list[AlignedPair]
    test: list[AlignedPair]
