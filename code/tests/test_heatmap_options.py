"""Heads, comparison, gold marks, pinning on the Python side: what is taken, refused, computed."""

import re

import numpy as np
import pytest
import torch

import attnbook as ab
from attnbook.widgets import AttentionHeatmap

SQUARE = np.zeros((2, 2, 3))
HEADS = np.zeros((2, 4, 2, 3))


def wanted(scores, mask=None):
    return ab.masked_softmax(scores.double(), mask).numpy()


def test_heads_of_one_sequence_and_of_a_batch():
    scores = torch.randn(2, 4, 3, 5)
    batched = AttentionHeatmap(scores, batch=1, head=2)
    assert batched._shape == [2, 4, 3, 5]
    np.testing.assert_allclose(batched.weights(), wanted(scores[1, 2]), atol=1e-12)
    single = AttentionHeatmap(scores[1], heads=True, head=2)
    assert single._shape == [1, 4, 3, 5]
    assert (single.weights() == batched.weights()).all()
    # without `heads`, 3-D is a batch, as everywhere in the book
    assert AttentionHeatmap(scores[1])._shape == [4, 3, 5]


def test_the_rank_of_a_mask_decides_what_it_is():
    """With b = h a (b, q, k) mask would otherwise slip over the heads unseen."""
    scores = torch.randn(3, 3, 2, 4)
    mask = torch.rand(3, 2, 4) > 0.5
    per_sequence = AttentionHeatmap(scores, mask=mask, batch=2, head=0)
    assert (per_sequence.allowed() == mask[2].numpy()).all()
    per_head = AttentionHeatmap(scores, mask=mask[None], batch=2, head=0)
    assert (per_head.allowed() == mask[0].numpy()).all()
    one_sequence = AttentionHeatmap(scores[0], heads=True, mask=mask, head=1)
    assert (one_sequence.allowed() == mask[1].numpy()).all()
    for_all = AttentionHeatmap(scores, mask=mask[0], batch=1, head=2)
    assert (for_all.allowed() == mask[0].numpy()).all()


@pytest.mark.parametrize(
    ("scores", "options", "values", "pick"),
    [
        (torch.zeros(2, 3, 1, 4), {}, torch.randn(4, 5), lambda v: v),
        (torch.zeros(2, 3, 1, 4), {}, torch.randn(2, 4, 5), lambda v: v[1]),
        (torch.zeros(2, 3, 1, 4), {}, torch.randn(2, 3, 4, 5), lambda v: v[1, 2]),
        (torch.zeros(3, 1, 4), {"heads": True}, torch.randn(3, 4, 5), lambda v: v[2]),
    ],
)
def test_values_reach_their_head(scores, options, values, pick):
    widget = AttentionHeatmap(scores, values=values, **options)
    b, h, _, k = widget._shape
    kept = np.frombuffer(widget._values, "<f4").reshape(b, h, k, 5)[-1, 2]
    assert (kept == pick(values).numpy()).all()


def test_comparison_is_second_minus_first_under_one_mask():
    first, second = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    mask = torch.rand(3, 4) > 0.3
    first[:, ~mask] = torch.nan
    widget = AttentionHeatmap(first, compare=second, mask=mask, temperature=0.5, batch=1)
    old, new = (wanted(x[1] / 0.5, mask) for x in (first, second))
    np.testing.assert_allclose(widget.weights("second"), new, atol=1e-12)
    np.testing.assert_allclose(widget.weights("difference"), new - old, atol=1e-12)
    np.testing.assert_allclose(widget.weights(), old, atol=1e-12)
    widget.view = "difference"
    np.testing.assert_allclose(widget.weights(), new - old, atol=1e-12)


@pytest.mark.parametrize(("gap", "top"), [(0.04, 0.05), (0.3, 0.5), (0.9, 1.0)])
def test_the_scale_of_differences_holds_them_all(gap, top):
    """In every sequence and head, not only in the one that is shown."""
    first = torch.full((2, 2, 1, 2), 0.5)
    second = first.clone()
    second[1, 1, 0] = torch.tensor([0.5 + gap / 2, 0.5 - gap / 2])
    first[1, 1, 0] = second[1, 1, 0].flip(0)
    assert AttentionHeatmap(first.log(), compare=second.log()).difference_max == top
    assert AttentionHeatmap(first.log(), compare=second.log(), difference_max=2).difference_max == 2


def test_hits_are_argmax_in_gold():
    generator = torch.Generator().manual_seed(0)
    seen = set()
    for _ in range(20):
        scores = torch.randn(2, 3, 5, 4, generator=generator)
        gold = torch.rand(2, 5, 4, generator=generator) > 0.7
        widget = AttentionHeatmap(scores, gold=gold, batch=1, head=2)
        rows = [i for i in range(5) if gold[1, i].any()]
        hits = sum(bool(gold[1, i, scores[1, 2, i].argmax()]) for i in rows)
        assert widget.hits() == (hits, len(rows))
        seen.add(hits)
    assert len(seen) > 2


def test_hits_follow_view_steps_and_empty_rows():
    gold = torch.eye(3, dtype=torch.bool)
    first, second = torch.eye(3), torch.eye(3).flip(1)
    widget = AttentionHeatmap(first, compare=second, gold=gold)
    assert widget.hits() == (3, 3)
    widget.view = "second"
    assert widget.hits() == (1, 3)
    widget.view, widget.query, widget.dim_later = "first", 0, True
    assert widget.hits() == (1, 1)
    assert AttentionHeatmap(first, gold=gold, lengths=[0]).hits() == (0, 3)
    assert AttentionHeatmap(first, gold=~gold & gold).hits() == (0, 0)
    with pytest.raises(ValueError, match="hits need gold"):
        AttentionHeatmap(first).hits()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scores": np.zeros((2, 3)), "heads": True}, "scores must be 3-D or 4-D, got shape (2"),
        ({"scores": np.zeros((1, 1, 1, 1, 1))}, "scores must be 2-D or 3-D or 4-D"),
        ({"scores": HEADS, "mask": np.zeros((4, 2, 3), bool)}, "mask of shape (4, 2, 3)"),
        ({"scores": HEADS, "mask": np.zeros((2, 3, 2, 3), bool)}, "mask of shape (2, 3, 2, 3)"),
        ({"scores": HEADS, "values": np.zeros((4, 3, 5))}, "values must be (3, d) or (2, 3, d)"),
        ({"scores": HEADS, "head_labels": ["a"]}, "head_labels must hold 4 labels"),
        ({"head_labels": ["a", "b"]}, "head_labels need scores with a head axis"),
        ({"controls": ("head",)}, "scores must have a head axis"),
        ({"controls": ("grid",)}, "scores must have a head axis"),
        ({"controls": ("view",)}, "compare must hold second scores when controls hold 'view'"),
        ({"compare": np.zeros((2, 3))}, "compare must have the shape of the scores, (2, 2, 3)"),
        ({"compare": np.full((2, 2, 3), np.nan)}, "compare hold nan at (b, q, k) = (0, 0, 0)"),
        ({"compare": SQUARE, "compare_labels": ["a"]}, "compare_labels must hold 2 labels, got 1"),
        ({"compare": SQUARE, "compare_labels": "ab"}, "compare_labels must hold 2 labels, got 1"),
        ({"compare": SQUARE, "view": "third"}, "view must be one of 'first', 'second', 'dif"),
        ({"view": "difference"}, "view 'difference' needs second scores: compare"),
        ({"gold": np.zeros((2, 3))}, "gold must be boolean"),
        ({"gold": np.zeros((3, 2), bool)}, "gold of shape (3, 2) does not fit"),
    ],
)
def test_bad_input_is_named(options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        AttentionHeatmap(**({"scores": SQUARE} | options))
