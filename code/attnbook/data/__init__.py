"""Corpora by name, each as sentence pairs in three splits."""

from __future__ import annotations

import importlib

_LAZY = {
    "AlignedPair": ".pairs",
    "Splits": ".pairs",
    "grammar_corpus": ".grammar",
}

__all__ = [*_LAZY]


def __getattr__(name: str):
    """Import a corpus on first use (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module 'attnbook.data' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name], __name__), name)
