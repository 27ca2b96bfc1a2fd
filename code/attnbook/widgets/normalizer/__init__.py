"""How normalisers share the weight of one query, and what each sends back to the scores."""

from __future__ import annotations

import numpy as np
import traitlets as t

from ..._checks import as_finite, as_labels, as_number, check_count
from ..base import Widget
from ..settings import Choice, Controls, Count, Setting

NORMALIZERS = {
    "softmax": "softmax",
    "entmax": "entmax 1.5",
    "sparsemax": "sparsemax",
    "top_k": "top-k",
}
LARGEST = 3.0  # score that can be set, and the least is its negative
MOST = 8  # keys


def _as_scores(widget, value) -> list[float]:
    scores = [as_number("scores", score) for score in value]
    check_count("the number of scores", len(scores), len(widget.labels), len(widget.labels))
    if any(abs(score) > LARGEST for score in scores):
        raise ValueError(f"scores must be from -{LARGEST:g} to {LARGEST:g}, got {scores}")
    return scores


class NormalizerExplorer(Widget):
    """The scores of a few keys, their weights, and how a step of training would move them.

    Each key has a line: its score, which the reader drags, its weight, and an arrow for the step
    that the gradient asks for. Three keys also stand as a point in the simplex, beside the points
    of the other normalisers; dragged there, the scores follow. The browser computes all of it.

    Args:
        scores: 2 to 8 scores from -3 to 3.
        labels: words, the keys; by default key 1, key 2, ...
        slopes: how the loss changes with each weight; by default only the last key is useful, -1.

    Source: Peters, Niculae and Martins 2019, section 3.
    """

    labels = t.List(t.Unicode()).tag(sync=True)
    slopes = t.List(t.Float()).tag(sync=True)
    scores = Setting(test=_as_scores, label="", most=LARGEST)
    normalizer = Choice(NORMALIZERS, "softmax", "how they share it", label="Normaliser")
    k = Count(1, "labels", 2, 'how many keys "top_k" keeps.', label="k", room=2)
    controls = Controls("normalizer", "k")

    def __init__(self, scores, labels=None, *, slopes=None, **settings):
        scores = as_finite("scores", scores, 1).tolist()
        n = check_count("the number of scores", len(scores), 2, MOST)
        labels = [f"key {j + 1}" for j in range(n)] if labels is None else labels
        slopes = [0.0] * (n - 1) + [-1.0] if slopes is None else slopes
        slopes = as_finite("slopes", slopes, 1).tolist()
        check_count("the number of slopes", len(slopes), n, n)
        super().__init__(
            {"scores": scores, **settings},
            f"The scores and weights of {n} keys, and how a step would move the scores.",
            labels=as_labels("labels", labels, n)[0],
            slopes=slopes,
        )

    def weights(self, normalizer: str | None = None) -> np.ndarray:
        """The weights shown now, or those of another normaliser: (keys,)."""
        return self._weights(normalizer or self.normalizer).detach()[0].numpy()

    def moves(self) -> np.ndarray:
        """How a step against the gradient moves each score, at a rate of 1: (keys,)."""
        import torch

        scores = torch.tensor([self.scores], dtype=torch.float64, requires_grad=True)
        weights = self._weights(self.normalizer, scores)
        (weights @ torch.tensor(self.slopes, dtype=torch.float64)).backward()
        return -scores.grad[0].numpy()

    def _weights(self, normalizer: str, scores=None):
        """Weights (1, keys) of the widget's scores, in double precision."""
        import torch

        from ...normalize import entmax15, masked_softmax, sparsemax

        if scores is None:
            scores = torch.tensor([self.scores], dtype=torch.float64)
        if normalizer == "top_k":  # of equal scores the first, as in the browser
            chosen = scores.argsort(dim=-1, descending=True, stable=True)[:, : self.k]
            mask = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, chosen, True)
            return masked_softmax(scores, mask)
        known = {"softmax": masked_softmax, "entmax": entmax15, "sparsemax": sparsemax}
        return known[normalizer](scores)

    def __repr__(self) -> str:
        return self._text(f"{len(self.scores)} keys")
