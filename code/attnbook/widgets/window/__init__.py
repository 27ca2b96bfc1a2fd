"""Local attention for one query: a window over the keys, moved and widened by the reader."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_array, as_labels, as_number, as_place, as_some, check_choice, check_count
from .. import base

CONTROLS = ("centre", "radius", "bell")
BELLS = ("none", "weights", "scores")


class LocalWindow(base.Widget):
    """The keys of one query under a window, alive in a notebook and in the static page.

    Each key has a line: a bar for its weight through the window, a mark for the weight that it
    has without one. What lies outside is hatched. The browser computes the row as
    `local_attention` does.

    Args:
        scores: k scores of one query. The logarithms of weights give these weights back; minus
            infinity is a weight of zero.
        labels: k words, the keys; by default their places.
        gold: the places of the keys that the query should find, set in bold.
        centre: where the window is centred at the start, from 0 to k - 1.
        radius: of the window at the start, a whole number from 1 to k.
        bell: "none", "weights" (a Gaussian of width radius / 2 multiplies the weights) or
            "scores" (its logarithm is added to the scores).
        controls: what the reader may change: any of "centre", "radius", "bell".
        title: one line above the bars.
        alt: one sentence for readers who do not see them.

    Raises:
        ValueError: an argument does not fit; the message names it, what came and what is needed.

    Source: Luong et al. 2015, section 3.2.
    """

    _scores = t.Bytes().tag(sync=True)  # (k,), float64, little-endian
    labels = t.List(t.Unicode()).tag(sync=True)
    gold = t.List(t.Int()).tag(sync=True)
    centre = base.Number().tag(sync=True)
    radius = t.Any().tag(sync=True)
    bell = t.Unicode().tag(sync=True)
    controls = t.List(t.Unicode()).tag(sync=True)

    def __init__(
        self,
        scores,
        labels=None,
        *,
        gold=(),
        centre=0.0,
        radius=3,
        bell="weights",
        controls=CONTROLS,
        title="",
        alt="",
    ):
        scores = as_array("scores", scores, 1, real=True).astype("<f8")
        if not scores.size or not (scores < np.inf).all() or not np.isfinite(scores).any():
            raise ValueError(
                "scores must be finite or minus infinity, and one of them finite, "
                f"got {scores.tolist()}"
            )
        k = len(scores)
        [labels] = as_labels("labels", labels, k)
        super().__init__(
            _scores=scores.tobytes(),
            labels=labels,
            gold=[as_place("gold", j, k, "keys") for j in gold],
            centre=centre,
            radius=radius,
            bell=bell,
            controls=as_some("controls", controls, CONTROLS),
            title=title,
            alt=alt or f"The weights of {k} keys through a window, as bars.",
        )

    @t.validate("centre")
    def _check_centre(self, proposal):
        centre, last = as_number("centre", proposal["value"]), len(self._row) - 1
        if not 0 <= centre <= last:
            raise ValueError(f"centre must be from 0 to {last}, got {centre}")
        return centre

    @t.validate("radius")
    def _check_radius(self, proposal):
        return check_count("radius", proposal["value"], 1, len(self._row))

    @t.validate("bell")
    def _check_bell(self, proposal):
        return check_choice("bell", proposal["value"], BELLS)

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
