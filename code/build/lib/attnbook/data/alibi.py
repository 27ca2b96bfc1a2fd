"""Alibi: five French stories and their English translations with word alignments made by hand.

Xu and Yvon, "Novel elicitation and annotation schemes for sentential and sub-sentential alignments
of bitexts", LREC 2016. Annotations CC BY-SA 4.0, texts from Wikisource.
"""

from __future__ import annotations

import re
from pathlib import Path

from .._checks import check_count
from .fetch import CorpusCorrupted, corpus_file
from .pairs import AlignedPair, Link
from .pins import ALIBI_STORIES
from .text import spell

_LINK = re.compile(r"(\d+)([-p])(\d+)")  # 3-4 is sure, 3p4 possible; the French index first


def alibi(*, max_len: int | None = None, lower: bool = True) -> list[AlignedPair]:
    """Give the 522 English-French pairs of Alibi with their gold links, story by story.

    The tokens are those of the corpus, which the links count; `tokenize` would cut some elsewhere.
    Its files hold 8,452 sure links and 14,147 others that are only possible; here every sure link
    is among the possible ones too, 22,599 in all.

    Args:
        max_len: leave out pairs with more tokens than this on either side.
        lower: write the tokens in lower case, as `tokenize` does; plain apostrophes in any case.

    Returns:
        Pairs with the English side as source, (French index, English index) as links.

    Raises:
        ValueError: `max_len` is below 1.
        CorpusError: the corpus cannot be had; the message says what to do.
    """
    longest = float("inf") if max_len is None else check_count("max_len", max_len, least=1)
    pairs = [pair for files in ALIBI_STORIES.values() for pair in _story(files, lower)]
    return [pair for pair in pairs if max(len(pair.source), len(pair.target)) <= longest]


def _story(files: tuple[tuple[str, int, str], ...], lower: bool):
    french, english, links = (_rows(corpus_file(f"alibi/{file}")) for file, _, _ in files)
    if not list(french) == list(english) == list(links):
        raise CorpusCorrupted(f"{files[-1][0]} must number its sentences as the two texts do")
    for number, written in links.items():
        source = tuple(spell(token, lower=lower) for token in english[number].split())
        target = tuple(spell(token, lower=lower) for token in french[number].split())
        sure, possible = _links(written)
        if any(q >= len(target) or k >= len(source) for q, k in possible):
            raise CorpusCorrupted(f"{files[-1][0]}, sentence {number}: a link to no token")
        yield AlignedPair(source, target, sure, possible)


def _rows(path: Path) -> dict[str, str]:
    """`number TAB text`, one a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines)


def _links(written: str) -> tuple[frozenset[Link], frozenset[Link]]:
    """Sure links, and possible ones, which are all."""
    sure, possible = set(), set()
    for word in written.split():
        match = _LINK.fullmatch(word)
        if not match:
            raise CorpusCorrupted(f"a link must be written 3-4 or 3p4, got {word!r}")
        link = int(match[1]), int(match[3])
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return frozenset(sure), frozenset(possible)
