"""Pairs for human eyes: natural French text, and a table of links."""

from __future__ import annotations

from collections.abc import Sequence

from ..pairs import AlignedPair
from .names import PROPER


def french_text(tokens: Sequence[str]) -> str:
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
