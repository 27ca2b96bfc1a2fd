"""Documents of sentences: movie reviews with a verdict, product reviews rated sentence by sentence.

Neither corpus holds words in a form that needs more than `words_of`. `pad_documents` makes tensors.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from .fetch import CorpusCorrupted, corpus_file

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[^\sa-z0-9]")
_REVIEW = re.compile(r"movie_reviews/(pos|neg)/cv(\d)\d\d_\d+\.txt")


class Review(NamedTuple):
    """A movie review: sentences of words, whether it praises, and its official fold, 0 to 9."""

    sentences: tuple[tuple[str, ...], ...]
    positive: bool
    fold: int


class RatedReview(NamedTuple):
    """A product review; `ratings[i]`, from -4 to 4, is the mean of twenty people for sentence i."""

    name: str
    sentences: tuple[tuple[str, ...], ...]
    ratings: tuple[float, ...]


def words_of(sentence: str) -> tuple[str, ...]:
    """Words and marks of a sentence, in lower case."""
    return tuple(_WORD.findall(sentence.lower()))


def movie_reviews() -> list[Review]:
    """Give 2,000 movie reviews, 1,000 of each verdict, 200 in each of ten folds.

    Pang and Lee 2004 ("polarity dataset 2.0"); CC BY 4.0, by way of nltk_data.

    Raises:
        CorpusError: the corpus cannot be had; the message says what to do.
    """
    path = corpus_file("movie_reviews.zip")
    try:
        with zipfile.ZipFile(path) as archive:
            found = [match for name in archive.namelist() if (match := _REVIEW.fullmatch(name))]
            return [
                Review(_sentences(archive.read(m[0]).decode("latin1")), m[1] == "pos", int(m[2]))
                for m in sorted(found, key=lambda match: match[0])
            ]
    except (zipfile.BadZipFile, EOFError) as error:
        raise CorpusCorrupted(f"{path} is no whole zip ({error}): delete it, run again") from error


def rated_reviews(*, least: int = 1) -> list[RatedReview]:
    """Give 300 product reviews whose every sentence twenty people rated, or fewer.

    Hutto and Gilbert 2014, whose repository is under MIT; the reviews were collected by Hu and Liu
    2004: to measure with, and to be shown in short quotations.

    Args:
        least: leave out reviews with fewer sentences.

    Raises:
        CorpusError: the corpus cannot be had; the message says what to do.
    """
    path = corpus_file("amazonReviewSnippets_GroundTruth.txt")
    rows: dict[str, list] = {}
    for line in path.read_text(encoding="latin1").splitlines():
        place, rating, sentence = line.split("\t")
        if words := words_of(sentence):
            rows.setdefault(place.split("_")[0], []).append((words, float(rating)))
    reviews = (RatedReview(name, *zip(*rated, strict=True)) for name, rated in rows.items())
    return [review for review in reviews if len(review.sentences) >= least]


def pad_documents(documents: Sequence[Sequence[Sequence[int]]]) -> tuple[Tensor, Tensor]:
    """Ids of documents, of sentences, of words -> ids (b, s, w), padded with 0, and their mask.

    Raises:
        ValueError: no document has a word.
    """
    s = max((len(document) for document in documents), default=0)
    lengths = torch.zeros(len(documents), s, dtype=torch.long)
    for i, document in enumerate(documents):
        lengths[i, : len(document)] = torch.tensor([len(sentence) for sentence in document])
    if not lengths.any():
        raise ValueError(f"documents must hold a word, got {len(documents)} without any")
    mask = torch.arange(int(lengths.max())) < lengths.unsqueeze(-1)  # (b, s, w)
    ids = torch.zeros(mask.shape, dtype=torch.long)
    ids[mask] = torch.tensor(
        [n for document in documents for sentence in document for n in sentence]
    )
    return ids, mask


def _sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """One sentence a line; lines without a word are none."""
    return tuple(words for line in text.split("\n") if (words := words_of(line)))
