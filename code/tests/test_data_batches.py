"""Batches: padding by the lengths, each pair once an epoch, epochs that repeat."""

import itertools
import random

import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

from attnbook.data import BOS, EOS, PAD, AlignedPair, Vocabulary, collate, length_batches


def corpus(n, seed=0, longest=12):
    chance = random.Random(seed)

    def sentence(letters):
        return tuple(chance.choices(letters, k=chance.randint(0, longest)))

    pairs = [AlignedPair(sentence("abcd"), sentence("wxyz")) for _ in range(n)]
    return pairs, Vocabulary(p.source for p in pairs), Vocabulary(p.target for p in pairs)


def pairs_in(batches, source_vocab, target_vocab):
    """The pairs that stand in batches, read back by the lengths."""
    for batch in batches:
        for b in range(len(batch.source)):
            source = batch.source[b, : batch.source_lens[b]]
            target = batch.targets[b, : batch.target_lens[b]]
            yield tuple(source_vocab.decode(source)), tuple(target_vocab.decode(target))


@given(st.integers(1, 8), st.integers(0, 99))
def test_collate_pads_and_marks_the_ends(n, seed):
    pairs, source_vocab, target_vocab = corpus(n, seed)
    batch = collate(pairs, source_vocab, target_vocab)
    assert {t.dtype for t in batch} == {torch.int64}
    assert batch.source.shape == (n, max(len(p.source) for p in pairs) + 1)
    assert batch.inputs.shape == batch.targets.shape == (n, max(len(p.target) for p in pairs) + 1)
    for b, pair in enumerate(pairs):
        source, target = source_vocab.encode(pair.source), target_vocab.encode(pair.target)
        k, q = int(batch.source_lens[b]), int(batch.target_lens[b])
        assert batch.source[b].tolist() == [*source, EOS] + [PAD] * (batch.source.shape[1] - k)
        padding = [PAD] * (batch.targets.shape[1] - q)
        assert batch.inputs[b].tolist() == [BOS, *target, *padding]
        assert batch.targets[b].tolist() == [*target, EOS, *padding]


@given(st.integers(0, 60), st.integers(1, 9), st.sampled_from([None, 0, 7]), st.integers(1, 4))
def test_an_epoch_holds_each_pair_once(n, size, seed, pool):
    pairs, *vocabularies = corpus(n)
    batches = length_batches(pairs, *vocabularies, size, seed=seed, pool=pool)
    epoch = list(batches)
    assert len(epoch) == len(batches)
    assert sum(len(batch.source) < size for batch in epoch) <= 1
    assert sorted(pairs_in(epoch, *vocabularies)) == sorted((p.source, p.target) for p in pairs)


def test_epochs_differ_and_repeat_and_leave_chance_alone():
    pairs, *vocabularies = corpus(100)
    before = random.getstate(), torch.get_rng_state()
    first, again, other = (length_batches(pairs, *vocabularies, 8, seed=seed) for seed in (1, 1, 2))
    epochs = [list(first), list(first)]
    assert not same(epochs[0], epochs[1]) and not same(epochs[0], list(other))
    assert same(epochs[0], list(again)) and same(epochs[1], list(again))
    again.epoch = 1
    assert same(epochs[1], list(again))
    assert random.getstate() == before[0] and torch.equal(torch.get_rng_state(), before[1])


def same(left, right):
    return all(
        torch.equal(a, b)
        for x, y in zip(left, right, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def test_without_a_seed_all_is_sorted():
    pairs, *vocabularies = corpus(50)
    batches = length_batches(pairs, *vocabularies, 8)
    lengths = [len(target) for _, target in pairs_in(batches, *vocabularies)]
    assert lengths == sorted(lengths)
    assert same(list(batches), list(batches))


def test_similar_lengths_stand_together():
    pairs, *vocabularies = corpus(2000, longest=40)
    sorted_in_pools, drawn = (
        sum(batch.targets.numel() - int(batch.target_lens.sum()) for batch in batches)
        for batches in (
            length_batches(pairs, *vocabularies, 32, seed=0),
            [collate(pairs[i : i + 32], *vocabularies) for i in range(0, 2000, 32)],
        )
    )
    assert sorted_in_pools < drawn / 5


def test_batches_come_in_no_order_of_length():
    pairs, *vocabularies = corpus(320)
    batches = length_batches(pairs, *vocabularies, 8, seed=0, pool=40)  # one pool
    widths = [batch.targets.shape[1] for batch in batches]
    assert widths != sorted(widths) and sum(a > b for a, b in itertools.pairwise(widths)) > 10


def test_a_batch_moves():
    batch = collate([(["a", "b"], ["w"])], *corpus(20)[1:])
    assert all(t.device.type == "meta" for t in batch.to("meta"))


def test_bad_arguments_are_named():
    pairs, *vocabularies = corpus(3)
    refuses(ValueError, "pairs must hold at least one pair", collate, [], *vocabularies)
    for name, least in (("batch_size", 1), ("pool", 1), ("seed", 0)):
        said, bad = f"{name} must be at least {least}", {"batch_size": 2, name: least - 1}
        refuses(ValueError, said, length_batches, pairs, *vocabularies, **bad)
    said = "batch_size must be an int, got float"
    refuses(TypeError, said, length_batches, pairs, *vocabularies, 2.0)
