"""Masks against loops that spell out each definition."""

import numpy as np
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab

INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64]
INTEGERS += [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
SIZES, COUNTS = st.integers(0, 9), st.integers(0, 3)


def by_loop(q, k, rule):
    """Mask (q, k) from a rule about query i and key j."""
    rows = [[bool(rule(i, j)) for j in range(k)] for i in range(q)]
    return torch.tensor(rows, dtype=torch.bool).reshape(q, k)


def same(mask, wanted):
    assert mask.dtype == torch.bool and mask.shape == wanted.shape
    assert torch.equal(mask, wanted)


# length_mask


@given(COUNTS, st.none() | COUNTS, COUNTS, st.sampled_from(INTEGERS), st.integers(0, 99))
def test_length_mask_allows_the_first_keys_and_leaves_lengths_alone(b, q, n, dtype, seed):
    shape = (b,) if q is None else (b, q)
    counts = torch.randint(0, n + 3, shape, generator=torch.Generator().manual_seed(seed))
    wanted = torch.zeros(b, 1 if q is None else q, n, dtype=torch.bool)
    for at in np.ndindex(*shape):
        wanted[at if q is not None else (*at, 0)][: counts[at]] = True
    lengths = counts.to(dtype)
    same(ab.length_mask(lengths, n), wanted)
    assert lengths.dtype == dtype and torch.equal(lengths.long(), counts)
    if counts.numel():  # of a list without numbers nobody knows the rank
        same(ab.length_mask(counts.tolist(), torch.tensor(n)), wanted)
        same(ab.length_mask(counts.numpy().astype(np.int16), n), wanted)


def test_length_beyond_int64_masks_nothing():
    lengths = torch.from_numpy(np.array([2**64 - 1, 2**63, 1], dtype=np.uint64))
    same(ab.length_mask(lengths, 2), torch.tensor([[[1, 1]], [[1, 1]], [[1, 0]]]).bool())


def test_length_mask_compiles_in_one_graph():
    compiled = torch.compile(ab.length_mask, fullgraph=True, backend="aot_eager")
    for lengths in (torch.tensor([1, 3, 0]), torch.tensor([[1, 2]], dtype=torch.uint8)):
        same(compiled(lengths, 4), ab.length_mask(lengths, 4))


# patterns


@given(SIZES, st.none() | SIZES, st.integers(0, 4), st.integers(0, 4), st.integers(1, 4))
def test_patterns_equal_their_definitions(q, k, offset, radius, step):
    n = q if k is None else k

    def check(mask, rule):
        same(mask, by_loop(q, n, lambda i, j: rule(i + offset, j)))

    check(ab.causal_mask(q, k, offset=offset), lambda i, j: j <= i)
    check(
        ab.window_mask(q, k, radius + 1, offset=offset),
        lambda i, j: j in range(i - radius, i + radius + 1),
    )
    check(
        ab.window_mask(q, k, radius + 1, causal=True, offset=offset),
        lambda i, j: j in range(i - radius, i + 1),
    )
    check(
        ab.dilated_mask(q, k, radius=radius, dilation=step, offset=offset),
        lambda i, j: j in [i + step * r for r in range(-radius, radius + 1)],
    )
    blocks = [range(start, start + step) for start in range(0, 40, step)]
    check(
        ab.block_mask(q, k, size=step, offset=offset),
        lambda i, j: any(i in block and j in block for block in blocks),
    )


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_global_mask(q, k, data):
    places = data.draw(st.lists(st.integers(0, max(q, k) - 1)))
    same(ab.global_mask(q, k, places=places), by_loop(q, k, lambda i, j: {i, j} & set(places)))


@given(SIZES, SIZES, st.data())
def test_random_mask_draws_count_distinct_keys_and_can_be_repeated(q, k, data):
    count, seed = data.draw(st.integers(0, k)), data.draw(st.integers(0, 99))
    draw = [
        ab.random_mask(q, k, count=count, generator=torch.Generator().manual_seed(seed))
        for _ in range(2)
    ]
    same(draw[0], draw[1])
    assert draw[0].shape == (q, k)
    assert draw[0].sum(-1).tolist() == [count] * q


def test_random_mask_takes_the_first_of_equal_draws():
    """On every machine: torch's own sort leaves their order open, and here it differs."""
    n, parted = 256, 0
    for seed in range(16):
        draws = torch.rand(n, n, generator=torch.Generator().manual_seed(seed)).numpy()
        order = draws.argsort(axis=1, kind="stable")
        ordered = np.take_along_axis(draws, order, axis=1)
        for row, at in np.argwhere(ordered[:, 1:] == ordered[:, :-1]):
            drawn = torch.Generator().manual_seed(seed)
            mask = ab.random_mask(n, count=int(at) + 1, generator=drawn)
            assert sorted(order[row, : at + 1]) == mask[row].nonzero().flatten().tolist()
            parted += 1
    assert parted


def test_random_mask_is_uniform():
    n, k, count = 40_000, 5, 2
    share = ab.random_mask(n, k, count=count, generator=torch.Generator().manual_seed(0))
    # Hoeffding: a mean of n draws is farther than this from its expectation with p < 1e-9
    bound = (np.log(2 * k / 1e-9) / (2 * n)) ** 0.5
    assert (share.double().mean(0) - count / k).abs().max() < bound


def test_bad_arguments_are_named():
    ones = torch.ones(())
    for n, bad, error, said in (
        (4, [True, False], TypeError, "lengths .*got torch.bool.*mask"),
        (4, [1, -2], ValueError, "lengths must be at least 0, got -2"),
        (4, [2.0], TypeError, "integer type, got torch.float32"),
        (4, torch.tensor([1j]), TypeError, "integer type, got torch.complex"),
        (4, torch.tensor(3), ValueError, r"\(b, q\), got shape \(\)"),
        (4, [[[1]]], ValueError, r"got shape \(1, 1, 1\)"),
        (4, [[1], [1, 2]], TypeError, r"integers, got \[\[1\], \[1, 2\]\]"),
        (-1, [1], ValueError, "n must be at least 0, got -1"),
        (True, [1], TypeError, "n must be an int, got bool"),
        (ones, [1], TypeError, "n must be an int, got Tensor"),
    ):
        refuses(error, said, ab.length_mask, bad, n)
    refuses(ValueError, "q must be at least 0, got -1", ab.causal_mask, -1)
    refuses(TypeError, "q must be an int, got float", ab.causal_mask, 2.0)
    refuses(ValueError, "k must be at least 0, got -3", ab.causal_mask, 2, -3)
    refuses(ValueError, "offset must be at least 0, got -1", ab.causal_mask, 2, offset=-1)
    refuses(ValueError, "width must be at least 1", ab.window_mask, 2, 2, 0)
    refuses(ValueError, "radius must be at least 0", ab.dilated_mask, 2, radius=-1, dilation=1)
    refuses(ValueError, "dilation must be at least 1", ab.dilated_mask, 2, radius=1, dilation=0)
    refuses(ValueError, "size must be at least 1, got 0", ab.block_mask, 2, size=0)
    refuses(ValueError, "places must be below 2, got 2", ab.global_mask, 2, places=[2])
    refuses(ValueError, "places must be at least 0", ab.global_mask, 2, places=[-1])
    refuses(ValueError, "count must be at most .*3, got 4", ab.random_mask, 2, 3, count=4)
    refuses(ValueError, "count must be at least 0, got -1", ab.random_mask, 2, count=-1)
