"""The alignment viewer's Python side: what it takes, refuses, keeps, saves and prints."""

import gzip
import itertools
import json
import re
from typing import NamedTuple

import numpy as np
import pytest
import torch
from attnbook_testing.alignments import AFTER, BEFORE, examples, score
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

from attnbook.widgets import AlignmentExample, AlignmentViewer, stub_state


def tiny(**changes):
    """One small example: two target tokens, three source tokens, the last one padding."""
    example = {
        "source": ["the", "cat", "<pad>"],
        "target": ["le", "chat"],
        "weights": {"one": [[0.75, 0.25, 0.0], [0.4, 0.6, 0.0]]},
        "sure": {(0, 0), (1, 1)},
        "source_len": 2,
    }
    return example | changes


def viewer(**options):
    return AlignmentViewer(examples(), **options)


def test_weights_come_back_to_four_digits():
    widget = viewer()
    for (n, example), model in itertools.product(enumerate(examples()), (BEFORE, AFTER)):
        kept = widget.weights(model, n)
        np.testing.assert_allclose(kept, example["weights"][model], rtol=0, atol=1.01e-4)
        assert ((kept > 0) == (example["weights"][model] > 0)).all(), "small is not zero"


@st.composite
def near_ties(draw):
    """Rows whose largest weights may be equal, or closer to each other than what is kept.

    They sum to one, to less, or to nothing.
    """
    raw = st.sampled_from([0.0, 1e-9, 0.3, 0.3 + 1e-6, 0.3 - 1e-6, 0.5, 0.5 + 1e-7])
    row = draw(st.lists(raw, min_size=1, max_size=6))
    share = draw(st.sampled_from([1.0, 0.3]))
    return [share * value / (sum(row) or 1.0) for value in row]


@given(near_ties())
def test_each_row_keeps_its_argmax_and_what_is_zero(row):
    example = tiny(source=["x"] * len(row), target=["y"], weights={"m": [row]}, sure=())
    kept = AlignmentViewer([example | {"source_len": None}]).weights()
    assert kept[0].argmax() == np.argmax(row)
    assert ((kept[0] > 0) == (np.array(row) > 0)).all()


@pytest.mark.parametrize(("links", "model"), [("sure", BEFORE), ("possible", AFTER)])
def test_hits_are_counted_up_to_the_step(links, model):
    widget = viewer()
    totals = []
    for n, example in enumerate(examples()):
        widget.example = n
        for step in range(len(example["target"])):
            widget.step = step
            assert widget.hits(links, model) == score(example, model, step, links)
        totals.append(widget.hits(links, model))
    hits, counted = np.sum(totals, axis=0)
    assert 0 < hits <= counted
    assert model == AFTER or hits < counted, "a case with misses, else the test is blind"


class Given(NamedTuple):
    source: tuple
    target: tuple
    weights: dict
    sure: frozenset = frozenset()
    template: str = "s v o"


def test_kinds_of_examples_agree():
    weights = torch.tensor([[0.75, 0.25], [0.5, 0.5]], requires_grad=True)
    before = weights.detach().clone()
    fields = {"source": ("the", "cat"), "target": ("le", "chat"), "sure": frozenset({(1, 1)})}
    made = [
        AlignmentExample(**fields, weights={"m": weights}),
        Given(**fields, weights={"m": weights.detach().bfloat16()}),
        fields | {"weights": {"m": weights.tolist()}},
    ]
    states = [AlignmentViewer([one]).get_state() for one in made]
    assert torch.equal(weights.detach(), before)
    for state in states:
        assert state["_examples"] == states[0]["_examples"]
        assert bytes(state["_weights"]) == bytes(states[0]["_weights"])


def test_models_have_labels_and_an_order():
    widget = AlignmentViewer(examples(), model_labels={AFTER: "Luong", BEFORE: "Bahdanau"})
    assert widget.model_labels == ["Luong", "Bahdanau"] and widget.model == "Luong"
    assert (widget.weights("Luong") == viewer().weights(AFTER)).all()
    only = AlignmentViewer(examples(), model_labels=[BEFORE])
    assert only.model_labels == [BEFORE]


def test_the_three_most_probable_candidates_are_kept():
    given = [[("b", 0.2), ("a", 0.7), ("d", 0.01), ("c", 0.05)], []]
    widget = AlignmentViewer([tiny(candidates={"one": given})])
    (kept,) = widget._examples[0]["candidates"]
    assert kept == [[["a", 0.7], ["b", 0.2], ["c", 0.05]], []]


def test_the_step_follows_the_example():
    widget = viewer()
    assert widget.step == 14, "at the start, the end"
    widget.example = 1
    assert widget.step == 5, "the end stays the end"
    widget.step = 3
    widget.example = 0
    assert widget.step == 3
    widget.step = 12
    widget.example = 1
    assert widget.step == 5


W = {"one": [[0.75, 0.25, 0.0], [0.4, 0.6, 0.0]]}


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([], ValueError, "examples must hold at least one example, got none"),
        (tiny(), TypeError, "examples must be a sequence of examples, got dict"),
        ([3], TypeError, "examples[0] must be a mapping or a NamedTuple"),
        ([tiny(), tiny(sources=1)], ValueError, "examples[1] may hold source, target,"),
        ([{"source": ["a"], "target": ["b"]}], ValueError, "examples[0] must hold 'weights', got"),
        ([tiny(weights=[[1.0]])], TypeError, "examples[0].weights must map each model to"),
        ([tiny(source="the cat .")], TypeError, "examples[0].source must be a sequence of tokens"),
        ([tiny(target=[])], ValueError, "examples[0].target must hold at least one token"),
        ([tiny(target=["le", 3])], TypeError, "examples[0].target must hold strings, got 3"),
        ([tiny(source_len=4)], ValueError, "examples[0].source_len must be 0 to 3"),
        ([tiny(sure={(0, 2)})], ValueError, "examples[0].sure must hold (target index, source"),
        ([tiny(possible={(2, 0)})], ValueError, "below (2, 2), the target tokens and the valid"),
        ([tiny(sure=[(0, 1, 2)])], TypeError, "examples[0].sure must hold pairs of ints"),
        ([tiny(weights={"one": np.zeros((3, 2))})], ValueError, "must be (2, 3), target by source"),
        ([tiny(weights={"one": np.zeros(3)})], ValueError, "weights['one'] must be 2-D"),
        ([tiny(weights={"one": [["a"] * 3] * 2})], ValueError, "must be real numbers, got <U1"),
        ([tiny(weights={"one": [[2.0, -1.0, 0.0]] * 2})], ValueError, "scores are not weights"),
        ([tiny(weights={"one": [[np.nan, 0.0, 0.0]] * 2})], ValueError, "must be finite, got nan"),
        ([tiny(weights={"one": [[1.0, 0, 0], [1, 0.5, 0]]})], ValueError, "row 1 sums to 1.5"),
        ([tiny(mask={"one": [[True, False, True]]})], ValueError, "where it is masked, got 0.25"),
        ([tiny(mask={"two": [[True] * 3]})], ValueError, "examples[0].mask may hold one; got"),
        ([tiny(mask={"one": [[1, 1, 1]]})], ValueError, "must be boolean, True = may attend"),
        (
            [tiny(source_len=1, sure=())],
            ValueError,
            "must be 0 past source_len = 1, got 0.25 at (q, k) =",
        ),
        ([tiny(), tiny(weights={"two": W["one"]})], ValueError, "examples[1].weights must hold"),
        ([tiny(candidates=[["a", 1]])], TypeError, "candidates must map each model to what it has"),
        ([tiny(candidates={"x": []})], ValueError, "examples[0].candidates may hold one; got 'x'"),
        ([tiny(candidates={"one": [[]]})], ValueError, "candidates['one'] must hold 2 steps"),
        ([tiny(candidates={"one": [[], ["ab", 3]]})], TypeError, "[1] must hold pairs (token, pr"),
        ([tiny(candidates={"one": [[("a", 2)], []]})], ValueError, "probabilities of 0 to 1, got"),
        ([tiny(classes=["noun"])], ValueError, "examples[0].classes must hold 2 classes"),
    ],
)
def test_bad_examples_are_named(given, error, words):
    with pytest.raises(error, match=re.escape(words)):
        AlignmentViewer(given)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"model_labels": []}, ValueError, "model_labels must be one or more, each once"),
        ({"model_labels": [3]}, TypeError, "model_labels must be words, got 3"),
        ({"model_labels": "other"}, ValueError, "examples[0].weights must hold 'other'"),
    ],
)
def test_bad_options_are_named(options, error, words):
    with pytest.raises(error, match=re.escape(words)):
        viewer(**options)


def test_questions_that_do_not_fit_are_refused():
    widget = viewer()
    refuses(ValueError, "links must be one of 'sure', 'possible', got 'all'", widget.hits, "all")
    refuses(ValueError, "model must be one of", widget.weights, "x")
    refuses(ValueError, "example must be 0 to 3", widget.weights, BEFORE, 4)


def test_repr_is_fixed():
    wanted = "AlignmentViewer(4 examples, models: query before the step, query after the step)"
    assert repr(viewer()) == repr(viewer(step=2)) == wanted
    assert repr(AlignmentViewer([tiny()])) == "AlignmentViewer(1 example, models: one)"


def saved(widget) -> dict:
    return AlignmentViewer.get_manager_state(widgets=[widget])


def test_the_saved_state_is_small():
    """Six sentence pairs by two models, nothing repeated."""
    made = [e for seed in range(2) for e in examples(3, seed=seed)]
    state = stub_state(saved(AlignmentViewer(made)))
    assert len(gzip.compress(json.dumps(state).encode())) < 12_000
