"""Local attention for one query: a window over the keys, moved and widened by the reader."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_array, as_labels, as_place
from ..base import Widget
from ..settings import Choice, Controls, Count, Number

BELLS = {"none": "none", "weights": "after the softmax", "scores": "in the scores"}


class LocalWindow(Widget):
    """The keys of one query under a window, alive in a notebook and in the static page.

    Each key has a line: a bar for its weight through the window, a mark for the weight that it
    has without one. What lies outside is hatched. The browser computes the row as
    `local_attention` does.

    Args:
        scores: k scores of one query. The logarithms of weights give these weights back; minus
            infinity is a weight of zero.
        labels: k words, the keys; by default their places.
        gold: the places of the keys that the query should find, set in bold.

    Source: Luong et al. 2015, section 3.2.
    """

    _scores = t.Bytes().tag(sync=True)  # (k,), float64, little-endian
    labels = t.List(t.Unicode()).tag(sync=True)
    gold = t.List(t.Int()).tag(sync=True)
    centre = Number(
        0.0,
        "where the window is centred, from 0 to k - 1.",
        least=0,
        most="labels - 1",
        parts=10,
        digits=1,
    )
    radius = Count(1, "labels", 3, "of the window, a whole number from 1 to k.")
    bell = Choice(
        BELLS,
        "weights",
        '"weights": a Gaussian of width radius / 2 multiplies the weights, "scores": its logarithm '
        "is added to the scores",
    )
    controls = Controls("centre", "radius", "bell")

    def __init__(self, scores, labels=None, *, gold=(), **settings):
        scores = as_array("scores", scores, 1, real=True).astype("<f8")
        if not scores.size or not (scores < np.inf).all() or not np.isfinite(scores).any():
            raise ValueError(
                "scores must be finite or minus infinity, and one of them finite, "
                f"got {scores.tolist()}"
            )
        k = len(scores)
        [labels] = as_labels("labels", labels, k)
        super().__init__(
            settings,
            f"The weights of {k} keys through a window, as bars.",
            _scores=scores.tobytes(),
            labels=labels,
            gold=[as_place("gold", j, k, "keys") for j in gold],
        )

    @property
    def _row(self) -> np.ndarray:
        return np.frombuffer(self._scores, "<f8")

    def allowed(self) -> np.ndarray:
        """Which keys the window shows: (k,)."""
        return np.abs(np.arange(len(self._row)) - self.centre) <= self.radius

    def weights(self, *, local: bool = True) -> np.ndarray:
        """The weights shown now, through the window or, if not `local`, without one: (k,)."""
        scores, k = self._row, len(self._row)
        if not local:
            return _softmax(scores, np.ones(k, dtype=bool))
        log_bell = -(((np.arange(k) - self.centre) / (self.radius / 2)) ** 2) / 2
        terms = scores + log_bell if self.bell == "scores" else scores
        weights = _softmax(terms, self.allowed())
        return weights * np.exp(log_bell) if self.bell == "weights" else weights

    def __repr__(self) -> str:
        return self._text(f"{len(self._row)} keys")


def _softmax(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """`masked_softmax` of one row, in double precision."""
    import torch

    from ...normalize import masked_softmax

    return masked_softmax(torch.tensor(scores)[None], torch.tensor(allowed)[None])[0].numpy()
