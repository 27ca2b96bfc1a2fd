"""The document reader's Python side: its weights are those of the softmax that is left."""

import numpy as np
import pytest
import torch
from attnbook_testing.refusals import refuses

from attnbook.widgets import DocumentReader

SENTENCES = [["a", "b"], ["c"], ["d", "e", "f"]]
READING = {"words": [[0.5, 0.5], [1.0], [0.2, 0.3, 0.5]], "scores": [0.0, 1.0, -1.0]}
READING["votes"] = [2.0, -1.0, 4.0]
OTHER = READING | {"scores": [3.0, 0.0, 0.5]}


def made(**options):
    return DocumentReader(SENTENCES, [READING, OTHER], [0.0, 2.5, 1.0], **options)


@pytest.mark.parametrize("erased", range(4))
@pytest.mark.parametrize("reader", [0, 1])
def test_what_is_left_shares_the_weight(reader, erased):
    widget = made(reader=reader, erased=erased)
    keep = [i for i in range(3) if i != erased - 1]
    scores = torch.tensor((READING, OTHER)[reader]["scores"], dtype=torch.float64)
    want = np.zeros(3)
    want[keep] = scores[keep].softmax(0).numpy()
    np.testing.assert_allclose(widget.weights(), want, atol=1e-12)
    assert widget.logit() == pytest.approx(want @ np.array(READING["votes"]))


def test_what_does_not_fit_is_named():
    for sentences in ([["a"]], [["a"], []]):
        refuses(
            ValueError, "sentences must be two or more", DocumentReader, sentences, [READING], [1]
        )
    for readings, said in (
        ([], "readings must hold one"),
        ([{"words": [[1]]}], "readings must have words, scores and votes"),
        ([READING | {"votes": [1.0]}], "a finite number for each"),
        ([READING | {"words": [[1.0], [1.0], [1.0]]}], "a finite number for each"),
        ([READING | {"scores": [0.0, float("nan"), 1.0]}], "a finite number for each"),
    ):
        refuses(ValueError, said, DocumentReader, SENTENCES, readings, [1, 1, 1])
    refuses(ValueError, "truth must be 3", DocumentReader, SENTENCES, [READING], [1, 1])
    refuses(ValueError, "truth must be 3", DocumentReader, SENTENCES, [READING], [1, -1, 1])
    refuses(ValueError, "sides must be two", made, sides=["no"])
    refuses(ValueError, "names must hold 2", made, names=["one"])
    refuses(ValueError, "erased must be 0 to 3", made, erased=4)
