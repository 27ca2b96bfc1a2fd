"""Documents: how reviews are read, on small files of our own and on the real ones, and padded."""

import sys
import zipfile

import pytest
import torch
from attnbook_testing.refusals import refuses

from attnbook.data import movie_reviews, pad_documents, rated_reviews, why_missing, words_of
from attnbook.data.fetch import CorpusCorrupted

HERE = sys.modules[movie_reviews.__module__]


@pytest.fixture
def files(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "movie_reviews.zip", "w") as archive:
        archive.writestr("movie_reviews/pos/cv312_7.txt", b"it's good ! \n\n\xa0\nsee it .\n")
        archive.writestr("movie_reviews/neg/cv001_42.txt", "Bad\xe9 2-hour film .".encode("latin1"))
        archive.writestr("movie_reviews/README", "cv000")
    rows = ["1_1\t-1.5\tIt broke.", "1_2\t0\t...", "2_1\t2.25\t", "2_3\t3\tGreat, I'd buy it"]
    (tmp_path / "amazonReviewSnippets_GroundTruth.txt").write_text("\n".join(rows), "latin1")
    monkeypatch.setattr(HERE, "corpus_file", lambda name: tmp_path / name)
    return tmp_path


def test_movie_reviews_are_read(files):
    bad, good = movie_reviews()
    assert good.sentences == (("it's", "good", "!"), ("see", "it", "."))
    assert (good.positive, good.fold, bad.positive, bad.fold) == (True, 3, False, 0)
    assert bad.sentences == (("bad", "\xe9", "2", "-", "hour", "film", "."),)
    (files / "movie_reviews.zip").write_bytes(b"PK")
    refuses(CorpusCorrupted, "no whole zip", movie_reviews)


def test_rated_reviews_are_read(files):
    one, two = rated_reviews()
    assert one.sentences == (("it", "broke", "."), (".", ".", "."))
    assert one.ratings == (-1.5, 0.0) and one.name == "1"
    assert two.ratings == (3.0,) and two.sentences[0][:3] == ("great", ",", "i'd")
    assert rated_reviews(least=2) == [one]


def test_padding_is_the_mask():
    ids, mask = pad_documents([[[5, 6], [7]], [[8]], []])
    assert ids.tolist() == [[[5, 6], [7, 0]], [[8, 0], [0, 0]], [[0, 0], [0, 0]]]
    assert torch.equal(mask, ids > 0)
    refuses(ValueError, "documents must hold a word, got 2", pad_documents, [[[]], []])
    refuses(ValueError, "documents must hold a word, got 0", pad_documents, [])
    assert words_of("Don't panic! (42)") == ("don't", "panic", "!", "(", "42", ")")


@pytest.mark.skipif(
    bool(why_missing("movie_reviews", "rated_reviews")),
    reason="the reviews are not here: name a folder that has them in ATTNBOOK_DATA",
)
def test_the_real_ones_are_whole():
    films = movie_reviews()
    assert len(films) == 2000 and sum(film.positive for film in films) == 1000
    assert [sum(film.fold == fold for film in films) for fold in range(10)] == [200] * 10
    rated = rated_reviews()
    assert len(rated) == 300 and max(map(abs, sum((r.ratings for r in rated), ()))) <= 4
    assert len(rated_reviews(least=5)) == 263
