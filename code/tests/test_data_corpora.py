"""The corpora of others: how they are read and split, on small ones of our own and on the real."""

import random
import re
import sys
import zipfile

import pytest
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

from attnbook.data import AlignedPair, alibi, fra_eng, tokenize, why_missing
from attnbook.data.fetch import CorpusCorrupted
from attnbook.data.fra_eng import CLASSIC_FOUR
from attnbook.data.pins import ALIBI_STORIES
from attnbook.data.text import detokenize


def module(function):
    """The file that holds a corpus of the same name."""
    return sys.modules[function.__module__]


def spelt_out(tokens):
    """The words alone: what must not stand on both sides of a split."""
    return re.sub(r"[^\w' ]", "", " ".join(tokens)).split()


# A small file like the real one


@pytest.fixture
def small(tmp_path, monkeypatch):
    """600 sentences with one to four translations, some spelt in two ways, and the classic ones."""
    chance = random.Random(0)
    lines = ["Go.\tVa !", "Go!\tAllez !", "I lost.\tJ'ai perdu.", "I'm home.\tJe suis là."]
    lines += ["I am home!\tMe voilà.", "He is calm.\tIl est calme."]
    for n in range(600):
        words = " ".join(chance.choices(["cat", "dog", "sees", "old", "tree"], k=n % 9 + 1))
        for k in range(n % 4 + 1):
            lines.append(f"N{n} {words}{'.!'[k % 2]}\tP{n} l'arbre {'vert ' * k}.")
        lines.append(f"I'm n{n}.\tJe suis {n}.")
        lines.append(f"i AM n{n}!\tC'est moi, {n} !")
    path = tmp_path / "fra-eng.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fra-eng/fra.txt", "\n".join(lines) + "\n")
    monkeypatch.setattr(module(fra_eng), "corpus_file", lambda name: tmp_path / name)
    monkeypatch.setattr(module(fra_eng), "HELD_OUT", 0.2)
    return lines


def sources(pairs):
    return {re.sub(r"\bi'm\b", "i am", " ".join(p.source).rstrip(" .!")) for p in pairs}


def test_no_sentence_stands_on_both_sides_however_the_file_is_sorted(small, tmp_path):
    kept = [list(map(sources, fra_eng(seed=seed))) for seed in range(3)]
    for train, validation, test in kept:
        assert not train & validation and not train & test and not validation & test
        assert len(train) > len(test) > 100 and len(validation) > 100
    lengths = [len(p.source) for p in fra_eng().test]
    assert lengths != sorted(lengths)  # held out by chance, not the shortest
    with zipfile.ZipFile(tmp_path / "fra-eng.zip", "w") as archive:
        archive.writestr("fra-eng/fra.txt", "\n".join(small[::-1]) + "\n")
    assert list(map(sources, fra_eng())) == kept[0]


def test_every_line_is_somewhere(small):
    train, validation, test = fra_eng()
    want = {
        (tokenize(english), tokenize(french, "fr"))
        for english, french in (line.split("\t") for line in small)
    }
    assert {p[:2] for p in train} <= want
    held_out = sources(validation) | sources(test)
    left = {pair for pair in want if pair not in {p[:2] for p in train}}
    assert sources(AlignedPair(*pair) for pair in left) == held_out
    assert len(validation) + len(test) == len(held_out)  # one translation each


def test_the_split_rests_on_the_sentence_alone(small):
    whole, short, few = fra_eng(), fra_eng(max_len=6), fra_eng(limit=50)
    assert few.validation == whole.validation and few.test == whole.test
    assert few.train == whole.train[:50] == fra_eng(limit=200).train[:50]
    assert 0 < len(short.test) < len(whole.test)
    for a, b in zip(short, whole, strict=True):
        assert sources(a) <= sources(b)
        assert all(max(len(p.source), len(p.target)) <= 6 for p in a)
        shorter = [p for p in b if max(len(p.source), len(p.target)) <= 6]
        assert [p for p in a if p in set(shorter)] == shorter  # the same order
    assert fra_eng() == whole
    assert sources(fra_eng(seed=1).test) != sources(whole.test)


def test_the_classic_four_are_never_held_out(small):
    assert [" ".join(p.source) for p in CLASSIC_FOUR] == [
        "go .",
        "i lost .",
        "he's calm .",
        "i'm home .",
    ]
    four = {("go",), ("i", "lost"), ("i", "am", "home"), ("i'm", "home"), ("he's", "calm")}
    for seed in range(10):
        train, validation, test = fra_eng(seed=seed, limit=5)
        assert all(p.source[:-1] in four for p in train) and len(train) == 5
        assert not any(p.source[:-1] in four for p in [*validation, *test])


def test_bad_arguments_are_named(small):
    for name, least in (("max_len", 1), ("limit", 1), ("seed", 0)):
        refuses(ValueError, f"{name} must be at least {least}", fra_eng, **{name: least - 1})
    refuses(ValueError, "max_len must be at least 1", alibi, max_len=0)


def test_a_zip_that_lacks_the_text(small, tmp_path):
    with zipfile.ZipFile(tmp_path / "fra-eng.zip", "w") as archive:
        archive.writestr("other.txt", "")
    refuses(CorpusCorrupted, r"fra-eng/fra\.txt", fra_eng)


# Alibi's files, written by hand

STORY = (("fr_sents.txt", 0, ""), ("en_sents.txt", 0, ""), ("ali_w2w_fr_en.txt", 0, ""))


@pytest.fixture
def story(tmp_path, monkeypatch):
    (tmp_path / "alibi").mkdir()
    monkeypatch.setattr(module(alibi), "ALIBI_STORIES", {"fr_en": STORY})
    monkeypatch.setattr(module(alibi), "corpus_file", lambda name: tmp_path / name)

    def write(french, english, links):
        for (file, _, _), rows in zip(STORY, (french, english, links), strict=True):
            text = "".join(f"{n}\t{row}\n" for n, row in rows.items())
            (tmp_path / "alibi" / file).write_text(text, encoding="utf-8")

    return write


def test_links_point_from_french_to_english(story):
    story({0: "L’ Ogre dort", 1: "Oui"}, {0: "The Ogre", 1: "Yes ."}, {0: "0-0 1-1 2p1", 1: ""})
    pairs = alibi()
    assert pairs == [
        AlignedPair(
            ("the", "ogre"),
            ("l'", "ogre", "dort"),
            frozenset({(0, 0), (1, 1)}),
            frozenset({(0, 0), (1, 1), (2, 1)}),
        ),
        AlignedPair(("yes", "."), ("oui",)),
    ]
    assert alibi(lower=False)[0].target == ("L'", "Ogre", "dort")
    assert alibi(max_len=2) == pairs[1:]


def test_files_that_do_not_fit(story):
    for english, links, words in (
        ({0: "b"}, "0-1", "a link to no token"),
        ({0: "b"}, "1p0", "a link to no token"),
        ({0: "b"}, "0x0", "written 3-4 or 3p4, got '0x0'"),
        ({0: "b", 1: "c"}, "0-0", "must number its sentences"),
    ):
        story({0: "a"}, english, {0: links})
        refuses(CorpusCorrupted, words, alibi)


# The real ones


@pytest.fixture(scope="module")
def corpora():
    if reason := why_missing():
        pytest.skip(f"the corpora cannot be had here: {reason}")


@pytest.fixture(scope="module")
def splits(corpora):
    return fra_eng()


def test_fra_eng_is_whole_and_split_by_source(splits):
    assert [len(pairs) > n for pairs, n in zip(splits, (160_000, 2_000, 2_000), strict=True)]
    words = [{" ".join(spelt_out(p.source)) for p in pairs} for pairs in splits]
    assert not words[0] & words[2] and not words[0] & words[1] and not words[1] & words[2]
    assert {p.source for p in CLASSIC_FOUR} & {p.source for p in splits.train} == {
        ("go", "."),
        ("i", "lost", "."),
        ("i'm", "home", "."),
    }
    overlap = {p.target for p in splits.test} & {p.target for p in splits.train}
    share = sum(p.target in overlap for p in splits.test) / len(splits.test)
    assert 1 / 15 < share < 1 / 11  # what the docstring says of French sentences


def test_fra_eng_is_written_as_it_was(corpora):
    """Nearly every line comes back but for the kind of its spaces; the rest lacked one of them."""
    lines = module(fra_eng)._lines()
    assert len(lines) == 167_130
    for side, language, least in ((0, "en", 0.999), (1, "fr", 0.995)):
        texts = [plain(line[side]) for line in lines[::23]]
        tokens = [tokenize(text, language, lower=False) for text in texts]
        written = [detokenize(t, language) for t in tokens]
        assert [tokenize(text, language, lower=False) for text in written] == tokens
        same = sum(plain(a) == b for a, b in zip(written, texts, strict=True))
        assert same / len(texts) >= least


def plain(text):
    text = re.sub("[\u00ad\u200b]", "", text.replace("’", "'"))
    return re.sub(r"\s+", " ", text)


def test_alibi_has_the_links_that_it_says(corpora):
    pairs = alibi()
    assert len(pairs) == 522 and len(ALIBI_STORIES) == 5
    assert sum(len(p.sure) for p in pairs) == 8452
    assert sum(len(p.possible - p.sure) for p in pairs) == 14147
    for pair in pairs:
        assert pair.sure <= pair.possible
        assert all(q < len(pair.target) and k < len(pair.source) for q, k in pair.possible)
    # links that are the wrong way round would often point past the end
    turned = sum(k >= len(p.target) or q >= len(p.source) for p in pairs for q, k in p.possible)
    assert turned > 100
    # and a name would not be linked to itself
    names = [(p, q, k) for p in pairs for q, k in p.sure if p.source[k] == "hamel"]
    assert len(names) >= 5 and all(p.target[q] == "hamel" for p, q, _ in names)


@given(st.text(alphabet="ab'i .!m", max_size=12))
def test_the_key_of_a_split_is_blind_to_marks(text):
    key = module(fra_eng)._key
    assert key(tokenize(text)) == key(tokenize(text + " !")) == key(tokenize(text.upper() + "."))
