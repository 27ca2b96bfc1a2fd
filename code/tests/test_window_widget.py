"""The window's Python side: its row is local attention's; what it takes and refuses."""

import numpy as np
import pytest
import torch

import attnbook as ab
from attnbook.widgets import LocalWindow
from attnbook.widgets.window import BELLS

SCORES = [0.3, -1.0, 0.5, 1.2, -0.4, 0.0, 2.0]


@pytest.mark.parametrize("bell", BELLS)
@pytest.mark.parametrize(("centre", "radius"), [(0.0, 1), (2.5, 2), (6.0, 3), (3.0, 7)])
def test_its_row_is_that_of_local_attention(bell, centre, radius):
    widget = LocalWindow(SCORES, centre=centre, radius=radius, bell=bell)
    keys = torch.tensor(SCORES, dtype=torch.float64)[None, :, None]  # a query of 1: the scores
    one = torch.ones(1, 1, 1, dtype=torch.float64)
    _, weights = ab.local_attention(
        one,
        keys,
        keys,
        torch.tensor([[centre]], dtype=torch.float64),
        radius=radius,
        bell=None if bell == "none" else bell,
        score=ab.dot,
    )
    np.testing.assert_allclose(widget.weights(), weights[0, 0].numpy(), atol=1e-12)
    assert (widget.allowed() == (weights[0, 0] > 0).numpy()).all()
    whole = torch.tensor(SCORES, dtype=torch.float64).softmax(0).numpy()
    np.testing.assert_allclose(widget.weights(local=False), whole, atol=1e-12)


def test_what_does_not_fit_is_named():
    for options, said in (
        ({"labels": ["a"]}, "labels must hold 7"),
        ({"gold": [7]}, "gold must be 0 to 6"),
    ):
        with pytest.raises(ValueError, match=said):
            LocalWindow(SCORES, **options)
    with pytest.raises(ValueError, match="scores must be finite"):
        LocalWindow([0.0, float("nan")])
