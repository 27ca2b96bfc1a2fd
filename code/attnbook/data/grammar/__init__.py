"""English to French from a grammar of our own, with gold word alignments."""

from __future__ import annotations

from .corpus import grammar_corpus

CLASSES = ("noun", "verb", "adjective", "adverb")

__all__ = ["CLASSES", "grammar_corpus"]
