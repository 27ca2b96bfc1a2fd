"""The positions explorer's Python side: what it computes, takes, refuses, saves and prints."""

import numpy as np
import pytest
import torch

import attnbook as ab
from attnbook.widgets import PositionExplorer
from attnbook.widgets.positions import KINDS


@pytest.mark.parametrize("d_model", [1, 2, 7, 32])
@pytest.mark.parametrize("base", [10.0, 10_000.0])
def test_the_table_of_sinusoids_is_the_packages(d_model, base):
    widget = PositionExplorer(places=50, d_model=d_model, base=base, place=11, column=0)
    wanted = ab.sinusoid(50, d_model, base=base).numpy()
    np.testing.assert_allclose(widget.table(), wanted, atol=1e-6)
    alike = wanted @ wanted[11] / (wanted[11] @ wanted[11])
    np.testing.assert_allclose(widget.similarity(), alike, atol=1e-5)


@pytest.mark.parametrize(("d_model", "columns"), [(1, 2), (2, 2), (7, 6), (32, 32)])
def test_the_rotary_table_is_a_turned_pair_and_its_likeness_a_score(d_model, columns):
    widget = PositionExplorer(kind="rotary", places=40, d_model=d_model, place=9)
    pair = torch.tensor([1.0, 0.0]).repeat(columns // 2)
    turned = ab.RotaryPositions(columns)(pair.expand(40, columns))
    np.testing.assert_allclose(widget.table(), turned, atol=1e-6)
    scores = turned @ turned[9] / (pair @ pair)
    np.testing.assert_allclose(widget.similarity(), scores, atol=1e-5)


@pytest.mark.parametrize("heads", [1, 5, 8, 16])
def test_the_alibi_table_is_the_exponential_of_the_bias(heads):
    widget = PositionExplorer(kind="alibi", places=30, num_heads=heads, place=12, column=heads - 1)
    bias = ab.AlibiPositions(heads)(1, 30, offset=12)[:, 0].numpy()  # (h, k)
    np.testing.assert_allclose(widget.table(), np.exp(bias).T, atol=1e-6)
    np.testing.assert_allclose(widget.curve(), bias[-1], atol=1e-6)
    np.testing.assert_allclose(widget.similarity(), np.exp(bias[-1]), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_is_like_itself(kind):
    widget = PositionExplorer(kind=kind, place=17)
    assert widget.similarity()[17] == pytest.approx(1)
    assert widget.similarity().max() == pytest.approx(1)


def test_what_is_marked_stays_within_what_there_is():
    widget = PositionExplorer(places=10, place=8, offset=5, column=20, d_model=6)
    assert widget.marked() == (8, 5, 9)
    widget.kind, widget.offset = "alibi", -99
    assert widget.marked() == (8, 7, 0)
    assert (widget.column, widget.offset) == (20, -99), "kept, for when there is more again"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "alibi", "kinds": ["rotary"]}, "kind must be one of 'rotary'"),
        ({"kinds": []}, "kinds must be one or more"),
        ({"kinds": ["rotary", "rotary"]}, "kinds must be one or more"),
    ],
)
def test_what_does_not_fit_is_named(options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        PositionExplorer(**options)
    assert str(caught.value).startswith(message)
