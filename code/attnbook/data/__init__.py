"""Corpora, vocabularies and batches. Knows no model.

A corpus is one function that gives AlignedPair: `grammar_corpus` is in the package, `fra_eng` and
`alibi` are fetched.
"""

from __future__ import annotations

from .alibi import alibi
from .batches import Batch, LengthBatches, collate, length_batches
from .fetch import (
    CorpusCorrupted,
    CorpusError,
    CorpusFolderMissing,
    CorpusUnreachable,
    CorpusUnwritable,
    corpus_file,
    why_missing,
)
from .fra_eng import CLASSIC_FOUR, fra_eng
from .grammar import grammar_corpus
from .pairs import AlignedPair, Splits
from .text import detokenize, tokenize
from .vocabulary import BOS, EOS, PAD, UNK, Vocabulary

__all__ = [
    "BOS",
    "CLASSIC_FOUR",
    "EOS",
    "PAD",
    "UNK",
    "AlignedPair",
    "Batch",
    "CorpusCorrupted",
    "CorpusError",
    "CorpusFolderMissing",
    "CorpusUnreachable",
    "CorpusUnwritable",
    "LengthBatches",
    "Splits",
    "Vocabulary",
    "alibi",
    "collate",
    "corpus_file",
    "detokenize",
    "fra_eng",
    "grammar_corpus",
    "length_batches",
    "tokenize",
    "why_missing",
]
