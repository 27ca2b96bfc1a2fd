"""Masks against loops that spell out each definition."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab

INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64]
INTEGERS += [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
SIZES = st.integers(0, 9)


def by_loop(q, k, rule):
    """Mask (q, k) from a rule about query i and key j."""
    rows = [[bool(rule(i, j)) for j in range(k)] for i in range(q)]
    return torch.tensor(rows, dtype=torch.bool).reshape(q, k)


def same(mask, wanted):
    assert mask.dtype == torch.bool
    assert mask.shape == wanted.shape
    assert torch.equal(mask, wanted)


# length_mask


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_length_mask_takes_any_integer_type(dtype):
    mask = ab.length_mask(torch.tensor([0, 2, 4, 100]).to(dtype), 4)
    rows = torch.tensor([[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]).bool()
    same(mask, rows.unsqueeze(1))


@given(st.lists(st.integers(0, 12), max_size=4), st.integers(0, 7))
def test_length_mask_one_length_a_sequence(lengths, n):
    wanted = torch.zeros(len(lengths), 1, n, dtype=torch.bool)
    for b, length in enumerate(lengths):
        wanted[b, 0, : min(length, n)] = True
    same(ab.length_mask(lengths, n), wanted)
    same(ab.length_mask(torch.tensor(lengths, dtype=torch.int32), n), wanted)
    same(ab.length_mask(np.array(lengths, dtype=np.int16), n), wanted)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5), st.integers(0, 99))
def test_length_mask_one_length_a_query(b, q, n, seed):
    lengths = torch.randint(0, n + 3, (b, q), generator=torch.Generator().manual_seed(seed))
    wanted = torch.zeros(b, q, n, dtype=torch.bool)
    for at in np.ndindex(b, q):
        wanted[at][: lengths[at]] = True
    same(ab.length_mask(lengths, n), wanted)


def test_length_beyond_int64_masks_nothing():
    lengths = torch.from_numpy(np.array([2**64 - 1, 2**63, 1], dtype=np.uint64))
    same(ab.length_mask(lengths, 2), torch.tensor([[[1, 1]], [[1, 1]], [[1, 0]]]).bool())


def test_length_mask_leaves_lengths_alone():
    lengths = torch.tensor([1, 2], dtype=torch.int16)
    ab.length_mask(lengths, 3)
    assert lengths.dtype == torch.int16 and lengths.tolist() == [1, 2] and lengths._version == 0


@pytest.mark.parametrize(
    ("lengths", "error", "said"),
    [
        (torch.tensor([True, False]), TypeError, r"lengths .*got torch\.bool.*mask"),
        ([True, False], TypeError, r"lengths .*got torch\.bool.*mask"),
        (torch.tensor([1, -2]), ValueError, r"lengths must be at least 0, got -2"),
        (torch.tensor([[1], [-1]], dtype=torch.int8), ValueError, r"at least 0, got -1"),
        (torch.tensor([1.5]), TypeError, r"lengths must be of an integer type, got torch\.float32"),
        ([2.0], TypeError, r"lengths must be of an integer type, got torch\.float32"),
        (torch.tensor([1j]), TypeError, r"lengths must be of an integer type, got torch\.complex"),
        (torch.tensor(3), ValueError, r"lengths must be \(b,\) or \(b, q\), got shape \(\)"),
        (torch.ones(1, 2, 3).long(), ValueError, r"\(b,\) or \(b, q\), got shape \(1, 2, 3\)"),
        ([[1], [1, 2]], TypeError, r"lengths must be .*integers, got \[\[1\], \[1, 2\]\]"),
        (None, TypeError, r"lengths must be .*integers, got None"),
        (["two"], TypeError, r"lengths must be .*integers, got \['two'\]"),
    ],
)
def test_length_mask_refuses(lengths, error, said):
    with pytest.raises(error, match=said):
        ab.length_mask(lengths, 4)


@pytest.mark.parametrize(
    ("n", "error"), [(-1, ValueError), (2.0, TypeError), (True, TypeError), (None, TypeError)]
)
def test_length_mask_refuses_n(n, error):
    with pytest.raises(error, match=r"^n must be .* got "):
        ab.length_mask([1], n)


def test_n_may_be_a_scalar_tensor_of_integers():
    lengths = torch.tensor([1, 3])
    same(ab.length_mask(lengths, lengths.max()), ab.length_mask(lengths, 3))
    with pytest.raises(TypeError, match=r"n must be an int, got Tensor"):
        ab.length_mask(lengths, torch.tensor(3.0))


# patterns


@given(SIZES, st.none() | SIZES, st.integers(0, 4), st.integers(0, 4), st.integers(1, 4))
def test_patterns_equal_their_definitions(q, k, offset, radius, step):
    n = q if k is None else k

    def check(mask, rule):
        same(mask, by_loop(q, n, lambda i, j: rule(i + offset, j)))

    check(ab.causal_mask(q, k, offset=offset), lambda i, j: j <= i)
    check(ab.window_mask(q, k, radius=radius, offset=offset), lambda i, j: abs(i - j) <= radius)
    check(
        ab.dilated_mask(q, k, radius=radius, dilation=step, offset=offset),
        lambda i, j: j in [i + step * r for r in range(-radius, radius + 1)],
    )
    check(
        ab.block_mask(q, k, size=step, offset=offset),
        lambda i, j: any(i in block and j in block for block in _blocks(step, 40)),
    )


def _blocks(size, end):
    return [range(start, start + size) for start in range(0, end, size)]


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


def test_random_mask_is_uniform():
    n, k, count = 40_000, 5, 2
    share = ab.random_mask(n, k, count=count, generator=torch.Generator().manual_seed(0))
    # Hoeffding: a mean of n draws is farther than this from its expectation with p < 1e-9
    bound = (np.log(2 * k / 1e-9) / (2 * n)) ** 0.5
    assert (share.double().mean(0) - count / k).abs().max() < bound


def test_masks_combine():
    window, local = (
        ab.causal_mask(6) & ab.window_mask(6, radius=2),
        by_loop(6, 6, lambda i, j: i - 2 <= j <= i),
    )
    same(window, local)
    both = ab.window_mask(6, radius=1) | ab.global_mask(6, places=[0])
    same(both, by_loop(6, 6, lambda i, j: abs(i - j) <= 1 or i == 0 or j == 0))
    padded = ab.causal_mask(3) & ab.length_mask([1, 3], 3)
    assert padded.shape == (2, 3, 3)
    same(padded[0], by_loop(3, 3, lambda i, j: j == 0))
    same(padded[1], ab.causal_mask(3))


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: ab.causal_mask(-1), ValueError, "q must be at least 0, got -1"),
        (lambda: ab.causal_mask(2, -3), ValueError, "k must be at least 0, got -3"),
        (lambda: ab.causal_mask(2.0), TypeError, "q must be an int, got float"),
        (lambda: ab.causal_mask(2, offset=-1), ValueError, "offset must be at least 0, got -1"),
        (lambda: ab.window_mask(2, radius=-1), ValueError, "radius must be at least 0, got -1"),
        (
            lambda: ab.dilated_mask(2, radius=1, dilation=0),
            ValueError,
            "dilation must be at least 1, got 0",
        ),
        (lambda: ab.block_mask(2, size=0), ValueError, "size must be at least 1, got 0"),
        (lambda: ab.global_mask(2, places=[2]), ValueError, "places must be below 2, got 2"),
        (lambda: ab.global_mask(2, places=[-1]), ValueError, "places must be at least 0, got -1"),
        (lambda: ab.random_mask(2, 3, count=4), ValueError, "count must be at most .*3, got 4"),
        (lambda: ab.random_mask(2, count=-1), ValueError, "count must be at least 0, got -1"),
    ],
)
def test_patterns_refuse(make, error, said):
    with pytest.raises(error, match=said):
        make()
