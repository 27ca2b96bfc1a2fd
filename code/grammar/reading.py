"""Pairs for human eyes: natural French text, and a table of links."""

from __future__ import annotations

from collections.abc import Sequence

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
