"""Corpora, vocabularies and batches. Knows no model.

A corpus is one function that gives AlignedPair: `grammar_corpus` is in the package, `fra_eng` and
`alibi` are fetched. `shakespeare`, fetched too, gives a text. `haystack` makes examples of numbers,
`stories` makes stories with questions, and `babi` reads those of others.
"""

from __future__ import annotations

from .alibi import alibi
from .babi import babi, read_babi
from .batches import Batch, collate, length_batches
from .fetch import CorpusError, why_missing
from .fra_eng import fra_eng
from .grammar import grammar_corpus
from .haystack import Haystack, haystack
from .pairs import AlignedPair, Splits
from .shakespeare import shakespeare
from .stories import STORY_WORDS, Stories, Story, pack_stories, stories
from .text import tokenize
from .vocabulary import BOS, EOS, PAD, UNK, Vocabulary

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "STORY_WORDS",
    "UNK",
    "AlignedPair",
    "Batch",
    "CorpusError",
    "Haystack",
    "Splits",
    "Stories",
    "Story",
    "Vocabulary",
    "alibi",
    "babi",
    "collate",
    "fra_eng",
    "grammar_corpus",
    "haystack",
    "length_batches",
    "pack_stories",
    "read_babi",
    "shakespeare",
    "stories",
    "tokenize",
    "why_missing",
]
