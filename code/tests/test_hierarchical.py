"""Hierarchical: equal to a slow loop, and what it refuses."""

import math

import torch
from attnbook_testing.refusals import refuses

import attnbook as ab


def test_it_is_the_formula_one_number_at_a_time():
    generator = torch.Generator().manual_seed(0)
    queries, keys = (torch.randn(n, 3, generator=generator) for n in (2, 4))
    got = ab.hierarchical_weights(queries, keys, sharpness=2.5)
    for q, row in zip(queries.tolist(), got, strict=True):
        e = [math.exp(2.5 * sum(map(float.__mul__, q, k))) for k in keys.tolist()]
        torch.testing.assert_close(row, torch.tensor([x / sum(e) for x in e]))


def test_a_query_that_may_attend_to_nothing_has_zero_weights():
    mask = torch.tensor([[True, False], [False, False]])
    got = ab.hierarchical_weights(torch.ones(2, 1), torch.ones(2, 1), mask)
    assert got.tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_what_it_refuses():
    x = torch.ones(2, 3)
    refuses(ValueError, "sharpness must be positive", ab.hierarchical_weights, x, x, sharpness=0.0)
