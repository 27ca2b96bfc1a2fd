"""Head ablation's Python side: what it computes, takes, refuses, saves and prints."""

import re

import numpy as np
import pytest
import torch

from attnbook.widgets import HeadAblation
from experiments import two_relations as tr

B, H, Q, K, R, M = SHAPE = (3, 4, 5, 6, 2, 7)


def case(seed=0):
    random = np.random.default_rng(seed)
    weights = random.random((B, H, Q, K))
    return {
        "weights": weights / weights.sum(-1, keepdims=True),
        "added": random.normal(size=(B, H, Q, R, M)),
        "answers": random.integers(M, size=(B, Q, R)),
        "base": random.normal(size=(R, M)),
    }


def by_hand(given, out):
    """Which answers are right, one number after the other."""
    right = np.zeros((B, Q, R), dtype=bool)
    for b, i, r in np.ndindex(B, Q, R):
        working = [given["added"][b, h, i, r] for h in range(H) if h not in out]
        logits = [given["base"][r, c] + sum(added[c] for added in working) for c in range(M)]
        right[b, i, r] = logits.index(max(logits)) == given["answers"][b, i, r]
    return right


@pytest.mark.parametrize("out", [[], [0], [1, 3], [0, 1, 2, 3]])
def test_right_is_what_the_heads_in_use_add_up_to(out):
    given = case()
    widget = HeadAblation(**given, ablated=out)
    assert (widget.right() == by_hand(given, out)).all()


def test_equals_the_model_with_a_head_mask():
    torch.manual_seed(0)
    model = tr.TwoRelations(num_heads=2)
    examples = tr.draw(5, torch.Generator().manual_seed(0))
    weights = model(*examples[:3], need_weights=True)[1]
    added, base = tr.contributions(model, examples)
    widget = HeadAblation(weights, added.transpose(0, 1), examples.answers, base=base)
    for out, head_mask in (([], [1.0, 1.0]), ([0], [0.0, 1.0]), ([0, 1], [0.0, 0.0])):
        widget.ablated = out
        wanted = tr.accuracy(model, examples, torch.tensor(head_mask))
        np.testing.assert_allclose(widget.right().mean(axis=(0, 1)), wanted[:2], atol=1e-6)


def test_inputs_are_not_changed_and_kinds_agree():
    given = case()
    before = {name: array.copy() for name, array in given.items()}
    tensors = {name: torch.tensor(array) for name, array in given.items()}
    a, b = HeadAblation(**given, ablated=[2]), HeadAblation(**tensors, ablated=[2])
    assert (a.right() == b.right()).all() and (a.weights() == b.weights()).all()
    assert all((given[name] == before[name]).all() for name in given)


def test_labels_have_defaults():
    widget = HeadAblation(**case())
    assert widget.head_labels == ["head 0", "head 1", "head 2", "head 3"]
    assert widget.classes == list("0123456") and widget.relations == ["0", "1"]
    assert "4 heads" in widget.alt and repr(widget) == (
        "HeadAblation(4 heads, 3 sequences of 5 x 6, 2 answers a query)"
    )


def test_what_is_held_is_near_what_came():
    given = case()
    given["weights"][0, 0, 0] = [0, 1e-9, 1, 0, 0, 0]
    widget = HeadAblation(**given)
    top = np.abs(given["added"]).max()
    np.testing.assert_allclose(widget.added(), given["added"], atol=top / 32767, rtol=0)
    np.testing.assert_allclose(widget.weights(), given["weights"][0], atol=1 / 255, rtol=0)
    assert widget.weights()[0, 0].tolist() == [0, 1 / 255, 1, 0, 0, 0], "small is not zero"
    nothing = HeadAblation(**(given | {"added": np.zeros((B, H, Q, R, M))}))
    assert (nothing.added() == 0).all()


def bad(name, index, value):
    array = case()[name]
    array[index] = value
    return {name: array}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": np.zeros((H, Q, K))}, "weights must be 4-D, got shape (4, 5, 6)"),
        (bad("weights", (0, 0, 0, 0), -0.1), "weights must be from 0 to 1, got -0.1"),
        (bad("weights", (0, 0, 0, 0), np.nan), "weights must be finite, got nan"),
        (bad("added", (0, 0, 0, 0, 0), np.inf), "added must be finite, got inf"),
        ({"added": np.zeros((B, H, Q + 1, R, M))}, "added must be (3, 4, 5) and (r, m)"),
        ({"added": np.zeros((B, H, Q, 0, M))}, "added must not be empty"),
        ({"added": np.full((B, H, Q, R, M), "a")}, "added must be real numbers"),
        ({"answers": np.zeros((B, Q), dtype=int)}, "answers must be 3-D"),
        ({"answers": np.zeros((B, Q, 1), dtype=int)}, "answers must be (3, 5, 2)"),
        (bad("answers", (0, 0, 0), M), "answers must be integers from 0 to 6"),
        ({"answers": np.zeros((B, Q, R))}, "answers must be integers from 0 to 6"),
        ({"base": np.zeros((M, R))}, "base must be (2, 7)"),
        ({"mask": np.eye(Q, K) > 0}, "weights must be 0 where they are masked, got"),
        ({"relations": ["left"]}, "relations must hold 2 labels"),
        ({"key_labels": list("abc")}, "key_labels must hold 6 labels"),
        ({"inputs": {"token": list("abc")}}, "inputs['token'] must hold 5 labels"),
        ({"head_labels": ["one"]}, "head_labels must hold 4 labels"),
    ],
)
def test_bad_input_is_named(options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        HeadAblation(**(case() | options))


def test_heads_are_kept_in_order_each_once():
    widget = HeadAblation(**case())
    widget.ablated = [3, 1, 3]
    assert widget.ablated == [1, 3]
