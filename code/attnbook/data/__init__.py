"""Corpora, vocabularies and batches. Knows no model.

A corpus is one function that gives AlignedPair: `grammar_corpus` is made here and always there,
`fra_eng` and `alibi` are fetched.
"""

from __future__ import annotations

import importlib

# The rest is light: what fetches imports its downloader when it must. `fra_eng` and `alibi` are
# files and functions of one name, so they cannot wait: a file imported later would take the name.
from .batches import Batch, LengthBatches, collate, length_batches
from .pairs import AlignedPair, Splits
from .vocabulary import BOS, EOS, PAD, UNK, Vocabulary

_LAZY = {"grammar_corpus": ".grammar"}

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "UNK",
    "AlignedPair",
    "Batch",
    "LengthBatches",
    "Splits",
    "Vocabulary",
    "collate",
    "length_batches",
    *_LAZY,
]


def __getattr__(name: str):
    """Import the grammar on first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module 'attnbook.data' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name], __name__), name)
