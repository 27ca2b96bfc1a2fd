"""The stepper's Python side: after the last block it holds what dense attention gives."""

import numpy as np
import pytest
import torch
from attnbook_testing.refusals import refuses

import attnbook as ab
from attnbook.widgets import BlockStepper

SCORES, VALUES = [0.5, 2.0, -1.0, 4.0, 1.0], [1.0, -2.0, 0.5, 3.0, 10.0]


@pytest.mark.parametrize("block", range(1, 6))
def test_after_the_last_block_it_is_dense_attention(block):
    keys, values = (torch.tensor(x, dtype=torch.float64)[:, None] for x in (SCORES, VALUES))
    one = torch.ones(1, 1, dtype=torch.float64)
    output, weights = ab.attention(one, keys, values, score=ab.dot)
    widget = BlockStepper(SCORES, VALUES, block=block, step=5)
    assert widget.read().output == pytest.approx(output.item())
    np.testing.assert_allclose(widget.dense(), weights[0].numpy(), atol=1e-12)
    np.testing.assert_allclose(widget.read().parts / widget.read().total, weights[0], atol=1e-12)


@pytest.mark.parametrize("step", range(6))
def test_in_between_it_is_attention_to_what_was_read(step):
    widget = BlockStepper(SCORES, VALUES, step=step)
    kept = widget.read()
    assert (kept.parts > 0).sum() == step
    if step:
        keys, values = (torch.tensor(x[:step])[:, None] for x in (SCORES, VALUES))
        output, logs = ab.online_attention(torch.ones(1, 1), keys, values)
        assert kept.output == pytest.approx(output.item(), abs=1e-5)
        assert kept.largest + np.log(kept.total) == pytest.approx(logs.item(), abs=1e-5)
    else:
        assert kept.largest == -np.inf and kept.total == kept.output == 0


def test_without_rescaling_it_is_right_where_the_largest_score_comes_first():
    right = [
        abs(BlockStepper(SCORES, VALUES, block=w, step=5, rescale=False).read().output - want)
        < 1e-9
        for w in range(1, 6)
        for want in [BlockStepper(SCORES, VALUES, block=w, step=5).read().output]
    ]
    assert right == [False, False, False, True, True]  # the largest is the fourth


def test_what_does_not_fit_is_named():
    for scores, values, said in (
        ([], [], "scores must be one finite number"),
        ([1.0, float("inf")], [1, 2], "scores must be one finite number"),
        ([1.0, 2.0], [1], "values must be one finite number"),
        ([1.0, 2.0], [1, float("nan")], "values must be one finite number"),
    ):
        refuses(ValueError, said, BlockStepper, scores, values)
    refuses(ValueError, "labels must hold 5", BlockStepper, SCORES, VALUES, ["a"])
