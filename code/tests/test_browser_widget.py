"""The layer × head browser's Python side: what it takes, refuses, holds, saves and draws."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnbook as ab
from attnbook.widgets import LayerHeadBrowser

SHAPES = {"encoder": (2, 3, 4, 4), "decoder": (3, 2, 5, 5), "cross": (2, 2, 5, 4)}


def weights_of(kind, seed=0, shape=None):
    """Random weights, each row summing to 1; the decoder's look at no later key."""
    shape = shape or SHAPES[kind]
    raw = np.random.default_rng(seed).random(shape) + 0.01
    raw = np.tril(raw) if kind == "decoder" else raw
    return raw / raw.sum(-1, keepdims=True)


def example(seed=0, **changes):
    return {
        "source": ["the", "red", "house", "."],
        "target": ["<s>", "la", "maison", "rouge", "."],
        **{kind: weights_of(kind, seed) for kind in SHAPES},
        "sure": {(1, 0), (2, 2)},
        "possible": {(1, 0), (4, 3)},
        **changes,
    }


@st.composite
def several(draw):
    """Examples of other lengths, with kinds of other layers and heads."""
    kinds = draw(st.lists(st.sampled_from(list(SHAPES)), min_size=1, unique=True))
    heads = {kind: (draw(st.integers(1, 3)), draw(st.integers(1, 3))) for kind in kinds}
    examples = []
    for seed in range(draw(st.integers(1, 3))):
        q, k = draw(st.integers(1, 4)), draw(st.integers(1, 4))
        sizes = {"encoder": (k, k), "decoder": (q, q), "cross": (q, k)}
        made = {kind: weights_of(kind, seed, (*heads[kind], *sizes[kind])) for kind in kinds}
        tokens = {"source": [f"s{j}" for j in range(k)], "target": [f"t{i}" for i in range(q)]}
        examples.append({**tokens, **made})
    return examples


@given(several())
@settings(max_examples=30, deadline=None)
def test_any_sizes_are_kept_apart(examples):
    widget = LayerHeadBrowser(examples)
    for n, given_ in enumerate(examples):
        for kind in widget.kinds:
            widget.example, widget.kind = n, kind
            np.testing.assert_allclose(widget.maps(), given_[kind], atol=0.5 / 255 + 1e-9)
            assert (widget.maps()[:, :, ~widget.allowed()] == 0).all()
            assert tuple(map(len, widget.tokens())) == given_[kind].shape[2:]
            widget.layer, widget.head = (n - 1 for n in given_[kind].shape[:2])
            wanted = given_[kind][-1, -1]
            np.testing.assert_allclose(widget.weights(), wanted, atol=0.5 / 255 + 1e-9)


def test_small_is_not_zero_and_zero_stays():
    tiny = np.zeros((1, 1, 2, 2))
    tiny[0, 0, 0] = [1 - 1e-9, 1e-9]
    widget = LayerHeadBrowser([{"source": ["a", "b"], "encoder": tiny}])
    assert widget.weights().tolist() == [[1.0, 1 / 255], [0.0, 0.0]]


def test_tensors_and_arrays_agree_and_nothing_is_changed():
    given_ = example()
    before = {kind: given_[kind].copy() for kind in SHAPES}
    tensors = example() | {k: torch.tensor(w, requires_grad=True) for k, w in before.items()}
    a, b = LayerHeadBrowser([given_]), LayerHeadBrowser([tensors])
    assert a._weights == b._weights and a._examples == b._examples
    assert all((given_[kind] == before[kind]).all() for kind in SHAPES)


def test_real_heads_go_in_as_they_come():
    torch.manual_seed(0)
    heads = ab.MultiHeadAttention(8, 2)
    x = torch.randn(1, 4, 8)
    mask = ab.causal_mask(4, 4)
    weights = heads(x, x, x, mask=mask, need_weights=True).weights  # (b, h, q, k)
    widget = LayerHeadBrowser([{"target": list("abcd"), "decoder": weights}])
    np.testing.assert_allclose(widget.maps(), weights.detach().numpy(), atol=0.003)
    assert (widget.allowed() == mask.numpy()).all()


def test_only_what_is_there_and_wanted_is_shown():
    assert LayerHeadBrowser([example()]).kinds == ["encoder", "decoder", "cross"]
    assert LayerHeadBrowser([example()], kinds=["cross", "encoder"]).kinds == ["encoder", "cross"]
    one = LayerHeadBrowser([example()], kinds="decoder")
    assert one.kinds == ["decoder"] and not one.gold().any()
    assert len(one._weights) == np.prod(SHAPES["decoder"])
    without = {name: value for name, value in example().items() if name in ("source", "encoder")}
    assert LayerHeadBrowser([without]).kinds == ["encoder"]


def test_links_are_on_cross_maps_only_and_sure_ones_are_not_possible_too():
    widget = LayerHeadBrowser([example()], kind="cross")
    assert np.argwhere(widget.gold("sure")).tolist() == [[1, 0], [2, 2]]
    assert np.argwhere(widget.gold("possible")).tolist() == [[4, 3]]
    widget.kind = "encoder"
    assert not widget.gold("sure").any()


def test_another_kind_keeps_what_fits():
    widget = LayerHeadBrowser([example()], kind="decoder", layer=2, head=1, cell=(4, 4))
    assert widget.cell == [4, 4]
    widget.kind = "cross"
    assert (widget.layer, widget.head, widget.cell) == (1, 1, None)
    widget.cell = (4, 3)
    widget.kind = "encoder"
    assert widget.cell is None
    assert (widget.layer, widget.head) == (1, 1)


def without(name):
    return {"examples": [{k: v for k, v in example().items() if k != name}]}


def bad(kind, place, value):
    weights = weights_of(kind)
    weights[place] = value
    return {"examples": [example(**{kind: weights})]}


OTHER = weights_of("encoder", shape=(1, 3, 4, 4))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"examples": []}, "examples must hold at least one example"),
        ({"examples": example()}, "examples must be a list of examples, got a dict"),
        ({"examples": [3]}, "examples[0] must be a dict, got int"),
        ({"examples": [example(croos=1)]}, "examples[0] may hold name, source"),
        ({"examples": [{"source": ["a"]}]}, "examples[0] must hold weights of encoder or decoder"),
        (without("source"), "must hold 'source', the tokens of encoder, cross weights"),
        (without("target"), "must hold 'target', the tokens of decoder, cross weights"),
        (without("cross"), "examples[0]['sure'] needs 'cross'"),
        ({"examples": [example(source=[])]}, "examples[0]['source'] must hold at least one token"),
        (
            {"examples": [example(source=["a"], sure=None, possible=None)]},
            "['encoder'] must be (l, h, 1, 1)",
        ),
        ({"examples": [example(), *without("encoder")["examples"]]}, "examples[1] must hold"),
        ({"examples": [example(), example(encoder=OTHER)]}, "must hold 2 layers of 3 heads"),
        ({"examples": [example(encoder=np.zeros((3, 4, 4)))]}, "['encoder'] must be 4-D, got"),
        (bad("encoder", (0, 0, 0, 0), np.nan), "examples[0]['encoder'] must be finite, got nan"),
        (bad("encoder", (0, 0, 0, 0), -0.1), "must be from 0 to 1, got -0.1"),
        (bad("decoder", (2, 1, 0, 3), 0.25), "got 0.25 at (l, h, q, k) = (2, 1, 0, 3)"),
        ({"examples": [example(mask={"cross": np.zeros((1, 4), bool)})]}, "0 where it is masked"),
        ({"examples": [example(sure={(5, 0)})]}, "examples[0]['sure'] must hold"),
        ({"kinds": ["crossed"]}, "kinds must be any of encoder, decoder, cross"),
        ({"kinds": []}, "kinds must be one or more"),
        ({"kind": "cross", "kinds": ["encoder"]}, "kind must be one of 'encoder', got 'cross'"),
        ({"scores": [1]}, "scores must be a dict from kind to (l, h) numbers, got list"),
        ({"scores": {"crossed": OTHER}}, "scores may be of encoder, decoder, cross; got 'crossed'"),
        (
            {"scores": {"cross": np.zeros((2, 3))}},
            "scores['cross'] must be (2, 2), layers by heads",
        ),
        ({"scores": {"cross": np.full((2, 2), 2.0)}}, "scores['cross'] must be from 0 to 1, got 2"),
        ({"cell": (0, 4)}, "cell's key must be 0 to 3 for 4 keys, got 4"),
        ({"cell": 2}, "cell must be (query, key) or None, got 2"),
    ],
)
def test_bad_input_is_named(options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        LayerHeadBrowser(**({"examples": [example()]} | options))


def test_tokens_must_be_words():
    with pytest.raises(TypeError, match=re.escape("examples[0]['source'] must be a sequence")):
        LayerHeadBrowser([example(source="the red house .")])


def test_links_of_hidden_cross_maps_do_no_harm():
    assert LayerHeadBrowser([example()], kinds="encoder")._examples[0]["sure"] == []


def test_names_and_repr():
    widget = LayerHeadBrowser([example(name="one"), example()])
    assert [e["name"] for e in widget._examples] == ["one", "the red house ."]
    assert repr(widget) == (
        "LayerHeadBrowser(encoder 2 x 3, decoder 3 x 2, cross 2 x 2, 2 examples)"
    )
    assert widget.alt == "Attention weights of every layer and head, encoder, decoder and cross."
