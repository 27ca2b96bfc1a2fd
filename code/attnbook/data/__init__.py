"""Corpora, vocabularies and batches. Knows no model.

A corpus is one function that gives AlignedPair: `grammar_corpus` is in the package, `fra_eng` and
`alibi` are fetched. `shakespeare`, fetched too, gives a text; `movie_reviews` and `rated_reviews`
give documents. `haystack` makes examples of numbers, `stories` makes stories with questions, and
`babi` reads those of others.
"""

from __future__ import annotations

from .alibi import alibi
from .babi import babi, read_babi
from .batches import Batch, collate, length_batches
from .documents import (
    RatedReview,
    Review,
    movie_reviews,
    pad_documents,
    rated_reviews,
    words_of,
)
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
    "RatedReview",
    "Review",
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
    "movie_reviews",
    "pack_stories",
    "pad_documents",
    "rated_reviews",
    "read_babi",
    "shakespeare",
    "stories",
    "tokenize",
    "why_missing",
    "words_of",
]
