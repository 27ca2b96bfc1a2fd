"""The haystack explorer's Python side: the package's choices, laws of keeping, and refusals."""

import itertools
from functools import partial

import pytest
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab
from attnbook.widgets import HaystackExplorer, haystack

SCORERS = tuple(haystack.CHOICES)


def drawn(n, q, d, seed=0):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=random), torch.randn(q, d, generator=random)


@st.composite
def widgets(draw):
    """Any widget; few distinct features make equal keys, and so equal scores, likely."""
    n, q, d = draw(st.integers(2, 70)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    keys, queries = drawn(n, q, d, draw(st.integers(0, 999)))
    scorer = draw(st.sampled_from(SCORERS))
    if scorer != "cluster" and draw(st.booleans()):  # means of clusters are not exact
        keys, queries = keys.round(), queries.round()
    return HaystackExplorer(
        keys,
        queries,
        scorer=scorer,
        block=draw(st.sampled_from(haystack.BLOCKS)),
        budget=draw(st.integers(1, n)),
        indexer=ab.Indexer(d, d, heads=draw(st.integers(1, 3)), size=draw(st.integers(1, 5))),
        buckets=draw(st.sampled_from(haystack.BUCKETS)),
        rounds=draw(st.integers(1, 8)),
        clusters=draw(st.integers(1, min(n, 32))),
        nearest=draw(st.integers(1, 4)),
        seed=draw(st.integers(0, 99)),
    )


@given(widgets())
def test_it_says_of_its_choice_what_is_true(widget):
    keys, queries = widget.rounded()
    weights, kept = ab.attention(queries, keys, keys)[1], widget.kept()
    torch.testing.assert_close(widget.weights(), weights)
    torch.testing.assert_close(widget.weight_kept(), torch.where(kept, weights, 0.0).sum(-1))
    assert widget.needles == (queries @ keys.mT).argmax(-1).tolist()
    for i, needle in enumerate(widget.needles):
        assert widget.found()[i] == kept[i, needle]


@given(widgets())
def test_no_key_that_is_left_out_scores_more_than_one_that_is_kept(widget):
    scores, kept = widget.scores(), widget.kept()
    least = torch.where(kept, scores, torch.inf).amin(-1)
    most = torch.where(kept, -torch.inf, scores).amax(-1)
    assert (least >= most).all()


def test_blocks_are_those_of_the_package():
    widget = HaystackExplorer(*drawn(50, 6, 4), block=8, budget=20)
    keys, queries = widget.rounded()
    assert torch.equal(widget.kept(), ab.mean_key_blocks(queries, keys, block=8, keep=2))
    assert widget.spent() == 7 * 4
    widget.budget = 5  # less than a block
    assert torch.equal(widget.kept(), ab.mean_key_blocks(queries, keys, block=8, keep=1))
    widget.block, widget.budget = 1, 10
    assert torch.equal(widget.kept(), ab.keep_best(queries @ keys.mT, 10))


def test_the_indexer_is_the_packages():
    torch.manual_seed(0)
    indexer = ab.Indexer(4, 4, heads=3, size=5)
    widget = HaystackExplorer(*drawn(50, 6, 4), scorer="indexer", indexer=indexer, budget=9)
    with torch.no_grad():
        scores = indexer(*drawn(50, 6, 4)[::-1])
    torch.testing.assert_close(widget.scores().float(), scores, atol=2e-3, rtol=0)
    assert torch.equal(widget.kept(), ab.keep_best(widget.scores(), 9))
    assert widget.spent() == 50 * 3 * 5
    named = partial(refuses, ValueError)
    for other, said in (
        (ab.Indexer(4, 3, heads=1, size=1), r"indexer must take .* 4 features, got \(4, 3\)"),
        (ab.Indexer(4, 4, heads=9, size=1), "the indexer's heads must be 1 to 8, got 9"),
        (ab.Indexer(4, 4, heads=1, size=1, activation=torch.tanh), "the activation torch.relu"),
    ):
        named(said, HaystackExplorer, *drawn(50, 6, 4), indexer=other)
    refuses(TypeError, "indexer must be an Indexer", HaystackExplorer, *drawn(9, 2, 4), indexer=1)


def test_hash_and_clusters_are_those_of_the_package():
    widget = HaystackExplorer(*drawn(50, 6, 4), buckets=8, rounds=3, clusters=5, nearest=2, seed=7)
    keys, queries = widget.rounded()
    turns = widget._haystack().rotations[:3, :, :4]
    codes = ab.hash_codes(queries, turns), ab.hash_codes(keys, turns)
    widget.scorer = "hash"
    assert torch.equal(widget.kept(), ab.same_bucket(*codes)) and widget.spent() == 3 * 4 * 4
    assert widget.scores().max() > 1, "some keys agree in several rounds"
    centres = ab.k_means(keys, 5, generator=torch.Generator().manual_seed(7))
    widget.scorer = "cluster"
    assert widget.spent() == 5 * 4
    assert torch.equal(widget.kept(), ab.same_cluster(queries, keys, centres, nearest=2))
    home = torch.cdist(keys, centres).argmin(-1)
    torch.testing.assert_close(-widget.scores(), torch.cdist(queries, centres)[:, home])


@pytest.mark.parametrize("scorer", SCORERS)
def test_more_keeps_no_less_and_everything_is_dense(scorer):
    widget = HaystackExplorer(*drawn(64, 8, 6), scorer=scorer, clusters=4)
    steps = {
        "mean": ("budget", (8, 16, 40, 64)),
        "indexer": ("budget", (1, 9, 40, 64)),
        "hash": ("rounds", (1, 2, 5, 8)),
        "cluster": ("nearest", (1, 2, 3, 4)),
    }
    name, values = steps[scorer]
    kept = []
    for value in values:
        setattr(widget, name, value)
        kept.append(widget.kept())
    assert all((less & ~more).sum() == 0 for less, more in itertools.pairwise(kept))
    assert kept[0].sum() < kept[-1].sum()
    if scorer != "hash":  # of which no number of rounds must bring all
        assert kept[-1].all() and widget.found().all()
        torch.testing.assert_close(widget.weight_kept(), torch.ones(8).double())


def tied_clusters(nearest):
    """Each key its own centre, and a query that is as far from all of them."""
    options = {"scorer": "cluster", "clusters": 6, "nearest": nearest}
    return HaystackExplorer(torch.eye(6), torch.zeros(1, 6), **options)


def test_of_equal_scores_the_first_are_kept():
    same, ask = torch.ones(12, 2), torch.ones(1, 2)
    for scorer, first in (("mean", 8), ("indexer", 9)):
        widget = HaystackExplorer(same, ask, scorer=scorer, block=4, budget=9)
        assert widget.kept()[0].nonzero().flatten().tolist() == list(range(first))
    for nearest in (1, 2, 4):
        widget = tied_clusters(nearest)
        assert set(widget.kept()[0].nonzero().flatten().tolist()) == set(widget._starts[:nearest])


def test_another_setting_may_be_asked_for():
    """As if it were set; and what is shown stays."""
    widget = HaystackExplorer(*drawn(64, 8, 6))
    shown = widget.kept()
    other = {"scorer": "hash", "rounds": 3, "buckets": 4}
    asked = widget.kept(**other), widget.scores(**other), widget.found(**other)
    asked = [*asked, widget.weight_kept(**other), torch.tensor(widget.spent(**other))]
    assert torch.equal(widget.kept(), shown) and widget.scorer == "mean" and widget.rounds == 2
    for name, value in other.items():
        setattr(widget, name, value)
    now = widget.kept(), widget.scores(), widget.found(), widget.weight_kept()
    for one, two in zip(asked, [*now, torch.tensor(widget.spent())], strict=True):
        assert torch.equal(one, two)
    refuses(ValueError, "settings must be any of", widget.kept, query=1)
    refuses(ValueError, "rounds must be 1 to 8", widget.found, rounds=9)
    refuses(ValueError, "scorer must be one of", widget.spent, scorer="dense")


def test_a_seed_draws_the_same_and_another_does_not():
    def kept(seed, scorer):
        return HaystackExplorer(*drawn(64, 8, 6), scorer=scorer, seed=seed).kept()

    for scorer in ("indexer", "hash", "cluster"):
        assert torch.equal(kept(1, scorer), kept(1, scorer))
        assert not torch.equal(kept(1, scorer), kept(2, scorer))


def test_numbers_are_rounded_to_a_16000th_of_the_largest():
    keys, queries = drawn(64, 8, 6)
    held = HaystackExplorer(1e5 * keys, 1e-5 * queries).rounded()
    for exact, rounded in zip((1e5 * keys, 1e-5 * queries), held, strict=True):
        step = exact.abs().max().item() / 2**14
        torch.testing.assert_close(rounded, exact.double(), atol=step / 2, rtol=0)
        assert not torch.equal(rounded, exact.double())


def test_needles_may_be_given():
    widget = HaystackExplorer(*drawn(20, 2, 3), needles=[4, 19], budget=20)
    assert widget.needles == [4, 19] and widget.found().all()
    widget.budget, widget.block = 1, 1
    assert widget.found().tolist() == widget.kept()[[0, 1], [4, 19]].tolist()


def test_what_does_not_fit_is_named():
    keys, queries = drawn(20, 2, 3)
    for given_keys, given_queries, options, said in (
        (keys[0], queries, {}, "keys must be 2-D"),
        (keys, queries[:, :2], {}, "queries must have the features of keys, 3, got 2"),
        (keys / 0, queries, {}, "keys must be finite"),
        (keys[:1], queries, {}, "the number of keys must be 2 to 256"),
        (torch.ones(257, 3), queries, {}, "the number of keys must be 2 to 256"),
        (keys, torch.ones(33, 3), {}, "the number of queries must be 1 to 32"),
        (torch.ones(9, 33), torch.ones(1, 33), {}, "the number of features must be 1 to 32"),
        (keys, queries, {"needles": [0]}, "needles must hold a key for each of 2 queries"),
        (keys, queries, {"needles": [0, 20]}, "needles must be 0 to 19"),
        (keys, queries, {"seed": -1}, "seed must be at least 0"),
    ):
        refuses(ValueError, said, HaystackExplorer, given_keys, given_queries, **options)
