"""Kernel regression as attention: points, kernel, weights and the fitted curve in one view."""

from __future__ import annotations

import math

import numpy as np
import traitlets as t

from ..._checks import as_array, as_finite, as_some
from ..base import Widget, round_up
from ..settings import Choice, Controls, Number, Switch

KERNELS = {
    "gaussian": "Gaussian",
    "boxcar": "boxcar",
    "epanechnikov": "Epanechnikov",
    "triangular": "triangular",
}


class KernelRegression(Widget):
    """Nadaraya-Watson regression, alive in a notebook and in the static page.

    A query is a place on the x axis, the keys are the training inputs, the values their targets.
    The browser scores, normalises and pools by itself, in the same way as the kernels of
    `attnbook` and `masked_softmax`. Points and queries are shown in the order of their x.

    Args:
        x, y: n training inputs and targets, (n,) or (n, 1).
        truth: the true curve at the queries, (m,) or (m, 1), to draw and to measure the fit by.
        queries: m places on the x axis, (m,) or (m, 1); by default an even grid over the range
            of `x`, as many as `truth` has, or 50.
        kernels: the kernels to choose from, of "gaussian", "boxcar", "epanechnikov", "triangular".

    Source: Nadaraya 1964; Watson 1964.
    """

    _x = t.List(t.Float()).tag(sync=True)  # (n,), growing
    _y = t.List(t.Float()).tag(sync=True)  # (n,)
    _queries = t.List(t.Float()).tag(sync=True)  # (m,), growing
    _truth = t.List(t.Float()).tag(sync=True)  # (m,); empty: not known
    _widths = t.List(t.Float()).tag(sync=True)  # least and greatest width of the slider
    kernels = t.List(t.Unicode()).tag(sync=True)
    kernel = Choice(KERNELS, "gaussian", "the one that is used, one of `kernels`.", of="kernels")
    width = Number(
        1.0, "the kernel's, in units of x.", positive=True,
        ends=("_widths.0", "_widths.1"), steps=200, room=5,
    )  # fmt: skip
    query = Number(
        lambda fixed: (fixed._x[0] + fixed._x[-1]) / 2,
        "the query that is marked, a place on the x axis; the nearest is taken.",
    )
    leave_one_out = Switch(
        says="whether the training inputs are the queries, each without its own point."
    )
    vmax = Number(
        lambda fixed: round_up(10 / len(fixed._x)),
        "the weight of the darkest colour; by default a round number near 10 / n, ten times the "
        "weight that all points have when they are averaged.",
        positive=True,
        fixed=True,
    )
    controls = Controls("kernel", "width", "query", "leave_one_out")

    def __init__(self, x, y, *, truth=None, queries=None, kernels=tuple(KERNELS), **settings):
        x, y = _line("x", x), _line("y", y)
        _check_length("y", y, "x", x)
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
        queries, truth = _curve(x, queries, truth)
        span = float(x[-1] - x[0]) or 1.0
        super().__init__(
            settings,
            f"Kernel regression of {len(x)} points: the fitted curve, and the weights of "
            f"{len(queries)} queries as a heat map.",
            _x=x.tolist(),
            _y=y.tolist(),
            _queries=queries.tolist(),
            _truth=truth.tolist(),
            kernels=as_some("kernels", kernels, KERNELS, least=1),
        )
        self._widths = [min(0.01 * span, self.width), max(2.0 * span, self.width)]

    def queries(self) -> np.ndarray:
        """The queries shown now, growing: (m,), or the n training inputs when leaving one out."""
        return np.array(self._x if self.leave_one_out else self._queries)

    def row(self) -> int:
        """The position of the marked query: the one nearest to `query`."""
        return int(np.abs(self.queries() - self.query).argmin())

    def allowed(self) -> np.ndarray:
        """Where attention is allowed now, boolean (m, n): off the diagonal when leaving one out."""
        if self.leave_one_out:
            return ~np.eye(len(self._x), dtype=bool)
        return np.ones((len(self._queries), len(self._x)), dtype=bool)

    def weights(self) -> np.ndarray:
        """The weights shown now, by the kernel of `attnbook` and `masked_softmax`: (m, n)."""
        import torch

        from ... import scores
        from ...normalize import masked_softmax

        score = getattr(scores, self.kernel)
        queries = torch.tensor(self.queries(), dtype=torch.float64)
        keys = torch.tensor(self._x, dtype=torch.float64)
        logs = score(queries[:, None], keys[:, None], width=self.width)
        return masked_softmax(logs, torch.tensor(self.allowed())).numpy()

    def fit(self) -> np.ndarray:
        """The fitted curve at the queries, 0 where no point is in range: (m,)."""
        return self.weights() @ np.array(self._y)

    def error(self) -> float:
        """Mean squared error of the fit: against the truth, or against each target left out.

        NaN when the truth is not known. A query with no point in range counts with its fit of 0.
        """
        target = self._y if self.leave_one_out else self._truth
        return float(np.mean((self.fit() - np.array(target)) ** 2)) if target else math.nan

    def __repr__(self) -> str:
        return self._text(f"{len(self._x)} points", f"{len(self._queries)} queries")


def _line(name: str, value) -> np.ndarray:
    """At least one finite number, (n,), from (n,) or (n, 1)."""
    array = as_array(name, value)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] != 1):
        raise ValueError(f"{name} must be (n,) or (n, 1), got shape {array.shape}")
    return as_finite(name, array).reshape(-1)


def _check_length(name: str, array: np.ndarray, other: str, fits: np.ndarray) -> None:
    if len(array) != len(fits):
        raise ValueError(
            f"{name} must hold {len(fits)} numbers, one for each of {other}, got {len(array)}"
        )


def _curve(x: np.ndarray, queries, truth) -> tuple[np.ndarray, np.ndarray]:
    """Queries in growing order, and the truth at them (empty when not known)."""
    known = None if truth is None else _line("truth", truth)
    if queries is None:
        places = np.linspace(x[0], x[-1], 50 if known is None else len(known))
    else:
        places = _line("queries", queries)
    if known is None:
        return np.sort(places), np.empty(0)
    _check_length("truth", known, "queries", places)
    order = np.argsort(places, kind="stable")
    return places[order], known[order]
