"""Tiny Shakespeare: 40,000 lines from the plays, as one text.

The plays are in the public domain; the selection is Karpathy's, of 2015, which small language
models are often tried on.
"""

from __future__ import annotations

from .fetch import corpus_file


def shakespeare() -> str:
    """Give tiny Shakespeare, 1,115,394 characters of 65 kinds.

    Raises:
        CorpusError: the corpus cannot be had; the message says what to do.
    """
    return corpus_file("tinyshakespeare.txt").read_bytes().decode("ascii")  # no line end is changed
