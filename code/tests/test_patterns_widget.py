"""The pattern designer's Python side: the package's masks, its reach, and what it refuses."""

import functools
import operator

import pytest
import torch
from attnbook_testing.designs import designs
from hypothesis import given

import attnbook as ab
from attnbook.widgets import PatternDesigner


def written_out(n, kind, options):
    """The mask of one term, by the function that a reader would call."""
    if kind == "full":
        return torch.ones(n, n, dtype=torch.bool)
    if kind == "window":
        return ab.window_mask(n, None, options["width"], causal=options["causal"])
    if kind == "random":
        drawn = torch.Generator().manual_seed(options["seed"])
        return ab.random_mask(n, count=options["count"], generator=drawn)
    return getattr(ab, f"{kind}_mask")(n, **options)


@given(designs())
def test_its_mask_is_that_of_the_package(design):
    n, terms = design["n"], design["terms"]
    mask, *others = (written_out(n, kind, options) for _, kind, options in terms)
    for (op, _, _), term in zip(terms[1:], others, strict=True):
        mask = mask | term if op == "|" else mask & term
    widget = PatternDesigner(**design)
    assert widget.mask().dtype == torch.bool and torch.equal(widget.mask(), mask)
    assert widget.pairs() == mask.sum() and widget.terms == terms


@given(designs())
def test_reach_is_a_power_of_the_mask_with_its_own_place(design):
    widget = PatternDesigner(**design)
    step = widget.mask() | torch.eye(widget.n, dtype=torch.bool)
    powers = [torch.eye(widget.n)]
    for _ in range(widget.n):
        powers.append(((powers[-1] @ step.float()) > 0).float())  # paths of one step more
    rows = [power[widget.query] > 0 for power in powers]
    assert torch.equal(widget.reach(), functools.reduce(operator.or_, rows[: widget.layers + 1]))
    assert torch.equal(widget.reach(0).nonzero(), torch.tensor([[widget.query]]))
    needed = widget.layers_needed()
    assert torch.equal(rows[needed], rows[-1])
    assert needed == 0 or not torch.equal(rows[needed - 1], rows[-1])


@pytest.mark.parametrize(("width", "layers"), [(1, 3), (5, 1), (5, 4), (9, 4)])
def test_a_causal_window_reaches_its_width_less_one_a_layer(width, layers):
    terms = [("window", {"width": width, "causal": True})]
    widget = PatternDesigner(64, terms, layers=layers, query=63)
    assert widget.reach().sum() == layers * (width - 1) + 1


def test_terms_may_be_short():
    short = PatternDesigner(16, ["window", ("&", "causal"), ("|", "global", {"places": (3,)})])
    full = [["|", "window", {"width": 5, "causal": False}], ["&", "causal", {}]]
    assert short.terms == [*full, ["|", "global", {"places": [3]}]]
    assert repr(short).startswith("PatternDesigner(16 places, window, causal, global, controls: ")


def test_fewer_places_lose_nothing():
    terms = [("global", {"places": [0, 30]}), ("|", "random", {"count": 20, "seed": 4})]
    widget = PatternDesigner(32, terms, query=31)
    before, there = widget.mask(), widget.reach()
    widget.n = 8
    assert widget.mask().all() and widget.reach(0)[7]
    widget.n = 32
    assert torch.equal(widget.mask(), before) and torch.equal(widget.reach(), there)


def test_what_does_not_fit_is_named():
    for options, said in (
        ({"terms": []}, "terms must be a list of 1 to 4"),
        ({"terms": "causal"}, "terms must be a list of 1 to 4"),
        ({"terms": ["full"] * 5}, "terms must be a list of 1 to 4"),
        ({"terms": ["full", "full"]}, "terms must each be"),
        ({"terms": ["full", ("^", "full")]}, "terms: operator must be one of"),
        ({"terms": ["strided"]}, "terms: kind must be one of"),
        ({"terms": [("block", {"width": 2})]}, "terms: options of 'block' must be any of size"),
        ({"terms": [("window", {"width": 0})]}, "terms: window width must be 1 to 256"),
        ({"terms": [("window", {"causal": 2})]}, "terms: window causal must be one of"),
        ({"terms": [("global", {"places": [64]})]}, "terms: global places must be 0 to 63"),
        ({"terms": [("random", {"count": 65})]}, "terms: random count must be 0 to 64"),
        ({"query": 64}, "query must be 0 to 63"),
    ):
        with pytest.raises(ValueError, match=said):
            PatternDesigner(**options)
