"""The explorer of normalisers, its Python side: the package's weights and gradients; refusals."""

import numpy as np
import pytest
import torch

import attnbook as ab
from attnbook.widgets import NormalizerExplorer

SCORES = [1.0, 0.6, -0.8]
SLOPES = [0.5, -1.0, -0.25]


@pytest.mark.parametrize(
    ("normalizer", "alpha"), [("softmax", 1), ("entmax", 1.5), ("sparsemax", 2), ("top_k", None)]
)
def test_weights_and_steps_are_those_of_the_package(normalizer, alpha):
    widget = NormalizerExplorer(SCORES, slopes=SLOPES, normalizer=normalizer, k=2)
    leaf = torch.tensor([SCORES], dtype=torch.float64, requires_grad=True)
    weights = ab.entmax(leaf, alpha=alpha) if alpha else ab.top_k_softmax(leaf, k=2)
    (weights * torch.tensor(SLOPES)).sum().backward()
    np.testing.assert_allclose(widget.weights(), weights[0].detach(), atol=1e-12)
    np.testing.assert_allclose(widget.moves(), -leaf.grad[0], atol=1e-12)
    assert (widget.weights() > 0).sum() == (3 if normalizer == "softmax" else 2)


def test_of_equal_scores_the_first_are_kept():
    widget = NormalizerExplorer([0.0] * 4, normalizer="top_k", k=2)
    assert widget.weights().tolist() == [0.5, 0.5, 0.0, 0.0]
    assert widget.moves().tolist() == [0.0] * 4


def test_what_does_not_fit_is_named():
    for scores, options, said in (
        ([0.0], {}, "the number of scores must be 2 to 8"),
        ([0.0, 4.0], {}, "scores must be from -3 to 3"),
        (SCORES, {"labels": ["a"]}, "labels must hold 3"),
        (SCORES, {"slopes": [1.0]}, "the number of slopes must be 3 to 3"),
    ):
        with pytest.raises(ValueError, match=said):
            NormalizerExplorer(scores, **options)
