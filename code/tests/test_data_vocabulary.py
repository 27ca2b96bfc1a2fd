"""Vocabulary: numbers for tokens, the cut by count, and the way back."""

import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

from attnbook.data import BOS, EOS, PAD, UNK, Vocabulary

TOKENS = st.text("abcdé'", min_size=1, max_size=3)
SENTENCES = st.lists(st.lists(TOKENS, max_size=6), max_size=8)


@given(SENTENCES, st.integers(1, 3))
def test_round_trip_and_cut(sentences, min_count):
    vocabulary = Vocabulary(sentences, min_count=min_count)
    counts = {}
    for token in (token for sentence in sentences for token in sentence):
        counts[token] = counts.get(token, 0) + 1
    assert set(vocabulary.tokens[4:]) == {t for t, n in counts.items() if n >= min_count}
    for sentence in sentences:
        ids = vocabulary.encode(sentence)
        known = [token if token in vocabulary else "<unk>" for token in sentence]
        assert vocabulary.decode(ids) == known
        assert vocabulary.decode([BOS, *ids, EOS, PAD, 4, PAD]) == known
        assert vocabulary.decode(torch.tensor([BOS, *ids, EOS])) == known
        assert (UNK in ids) == ("<unk>" in known)


@given(SENTENCES)
def test_order_rests_on_counts_alone(sentences):
    vocabulary = Vocabulary(sentences)
    assert vocabulary.tokens == Vocabulary([s[::-1] for s in sentences[::-1]]).tokens
    counts = [sum(s.count(token) for s in sentences) for token in vocabulary.tokens[4:]]
    assert counts == sorted(counts, reverse=True)


@given(SENTENCES)
def test_rebuilt_from_its_tokens(sentences):
    vocabulary = Vocabulary(sentences)
    again = Vocabulary.from_tokens(vocabulary.tokens)
    assert again.tokens == vocabulary.tokens and len(again) == len(vocabulary)
    assert all(again.encode(s) == vocabulary.encode(s) for s in sentences)


def test_special_tokens_stand_first():
    vocabulary = Vocabulary([["a", "b", "a"]])
    assert vocabulary.tokens == ["<pad>", "<bos>", "<eos>", "<unk>", "a", "b"]
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)
    assert "a" in vocabulary and "c" not in vocabulary and "<unk>" in vocabulary
    assert vocabulary.encode(["b", "c"]) == [5, UNK]
    assert repr(vocabulary) == "Vocabulary of 6 tokens"


def test_bad_arguments_are_named():
    of, empty = Vocabulary.from_tokens, Vocabulary([])
    refuses(TypeError, "sequences must hold tokens; got the string 'go'", Vocabulary, ["go"])
    refuses(TypeError, "type str, got int", Vocabulary, [[1]])
    refuses(ValueError, r"special tokens.*\['<eos>'\]", Vocabulary, [["a", "<eos>"]])
    refuses(ValueError, "min_count must be at least 1, got 0", Vocabulary, [], min_count=0)
    refuses(TypeError, "got the string 'go': tokenize it first", empty.encode, "go")
    refuses(ValueError, "ids must be at least 0 and below 4, got 4", empty.decode, [4])
    refuses(ValueError, "below 4, got -1", empty.decode, [-1])
    refuses(ValueError, "must begin with", of, ["a"])
    said = r"distinct, got more than once: \['a'\]"
    refuses(ValueError, said, of, ["<pad>", "<bos>", "<eos>", "<unk>", "a", "a"])
