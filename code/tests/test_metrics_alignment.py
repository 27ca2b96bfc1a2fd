"""Alignment: links, error rate and hit rate against hand-worked cases and slow loops."""

import math
import random
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import pytest
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

from attnbook.metrics import (
    alignment_error_rate,
    argmax_links,
    diagonal_weights,
    expected_error_rate,
    hit_rate,
    hit_rate_interval,
    uniform_weights,
)


class Pair(NamedTuple):
    """The fields that a metric asks for; no corpus is needed."""

    source: tuple
    target: tuple
    sure: frozenset
    possible: frozenset
    classes: tuple = ()


def gold(q, k, chance, share=0.3):
    cells = [(i, j) for i in range(q) for j in range(k)]
    possible = {cell for cell in cells if chance.random() < share}
    sure = {cell for cell in possible if chance.random() < 0.5}
    return frozenset(sure), frozenset(possible)


@st.composite
def cases(draw, ties=False):
    """Pairs with gold and with weights, some of them larger than the pair, some with ties."""
    chance = random.Random(draw(st.integers(0, 10**6)))
    pairs, weights = [], []
    for _ in range(draw(st.integers(1, 4))):
        q, k = chance.randint(1, 5), chance.randint(1, 5)
        classes = tuple(chance.choice(["noun", "verb"]) for _ in range(q))
        pairs.append(Pair(("s",) * k, ("t",) * q, *gold(q, k, chance), classes))
        shape = q + chance.randint(0, 2), k + chance.randint(0, 2)
        cells = [[chance.choice([0, 1, 2]) for _ in range(shape[1])] for _ in range(shape[0])]
        tensor = torch.tensor(cells).double()
        if not ties:
            tensor = torch.tensor([[chance.random() for _ in row] for row in cells]).double()
        weights.append(tensor)
    return pairs, weights


# Links


def test_links_of_the_largest_weights():
    weights = torch.tensor([[0.1, 0.9, 0.0], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.0, 0.0, 0.0]])
    assert argmax_links(weights, 4, 3) == {(0, 1), (1, 0), (2, 2)}  # a row of zeros has none
    assert argmax_links(weights, 2, 3) == {(0, 1), (1, 0)}  # rows past the target are not read
    assert argmax_links(weights, 3, 2) == {(0, 1), (1, 0)}  # the third looks past the source
    assert argmax_links(torch.tensor([[0.5, 0.5]]), 1, 2) == {(0, 0)}  # the first of equals
    assert argmax_links(weights, 0, 3) == set()


# Error rate


HAND_WORKED = [
    # A, S, P, and what it comes to: numerator and denominator counted on paper
    ({(0, 0), (1, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1)}, 0.0),  # perfect
    ({(0, 1), (1, 0)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1)}, 1.0),  # all wrong
    ({(0, 0), (1, 1)}, {(0, 0)}, {(0, 0), (1, 1)}, 0.0),  # possible is no error: 1-(1+2)/(2+1)
    ({(0, 0)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1)}, 1 / 3),  # one missing: 1-(1+1)/(1+2)
    ({(0, 0), (1, 0)}, {(0, 0)}, {(0, 0)}, 1 / 3),  # one too many: 1-(1+1)/(2+1)
    ({(0, 0), (1, 2), (2, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1), (1, 2)}, 2 / 5),  # 1-(1+2)/(3+2)
    (set(), {(0, 0)}, {(0, 0)}, 1.0),  # none offered
    ({(0, 0)}, set(), {(0, 0)}, 0.0),  # nothing sure, a possible one found
    ({(0, 0)}, set(), set(), 1.0),  # nothing to find
]


@pytest.mark.parametrize(("links", "sure", "possible", "rate"), HAND_WORKED)
def test_hand_worked_error_rates(links, sure, possible, rate):
    assert alignment_error_rate(links, sure, possible) == pytest.approx(rate)
    assert alignment_error_rate([links], [sure], [possible]) == pytest.approx(rate)


def test_the_corpus_is_summed_before_it_is_divided():
    links, sure, possible = map(list, zip(*(row[:3] for row in HAND_WORKED[:2]), strict=True))
    links[1], sure[1], possible[1] = {(0, 1)}, {(0, 0)}, {(0, 0)}  # a short bad sentence
    assert alignment_error_rate(links, sure, possible) == pytest.approx(1 - 4 / 6)  # not 1/2


@given(cases())
def test_expected_error_rate_without_ties(case):
    pairs, weights = case
    links = [
        argmax_links(w, len(p.target), len(p.source)) for p, w in zip(pairs, weights, strict=True)
    ]
    gold_links = [p.sure for p in pairs], [p.possible for p in pairs]
    if any(links) or any(gold_links[0]):
        wanted = alignment_error_rate(links, *gold_links)
        assert expected_error_rate(weights, pairs) == pytest.approx(wanted)
    else:
        refuses(ValueError, "something to count", alignment_error_rate, links, *gold_links)


def test_uniform_weights_score_a_blind_guess():
    chance = random.Random(0)
    pairs = []
    for _ in range(20):
        q, k = chance.randint(3, 9), chance.randint(3, 9)
        pairs.append(Pair(("s",) * k, ("t",) * q, *gold(q, k, chance)))
    weights = [uniform_weights(len(p.target), len(p.source)) for p in pairs]
    gold_links = [p.sure for p in pairs], [p.possible for p in pairs]
    rates = []
    for _ in range(400):
        guess = [
            {(i, chance.randrange(len(p.source))) for i in range(len(p.target))} for p in pairs
        ]
        rates.append(alignment_error_rate(guess, *gold_links))
    mean = math.fsum(rates) / len(rates)
    assert expected_error_rate(weights, pairs) == pytest.approx(mean, abs=0.01)
    first = [argmax_links(w, *w.shape) for w in weights]  # what the first column happens to score
    assert alignment_error_rate(first, *gold_links) != pytest.approx(mean, abs=0.01)


# Hit rate


def slow_hits(pairs, weights, links):
    """Every counted token as (class, hit), one comparison at a time."""
    for pair, tensor in zip(pairs, weights, strict=True):
        for q in range(len(pair.target)):
            wanted = {k for i, k in getattr(pair, links) if i == q}
            row = tensor[q].tolist()
            best = [k for k, w in enumerate(row) if w == max(row) and w > 0]
            if wanted:
                hit = sum(k in wanted for k in best) / len(best) if best else 0.0
                yield pair.classes[q], hit


@given(st.one_of(cases(), cases(ties=True)), st.sampled_from(["sure", "possible"]))
def test_hit_rate_is_the_slow_one(case, links):
    hits = list(slow_hits(*case, links))
    pairs, weights = case
    by_class = hit_rate(weights, pairs, links=links, by_class=True)
    assert set(by_class) == {name for name, _ in hits}
    for name, (rate, tokens) in by_class.items():
        ours = [hit for other, hit in hits if other == name]
        assert tokens == len(ours) and rate == pytest.approx(math.fsum(ours) / len(ours))
    if hits:
        wanted = math.fsum(hit for _, hit in hits) / len(hits)
        assert hit_rate(weights, pairs, links=links) == pytest.approx(wanted)
    else:
        with pytest.raises(ValueError, match="something to count"):
            hit_rate(weights, pairs, links=links)


def test_a_token_without_a_sure_link_is_not_counted():
    links = frozenset({(0, 0)})
    pair = Pair(("a", "b"), ("x", "y"), links, links | {(1, 0)}, ("noun", "verb"))
    weights = [torch.tensor([[1.0, 0.0], [0.0, 1.0]])]
    assert hit_rate(weights, [pair]) == 1.0
    assert hit_rate(weights, [pair], links="possible") == 0.5
    assert hit_rate(weights, [pair], by_class=True) == {"noun": (1.0, 1)}
    past = [torch.tensor([[0.4, 0.0, 0.6], [0.0, 1.0, 0.0]])]  # the <eos> of the source
    assert hit_rate(past, [pair]) == 0.0


# Intervals, baselines


def test_an_interval_holds_its_value():
    chance = random.Random(2)
    pairs, weights = [], []
    for _ in range(60):
        q, k = chance.randint(2, 8), chance.randint(2, 8)
        pairs.append(Pair(("s",) * k, ("t",) * q, *gold(q, k, chance)))
        weights.append(torch.rand(q, k, generator=torch.Generator().manual_seed(q * k)))
    hits = hit_rate_interval(weights, pairs, links="possible", samples=200)
    assert hits.value == hit_rate(weights, pairs, links="possible")
    assert hits.low < hits.value < hits.high and hits.high - hits.low < 0.25


@given(st.integers(1, 12), st.integers(1, 12))
def test_baselines_are_weights(q, k):
    for weights in (diagonal_weights(q, k), uniform_weights(q, k)):
        assert weights.shape == (q, k) and weights.dtype == torch.float32
        torch.testing.assert_close(weights.sum(-1), torch.ones(q))
    assert uniform_weights(q, k).unique().numel() == 1
    keys = diagonal_weights(q, k).argmax(-1).tolist()
    assert keys == [round(Fraction(i * (k - 1), max(q - 1, 1))) for i in range(q)]


def test_bad_arguments_are_named():
    links = frozenset({(0, 0)})
    pair, one = Pair(("a",), ("x",), links, links), torch.ones(1, 1)
    named, rate = partial(refuses, ValueError), alignment_error_rate
    named(r"at least 2 rows and 1 columns, got shape \(1, 1\)", argmax_links, one, 2, 1)
    named(r"\(q, k\)", argmax_links, one[0], 1, 1)
    refuses(TypeError, "weights must be floating point", argmax_links, one.long(), 1, 1)
    named("NaN", argmax_links, one * float("nan"), 1, 1)
    named(r"possible must hold every sure link.*\(0, 0\)", rate, links, links, frozenset())
    named("equally many sentences, got 1, 2 and 1", rate, [links], [links, links], [links])
    named("something to count", rate, [], [], [])
    named("one tensor for each pair, got 2 for 1", hit_rate, [one, one], [pair])
    named('"sure" or "possible", got \'certain\'', hit_rate, [one], [pair], links="certain")
    said = r"class for each target token.* got 0 for the 1"
    named(said, hit_rate, [one], [pair], by_class=True)
    named("possible must hold", hit_rate, [one], [pair._replace(possible=frozenset())])
    for baseline in (diagonal_weights, uniform_weights):
        named("k_len must be at least 1, got 0", baseline, 1, 0)
