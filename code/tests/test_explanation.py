"""Explanation: the farthest counterfeit against linear programs, roll-out against paths."""

import itertools

import pytest
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import attnbook as ab


def row(seed, k):
    generator = torch.Generator().manual_seed(seed)
    weights = (3 * torch.randn(k, generator=generator, dtype=torch.float64)).softmax(0)
    return weights, torch.randn(k, generator=generator, dtype=torch.float64)


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_no_weights_of_the_same_output_are_farther(seed, k):
    """The distance is a maximum over 2^k linear programs: one for each choice of signs."""
    weights, votes = row(seed, k)
    got = ab.farthest_counterfeit(weights, votes)
    assert got.weights.min() >= 0
    torch.testing.assert_close(got.weights.sum(), torch.tensor(1.0, dtype=torch.float64))
    torch.testing.assert_close(got.weights @ votes, weights @ votes)
    torch.testing.assert_close(ab.total_variation(weights, got.weights), got.distance)
    equal = torch.stack([torch.ones(k, dtype=torch.float64), votes]).numpy()
    best = 0.0
    for signs in itertools.product((-1.0, 1.0), repeat=k):
        sign = torch.tensor(signs, dtype=torch.float64)
        found = linprog(-sign.numpy() / 2, A_eq=equal, b_eq=[1.0, float(weights @ votes)])
        best = max(best, -found.fun - float(sign @ weights) / 2)
    assert got.distance.item() == pytest.approx(best, abs=1e-7)


@given(st.integers(0, 10**6))
def test_masked_keys_are_as_if_they_were_not_there(seed):
    weights, votes = row(seed, 4)
    mask = torch.tensor([True, False, True, True, True, False])
    longer = torch.zeros(6, dtype=torch.float64).masked_scatter(mask, weights)
    given_votes = torch.full((6,), torch.nan, dtype=torch.float64).masked_scatter(mask, votes)
    got = ab.farthest_counterfeit(longer, given_votes, mask)
    alone = ab.farthest_counterfeit(weights, votes)
    torch.testing.assert_close(got.weights[mask], alone.weights)
    assert got.weights[~mask].eq(0).all()
    torch.testing.assert_close(got.distance, alone.distance)


def test_rows_do_not_know_each_other():
    rows = [row(seed, 5) for seed in range(6)]
    weights, votes = (torch.stack(part).view(2, 3, 5) for part in zip(*rows, strict=True))
    got = ab.farthest_counterfeit(weights, votes)
    for n, (w, v) in enumerate(rows):
        torch.testing.assert_close(got.weights.view(6, 5)[n], ab.farthest_counterfeit(w, v).weights)


@pytest.mark.parametrize(
    ("weights", "votes"),
    [([1.0], [3.0]), ([0.0, 0.0], [1.0, 2.0]), ([0.4, 0.6], [2.0, 2.0]), ([1.0, 0.0], [2.0, 1.0])],
    ids=["one key", "nothing may be attended to", "votes are alike", "the sum is the highest vote"],
)
def test_where_there_is_no_other_way_the_weights_come_back(weights, votes):
    weights = torch.tensor(weights)
    got = ab.farthest_counterfeit(weights, torch.tensor(votes))
    assert got.weights.equal(weights) and got.distance == 0


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_rollout_is_a_sum_over_paths(seed, layers):
    generator = torch.Generator().manual_seed(seed)
    maps = torch.randn(layers, 2, 3, 3, generator=generator, dtype=torch.float64).softmax(-1)
    steps = [0.5 * torch.eye(3) + 0.25 * layer[0] + 0.25 * layer[1] for layer in maps]
    got = ab.rollout(maps)
    for start, end in itertools.product(range(3), repeat=2):
        total = 0.0
        for between in itertools.product(range(3), repeat=layers - 1):
            places = (start, *between, end)  # from the input up to the last layer
            share = 1.0
            for step, (low, high) in zip(steps, itertools.pairwise(places), strict=True):
                share *= step[high, low].item()
            total += share
        assert got[end, start].item() == pytest.approx(total)


def test_what_they_refuse():
    x = torch.ones(2, 3)
    far = ab.farthest_counterfeit
    refuses(ValueError, "weights and votes must have one shape", far, x, torch.ones(3))
    refuses(TypeError, "mask must be boolean", far, x, x, torch.ones(2, 3))
    refuses(ValueError, "weights and mask", far, x, x, torch.ones(2, 4, dtype=torch.bool))
    refuses(TypeError, "votes must be floating", far, x, torch.ones(2, 3, dtype=torch.long))
    refuses(ValueError, "one and other must have one shape", ab.total_variation, x, torch.ones(3))
    refuses(ValueError, "(..., l, h, n, n)", ab.rollout, torch.ones(2, 3, 3))
    refuses(ValueError, "one layer at least", ab.rollout, torch.ones(0, 1, 3, 3))
    refuses(ValueError, "(..., l, h, n, n)", ab.rollout, torch.ones(1, 1, 2, 3))
