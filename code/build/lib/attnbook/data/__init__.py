"""Corpora, vocabularies and batches. Knows no model.

A corpus is one function that gives AlignedPair: `grammar_corpus` is made here and always there,
`fra_eng` and `alibi` are fetched.
"""

from __future__ import annotations

import importlib

# The rest is light: what fetches imports its downloader when it must. `fra_eng` and `alibi` are
# files and functions of one name, so they cannot wait: a file imported later would take the name.
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
from .pairs import AlignedPair, Splits
from .text import detokenize, tokenize
from .vocabulary import BOS, EOS, PAD, UNK, Vocabulary

_LAZY = {"grammar_corpus": ".grammar"}

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
    "length_batches",
    "tokenize",
    "why_missing",
    *_LAZY,
]


def __getattr__(name: str):
    """Import the grammar on first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module 'attnbook.data' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name], __name__), name)
