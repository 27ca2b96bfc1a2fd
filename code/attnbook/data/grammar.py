"""The grammar corpus: 24,000 English-French pairs with gold word links, in a file of the package.

`code/grammar` derives them, sentence and links together; `make corpus` writes the file again. A
line of it is a pair: the English words; the French tokens, each as word/class/links; its templates,
the first of which made the sentence; and 1 where it joins two words that training under the split
"combinations" never joins. Links are the numbers of English words, the merely possible ones behind
a question mark: `la/determiner/0?1` translates word 0 and belongs to word 1.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .fetch import CorpusCorrupted
from .pairs import AlignedPair, Splits

FILE = Path(__file__).with_name("grammar.txt.xz")
SHA256 = "0665683582f638794f36cd85505e6ac738e62822e455cf0dd32a9d1787ead41a"  # of the text
HELD_OUT_TEMPLATES = frozenset(
    """clitic_not clitic_near two_clitics giving_double like_not passive_not comparative_not
    want_clitic relative_stranded whom motion_not""".split()
)  # every word of theirs has a place in other templates too
_MEND = "install the package again, or run make corpus"
SPLITS = ("random", "combinations", "templates")


def grammar_corpus(split: str = "random") -> Splits:
    """Give the English to French grammar corpus in one of its splits.

    All splits part the same 24,000 pairs with distinct sources, a quarter of them in each length
    (3 to 10, 11 to 20, 21 to 30, 31 to 40 tokens). A twelfth is for validation and resembles the
    training pairs. The test set is

    - "random": another twelfth;
    - "combinations": every pair in which an adjective and a noun, or a verb and its object, stand
      together that never do so in training (a thirteenth of all combinations, by a hash);
    - "templates": every pair that uses one of `HELD_OUT_TEMPLATES`.

    In the last two every word of the test set occurs in training; the few pairs for which that
    fails belong to no part. Raises ValueError for another `split`, CorpusCorrupted where the file
    is not as it was written.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {SPLITS}, got {split!r}")
    pairs, joined = _corpus()
    if split == "random":
        return random_parts(pairs)
    out = joined if split == "combinations" else [_is_held_out(pair) for pair in pairs]
    kept = [pair for pair, held in zip(pairs, out, strict=True) if not held]
    validation, train = kept[: len(pairs) // 12], kept[len(pairs) // 12 :]
    # what is new in a test pair is how its words are put together
    words = {word for pair in train for word in (*pair.source, *pair.target)}
    test = [p for p, held in zip(pairs, out, strict=True) if held]
    test = [p for p in test if words.issuperset(p.source) and words.issuperset(p.target)]
    return Splits(train, validation, test)


def random_parts(pairs: Sequence[AlignedPair]) -> Splits:
    """Part pairs that are in random order: a twelfth for validation, another for the test."""
    share = len(pairs) // 12
    return Splits(list(pairs[share:-share]), list(pairs[:share]), list(pairs[: -share - 1 : -1]))


def _is_held_out(pair: AlignedPair) -> bool:
    return not HELD_OUT_TEMPLATES.isdisjoint(pair.template.split(" + "))


@cache
def _corpus() -> tuple[tuple[AlignedPair, ...], tuple[bool, ...]]:
    """All pairs, and for each whether the split "combinations" keeps it for the test."""
    try:
        content = lzma.decompress(FILE.read_bytes())
    except (lzma.LZMAError, EOFError) as error:
        raise CorpusCorrupted(f"{FILE} is no whole file ({error}): {_MEND}") from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise CorpusCorrupted(f"{FILE} has not the SHA-256 {SHA256[:12]}…: {_MEND}")
    rows = [line.split("\t") for line in content.decode("utf-8").splitlines()]
    pairs = tuple([_pair(*row[:3]) for row in rows])
    return pairs, tuple([row[3] == "1" for row in rows])


def _pair(english: str, french: str, template: str) -> AlignedPair:
    tokens = [token(written) for written in french.split(" ")]
    sure = frozenset([(t, s) for t, (_, _, links, _) in enumerate(tokens) for s in links])
    possible = [(t, s) for t, (_, _, _, links) in enumerate(tokens) for s in links]
    words, classes = tuple([part[0] for part in tokens]), tuple([part[1] for part in tokens])
    return AlignedPair(
        tuple(english.split(" ")), words, sure, sure.union(possible), classes, template
    )


@cache
def token(written: str) -> tuple[str, str, tuple[int, ...], tuple[int, ...]]:
    """Read "la/determiner/0?1": word, class, English words it surely and possibly translates."""
    word, kind, links = written.split("/")
    sure, _, possible = links.partition("?")
    return word, kind, _numbers(sure), _numbers(possible)


def _numbers(written: str) -> tuple[int, ...]:
    return tuple(map(int, written.split(","))) if written else ()


def describe(pair: AlignedPair) -> str:
    """Write a pair and its links as text: each French word, its class, and its English words.

    Words in brackets are linked possibly, the others surely. Raises ValueError where a link
    points outside the pair.
    """
    rows = [" ".join(pair.source), " ".join(pair.target)]
    for i, j in pair.possible | pair.sure:
        if not (0 <= i < len(pair.target) and 0 <= j < len(pair.source)):
            raise ValueError(
                f"links must lie within {len(pair.target)} target and {len(pair.source)} source "
                f"tokens, got {(i, j)}"
            )
    classes = pair.classes or ("",) * len(pair.target)
    width = max(map(len, pair.target), default=0)
    kind_width = max(map(len, classes), default=0)
    for i, (word, kind) in enumerate(zip(pair.target, classes, strict=True)):
        linked = [j for t, j in sorted(pair.possible) if t == i]
        english = [pair.source[j] if (i, j) in pair.sure else f"({pair.source[j]})" for j in linked]
        rows.append(f"{word:>{width}}  {kind:<{kind_width}}  {' '.join(english) or '-'}")
    return "\n".join(rows)
