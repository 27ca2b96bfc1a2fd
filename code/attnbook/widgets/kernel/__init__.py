"""Kernel regression as attention: points, kernel, weights and the fitted curve in one view."""

from __future__ import annotations

import math

import numpy as np
import traitlets as t

from ..._checks import as_array, as_finite, as_some
from .. import base

KERNELS = ("gaussian", "boxcar", "epanechnikov", "triangular")
CONTROLS = ("kernel", "width", "query", "leave_one_out")


class KernelRegression(base.Widget):
    """Nadaraya-Watson regression, alive in a notebook and in the static page.

    A query is a place on the x axis, the keys are the training inputs, the values their targets.
    The browser scores, normalises and pools by itself, in the same way as the kernels of
    `attnbook` and `masked_softmax`. Points and queries are shown in the order of their x.

    Args:
        x, y: n training inputs and targets, (n,) or (n, 1).
        truth: the true curve at the queries, (m,) or (m, 1), to draw and to measure the fit by.
        queries: m places on the x axis, (m,) or (m, 1); by default an even grid over the range
            of `x`, as many as `truth` has, or 50.
        kernel: the kernel at the start, one of `kernels`.
        width: the kernel's width at the start, in units of x.
        kernels: the kernels to choose from, of "gaussian", "boxcar", "epanechnikov", "triangular".
        leave_one_out: whether the training inputs are the queries, each without its own point.
        controls: what the reader may change: any of "kernel", "width", "query", "leave_one_out".
        title: one line above the plot.
        alt: one sentence for readers who do not see the plot.
        query: the query that is marked at the start, a place on the x axis; the nearest is taken.
        vmax: the weight of the darkest colour; by default a round number near 10 / n, ten times
            the weight that all points have when they are averaged.

    Raises:
        ValueError: an argument does not fit; the message names it, what came and what is needed.

    Source: Nadaraya 1964; Watson 1964.
    """

    _x = t.List(t.Float()).tag(sync=True)  # (n,), growing
    _y = t.List(t.Float()).tag(sync=True)  # (n,)
    _queries = t.List(t.Float()).tag(sync=True)  # (m,), growing
    _truth = t.List(t.Float()).tag(sync=True)  # (m,); empty: not known
    _widths = t.List(t.Float()).tag(sync=True)  # least and greatest width of the slider
    kernels = t.List(t.Unicode()).tag(sync=True)
    kernel = t.Unicode().tag(sync=True)
    width = base.Number(1.0, positive=True).tag(sync=True)
    query = base.Number().tag(sync=True)
    leave_one_out = t.Bool().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)
    vmax = base.Number(1.0, positive=True).tag(sync=True)

    _check_kernel = base.one_of("kernel", lambda self: self.kernels)

    def __init__(
        self,
        x,
        y,
        *,
        truth=None,
        queries=None,
        kernel="gaussian",
        width=1.0,
        kernels=KERNELS,
        leave_one_out=False,
        controls=CONTROLS,
        title="",
        alt="",
        query=None,
        vmax=None,
    ):
        x, y = _line("x", x), _line("y", y)
        _check_length("y", y, "x", x)
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
        queries, truth = _curve(x, queries, truth)
        span = float(x[-1] - x[0]) or 1.0
        super().__init__(
            _x=x.tolist(),
            _y=y.tolist(),
            _queries=queries.tolist(),
            _truth=truth.tolist(),
            kernels=as_some("kernels", kernels, KERNELS, least=1),
            kernel=kernel,
            width=width,
            query=(x[0] + x[-1]) / 2 if query is None else query,
            leave_one_out=bool(leave_one_out),
            controls=as_some("controls", controls, CONTROLS),
            title=title,
            alt=alt
            or f"Kernel regression of {len(x)} points: the fitted curve, and the weights of "
            f"{len(queries)} queries as a heat map.",
            vmax=base.round_up(10 / len(x)) if vmax is None else vmax,
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
