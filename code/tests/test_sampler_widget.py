"""The sampler's Python side: what it holds, cuts and draws, takes, refuses, saves and prints."""

import itertools
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnbook as ab
from attnbook.widgets import NextTokenSampler, stub_state
from attnbook.widgets.sampler import LIMIT, _chance

WORDS = ["a", "b", "c", "."]


def table(s=4, v=4, seed=0):
    return 2 * torch.randn(s, v, generator=torch.Generator().manual_seed(seed)).double()


@settings(max_examples=40)
@given(
    st.integers(0, 99),
    st.floats(0.2, 3),
    st.none() | st.integers(1, 6),
    st.floats(0.05, 1),
    st.floats(0, 1),
)
def test_what_is_drawn_from_is_truncate_of_what_is_held(seed, temperature, top_k, top_p, min_p):
    logits = table(v=6, seed=seed)
    logits[1, 2] = -torch.inf
    cut = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    widget = NextTokenSampler(logits, list("abcdef"), start=1, **cut)
    held = torch.tensor(widget.log_probs())
    wanted = logits[1].log_softmax(0)
    torch.testing.assert_close(held, wanted, atol=3e-4, rtol=0)  # 16 bits
    assert held.exp().sum().item() == pytest.approx(1, abs=1e-12)  # what rounding lost is shared
    found = widget.probabilities()
    np.testing.assert_allclose(found, ab.truncate(held, **cut).exp(), atol=1e-12)
    assert found[2] == 0 and found.sum() == pytest.approx(1)


def test_a_text_goes_where_the_table_goes():
    follow = [[1, -1, 0, 2], [1, 2, 0, 2], [1, 2, 0, -1]]
    widget = NextTokenSampler(table(3), WORDS, follow=follow, prompt="so", joiner=" ", end=3)
    assert widget.text() == "so" and widget.state() == 0
    for path, state, text in (
        ([0, 1], 2, "so a b"),
        ([0, 1, 2, 3], 2, "so a b c ."),
        ([1], None, "so b"),
        ([3, 3], None, "so . ."),
    ):
        widget.path = path
        assert (widget.state(), widget.text()) == (state, text)
    assert widget.probabilities() is None and widget.draw() is None and widget.path == [3, 3]
    wanted = table(3).log_softmax(1)[2]
    widget.path = [0, 1]
    np.testing.assert_allclose(widget.log_probs(), wanted, atol=3e-4)


def test_tokens_are_joined_and_the_prompt_too_where_there_is_one():
    for prompt, joiner, path in itertools.product(("", "so"), ("", " "), ([], [2], [0, 1, 3])):
        options = {"prompt": prompt, "joiner": joiner, "path": path}
        widget = NextTokenSampler(table(), WORDS, follow=range(4), **options)
        said = prompt
        for token in path:
            said = said + joiner + WORDS[token] if said else WORDS[token]
        assert widget.text() == said


def test_what_a_token_leads_to_may_hang_on_it_alone():
    one = NextTokenSampler(table(), WORDS, follow=range(4))
    all_ = NextTokenSampler(table(), WORDS, follow=np.tile(np.arange(4), (4, 1)))
    assert not one._edges and (one._edges, one._always) == (all_._edges, all_._always)
    for path in itertools.product(range(4), repeat=2):
        one.path = path
        assert one.state() == path[-1]


def test_frequencies_are_the_probabilities_and_a_seed_repeats():
    cut = {"temperature": 1.5, "top_p": 0.95, "min_p": 0.05}
    widget = NextTokenSampler(table(1, 8), list("abcdefgh"), **cut)
    drawn = []
    for _ in range(4000):
        drawn.append(widget.draw())
        widget.path = []
    frequencies = np.bincount(drawn, minlength=8) / 4000
    np.testing.assert_allclose(frequencies, widget.probabilities(), atol=0.03)
    assert not frequencies[widget.probabilities() == 0].any()

    def written(seed):
        new = NextTokenSampler(table(), WORDS, follow=range(4), seed=seed)
        return [new.draw() for _ in range(20)]

    assert written(5) == written(5) != written(6)


def test_chance_is_even():
    several = np.array([[_chance(seed, n) for n in range(500)] for seed in range(20)])
    counts = np.histogram(several, bins=10, range=(0, 1))[0]
    assert 0 <= several.min() and several.max() < 1 and abs(counts - 1000).max() < 150
    assert abs(np.corrcoef(several)[~np.eye(20, dtype=bool)]).max() < 0.2


def model_of(seed, v=4):
    """Logits that depend on all that came before."""

    def logits_after(ids):
        random = torch.Generator().manual_seed(hash((seed, *ids)) % 2**31)
        return 2 * torch.randn(v, generator=random)

    return logits_after


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 99), st.integers(1, 40), st.lists(st.integers(0, 3), max_size=3))
def test_a_grown_tree_holds_the_likeliest_and_each_as_the_model_has_it(seed, states, prompt):
    model = model_of(seed)
    widget = NextTokenSampler.grown(model, prompt, WORDS, states=states, joiner=" ", end=3)
    assert widget.prompt == " ".join(WORDS[i] for i in prompt)
    held, edge = {}, {}  # log-probability of a beginning, if held or not

    def walk(path, cost):
        widget.path = path
        if widget.state() is None:
            if path[-1] != 3:
                edge[tuple(path)] = cost
            return
        held[tuple(path)] = cost
        wanted = model([*prompt, *path]).double().log_softmax(0)
        np.testing.assert_allclose(widget.log_probs(), wanted, atol=5e-4)
        for token in range(4):
            walk([*path, token], cost + float(wanted[token]))

    walk([], 0.0)
    assert len(held) == states
    assert not edge or max(edge.values()) <= min(held.values()) + 1e-9
    assert not any(3 in path for path in held), "nothing follows the end"


def test_a_tree_ends_where_the_model_does():
    def logits_after(ids):
        return [0.0, -np.inf] if len(ids) < 3 else [-np.inf, 0.0]

    widget = NextTokenSampler.grown(logits_after, [], ["a", "."], end=1)
    while widget.draw() is not None:
        pass
    assert widget.text() == "aaa." and "4 states" in repr(widget)


def test_the_largest_is_light():
    v = 65
    logits = 5 * torch.randn(LIMIT // v, v)
    follow = np.full((len(logits), v), -1)
    follow[np.arange(len(logits) - 1), 3] = np.arange(1, len(logits))
    widget = NextTokenSampler(logits, [chr(40 + n) for n in range(v)], follow=follow)
    state = stub_state(NextTokenSampler.get_manager_state(widgets=[widget]))
    assert len(json.dumps(state)) < 60_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"logits": np.zeros((2, 2, 2))}, "logits must be 1-D or 2-D"),
        ({"logits": np.zeros((0, 4))}, "logits must not be empty"),
        ({"logits": [[0.0, np.nan, 0, 0]]}, "logits must be finite or minus infinity"),
        ({"logits": [[0.0, np.inf, 0, 0]]}, "logits must be finite or minus infinity"),
        ({"logits": [[-np.inf] * 4]}, "logits must leave each state a token"),
        ({"logits": np.zeros((5001, 4))}, "logits must be at most 20000 numbers"),
        ({"tokens": ["a"]}, "tokens must hold 4 labels, got 1"),
        ({"follow": [0.0, 1, 2, 3]}, "follow must be integers (4,) or (4, 4), got float64"),
        ({"follow": [0, 1]}, "follow must be integers (4,) or (4, 4), got int64 of (2,)"),
        ({"follow": [0, 1, 2, 4]}, "follow must be -1 to 3, got 4"),
        ({"follow": [0, 1, 2, -2]}, "follow must be -1 to 3, got -2"),
        ({"start": 4}, "start must be 0 to 3"),
        ({"end": 4}, "end must be 0 to 3"),
        ({"path": [4]}, "path must be 0 to 3"),
        ({"path": [0, 0]}, "path must stay in the table, got [0, 0]"),
        ({"seed": -1}, "seed must be 0 to"),
    ],
)
def test_what_does_not_fit_is_named(options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        NextTokenSampler(**({"logits": table(), "tokens": WORDS} | options))
    assert str(caught.value).startswith(message)


def test_a_model_that_gives_something_else_is_named():
    with pytest.raises(ValueError, match="logits_after must give 4 logits, got shape"):
        NextTokenSampler.grown(lambda ids: np.zeros(3), [], WORDS)
    with pytest.raises(ValueError, match="states must be 1 to 5000, got 0"):
        NextTokenSampler.grown(lambda ids: np.zeros(4), [], WORDS, states=0)
    with pytest.raises(ValueError, match="prompt must be 0 to 3"):
        NextTokenSampler.grown(lambda ids: np.zeros(4), [4], WORDS)
