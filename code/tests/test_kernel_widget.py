"""Kernel regression's Python side: what it computes, takes, refuses, saves and prints."""

import itertools
import math
import re

import numpy as np
import pytest
import torch

from attnbook.widgets import KernelRegression
from attnbook.widgets.kernel import KERNELS

X, Y = np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0, 5.0])
BY_HAND = {
    "gaussian": lambda u: math.exp(-u * u / 2),
    "boxcar": lambda u: 1.0 if abs(u) <= 1 else 0.0,
    "epanechnikov": lambda u: max(0.0, 1 - u * u),
    "triangular": lambda u: max(0.0, 1 - abs(u)),
}


def by_hand(kernel, queries, width, leave_one_out=False):
    """Nadaraya and Watson's estimator as they wrote it: a ratio of two sums of kernels."""
    rows = []
    for i, q in enumerate(queries):
        row = [BY_HAND[kernel]((q - x) / width) for x in X]
        if leave_one_out:
            row[i] = 0.0
        total = sum(row)
        rows.append([k / total if total else 0.0 for k in row])
    return np.array(rows)


@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_are_the_ratio_of_kernels(kernel):
    queries = [-0.5, 0.9, 2.4, 3.0, 4.2]
    for width, out in itertools.product((0.3, 1.7, 6.0), (False, True)):
        widget = KernelRegression(
            X, Y, queries=queries, kernel=kernel, width=width, leave_one_out=out
        )
        wanted = by_hand(kernel, X if out else queries, width, out)
        np.testing.assert_allclose(widget.weights(), wanted, atol=1e-12)
        np.testing.assert_allclose(widget.fit(), wanted @ Y, atol=1e-12)
        assert widget.allowed().all() != out


def test_the_error_is_against_the_truth_or_the_points_left_out():
    widget = KernelRegression(
        X, Y, queries=[1.0, 3.0], truth=[3.5, 2.0], kernel="boxcar", width=0.5
    )
    assert widget.error() == pytest.approx((0.5**2 + 2.0**2) / 2)
    widget.leave_one_out = True  # the points are all farther apart than the width: output 0
    assert widget.error() == pytest.approx((Y**2).mean())
    assert math.isnan(KernelRegression(X, Y).error())


def test_points_and_queries_are_put_in_order_with_their_partners():
    order = [2, 0, 3, 1]
    mixed = KernelRegression(X[order], Y[order], queries=[3, 1], truth=[30.0, 10.0])
    assert (mixed._x, mixed._y) == (X.tolist(), Y.tolist())
    assert (mixed._queries, mixed._truth) == ([1.0, 3.0], [10.0, 30.0])


def test_inputs_are_not_changed_and_kinds_agree():
    x = torch.tensor(X[::-1].copy(), dtype=torch.float32, requires_grad=True)
    before = x.detach().clone()
    a = KernelRegression(x[:, None], torch.tensor(Y[::-1].copy())[:, None])
    b = KernelRegression(X.tolist(), Y)
    assert torch.equal(x.detach(), before)
    assert (a.weights() == b.weights()).all() and (a.fit() == b.fit()).all()


def test_the_default_queries_are_an_even_grid_and_the_slider_reaches_the_width():
    assert KernelRegression(X, Y).queries() == pytest.approx(np.linspace(0, 4, 50))
    assert KernelRegression(X, Y, truth=[0, 1, 2]).queries().tolist() == [0.0, 2.0, 4.0]
    for width in (1e-4, 1.0, 1e4):
        low, high = KernelRegression(X, Y, width=width)._widths
        assert low <= width <= high and low < high


def test_the_marked_query_is_the_nearest_row():
    widget = KernelRegression(X, Y, queries=[0.0, 1.0, 2.0], query=1.2)
    assert widget.row() == 1
    widget.query = 99.0
    assert widget.row() == 2
    widget.leave_one_out = True
    assert widget.row() == 3


@pytest.mark.parametrize(("n", "vmax"), [(2, 1.0), (10, 1.0), (50, 0.2), (101, 0.1), (300, 0.05)])
def test_the_scale_follows_the_number_of_points(n, vmax):
    assert KernelRegression(np.arange(n), np.zeros(n)).vmax == vmax


def test_one_point_is_enough():
    widget = KernelRegression([2.0], [5.0])
    assert widget.fit() == pytest.approx(5.0)
    widget.leave_one_out = True
    assert widget.fit().tolist() == [0.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x": np.zeros((4, 2))}, "x must be (n,) or (n, 1), got shape (4, 2)"),
        ({"x": np.zeros((1, 4))}, "x must be (n,) or (n, 1), got shape (1, 4)"),
        ({"x": 3.0}, "x must be (n,) or (n, 1), got shape ()"),
        ({"x": []}, "x must not be empty"),
        ({"x": ["a"] * 4}, "x must be real numbers"),
        ({"y": [1.0, np.nan, 0, 0]}, "y must be finite, got nan"),
        ({"y": [1.0]}, "y must hold 4 numbers, one for each of x, got 1"),
        ({"queries": np.zeros((2, 3))}, "queries must be (n,) or (n, 1)"),
        ({"queries": [1.0, 2.0], "truth": [1.0]}, "truth must hold 2 numbers, one for each of qu"),
        ({"truth": [np.nan]}, "truth must be finite"),
        ({"kernel": "boxcar", "kernels": ("gaussian",)}, "kernel must be one of 'gaussian'"),
        ({"kernels": ("gauss",)}, "kernels must be any of gaussian, boxcar"),
        ({"kernels": ()}, "kernels must be one or more, each once, got []"),
    ],
)
def test_bad_input_is_named(options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        KernelRegression(**({"x": X, "y": Y} | options))
