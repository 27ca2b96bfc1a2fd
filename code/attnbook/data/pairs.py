"""The shape in which every corpus hands out its sentence pairs."""

from __future__ import annotations

from typing import NamedTuple


class AlignedPair(NamedTuple):
    """A source sentence, its translation and the links between their words.

    Links are (target index, source index), zero-based: row and column of a heat map.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]] = frozenset()
    possible: frozenset[tuple[int, int]] = frozenset()  # every sure link is also possible
    classes: tuple[str, ...] = ()  # word class of each target token, () where unknown
    template: str = ""  # names of the derivation's templates, "" where unknown


class Splits(NamedTuple):
    """Pairs to learn from, to choose with and to judge by."""

    train: list[AlignedPair]
    validation: list[AlignedPair]
    test: list[AlignedPair]
