"""BLEU, exact matches and bootstrap intervals."""

import math
import random
from collections import Counter
from functools import partial

import pytest
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st

from attnbook.metrics import (
    bleu,
    bleu_interval,
    bleu_signature,
    bootstrap,
    bootstrap_sums,
    exact_match,
)

# BLEU


def slow_bleu(hypotheses, references, orders=4):
    """Papineni's formula with sacreBLEU's smoothing: the n-th empty order counts 1 / 2^n."""
    logs, empty = 0.0, 0
    for n in range(1, orders + 1):
        matches = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            ours, theirs = (
                Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
                for tokens in (hypothesis, reference)
            )
            matches += sum(min(count, theirs[gram]) for gram, count in ours.items())
            total += sum(ours.values())
        if not total:
            return 0.0
        if not matches:
            empty += 1
            matches = 2.0**-empty
        logs += math.log(matches / total) / orders
    if empty == orders:
        return 0.0
    ours, theirs = (sum(map(len, side)) for side in (hypotheses, references))
    return 100 * math.exp(logs + min(0.0, 1 - theirs / ours))


def translations(n, seed, error=0.3):
    chance = random.Random(seed)
    references = [chance.choices("abcdé'", k=chance.randint(4, 12)) for _ in range(n)]
    hypotheses = [
        [chance.choice("abc") if chance.random() < error else t for t in tokens if chance.random()]
        for tokens in references
    ]
    return [h[: chance.randint(3, 12)] for h in hypotheses], references


@given(st.integers(1, 8), st.integers(0, 999), st.sampled_from([0.0, 0.3, 0.9]))
def test_bleu_is_the_slow_one(n, seed, error):
    hypotheses, references = translations(n, seed, error)
    assert bleu(hypotheses, references) == pytest.approx(slow_bleu(hypotheses, references))


@given(st.integers(1, 8), st.integers(0, 999), st.integers(1, 5))
def test_the_effective_order_is_that_of_the_longest_translation(n, seed, most):
    hypotheses, references = translations(n, seed)
    hypotheses = [tokens[:most] for tokens in hypotheses]
    longest = min(max(map(len, hypotheses)), 4)
    wanted = slow_bleu(hypotheses, references, longest)
    assert bleu(hypotheses, references, effective_order=True) == pytest.approx(wanted)
    found = bleu_interval(hypotheses, references, effective_order=True, samples=20)
    assert found.value == pytest.approx(wanted)


def test_short_sentences_score_0_unless_their_order_is_effective():
    pair, other = [["good", "morning"]], ["a", "b", "c", "d", "e"]
    assert bleu(pair, pair) == 0.0 and bleu(pair, pair, effective_order=True) == 100.0
    few = [*pair, other]
    assert bleu_interval(few, few) == (100.0, 0.0, 100.0)  # half of the resamples have no other
    assert bleu_interval(few, few, effective_order=True) == (100.0, 100.0, 100.0)
    assert "eff:no" in bleu_signature() and "eff:yes" in bleu_signature(effective_order=True)


def test_bleu_at_its_ends():
    sentence = "the cat does not see the dog .".split()
    assert bleu([sentence], [sentence]) == 100.0
    assert bleu([[]], [sentence]) == 0.0
    assert bleu([["x"] * 8], [sentence]) == 0.0
    upper = [[token.upper() for token in sentence]]
    assert bleu(upper, [sentence]) < 10  # case counts
    assert "tok:none" in bleu_signature() and "case:mixed" in bleu_signature()


def test_bleu_does_not_cut_our_tokens():
    """sacreBLEU's own tokeniser would cut l' and a comma off; ours stay whole."""
    from sacrebleu.metrics import BLEU

    ours = ["l'", "été,", "qu'", "il"]
    assert bleu([["l'", "été", "qu'", "il"]], [ours]) < 100
    cut = BLEU(effective_order=True).corpus_score(["l' été , qu' il"], [["l' été, qu' il"]])
    assert cut.score == pytest.approx(100)


def test_exact_match():
    same = [["a"], ["b", "c"], []]
    assert exact_match(same, same) == 1.0
    assert exact_match([["a"], ["c", "b"], ["x"]], same) == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", [bleu, exact_match, bleu_interval])
def test_bad_translations_are_named(metric):
    said = "equally many, and at least one, got 1 and 2"
    refuses(ValueError, said, metric, [["a"]], [["a"], ["b"]])
    refuses(ValueError, "got 0 and 0", metric, [], [])
    refuses(TypeError, r"hypotheses must hold sequences of tokens.*'go'", metric, ["go"], [["go"]])
    one, kind = [["a", "b"]], "for each sentence, tokens of type str; got a token of type"
    for nested in ([one], [[one[0], one[0]]], [one, one]):  # of sacreBLEU, of several references
        refuses(TypeError, f"references must hold one sequence.*{kind} list", metric, one, nested)
    refuses(TypeError, f"hypotheses must hold one sequence.*{kind} int: 3", metric, [[3]], one)
    for token in ("a b", "", "a\u00a0b"):
        said = "references must hold tokens without spaces"
        refuses(ValueError, said, metric, [["a"]], [[token]])


# Intervals


def test_bleu_interval_is_the_bootstrap_of_bleu(capfd, caplog):
    hypotheses, references = translations(30, seed=5)
    pairs = list(zip(hypotheses, references, strict=True))
    slow = bootstrap(lambda items: bleu(*zip(*items, strict=True)), pairs, samples=50, seed=3)
    fast = bleu_interval(hypotheses, references, samples=50, seed=3)
    assert fast == pytest.approx(slow)
    assert fast.low < fast.value < fast.high
    assert fast.value == pytest.approx(bleu(hypotheses, references))
    assert capfd.readouterr() == ("", "") and not caplog.records  # no advice on short texts


@given(st.integers(1, 30), st.integers(0, 99))
def test_sums_at_once_are_the_bootstrap(n, seed):
    counts = torch.randint(0, 9, (n, 2), generator=torch.Generator().manual_seed(seed))
    counts[:, 1] += 1
    slow = bootstrap(
        lambda rows: sum(a for a, _ in rows) / sum(b for _, b in rows),
        counts.tolist(),
        samples=40,
        seed=seed,
    )
    assert bootstrap_sums(counts, samples=40, seed=seed) == pytest.approx(slow)


def mean(items):
    return math.fsum(items) / len(items)


def test_the_ends_are_quantiles_of_the_resamples_which_a_seed_repeats():
    seen, before = [], torch.get_rng_state()
    interval = bootstrap(lambda items: seen.append(mean(items)) or seen[-1], [1, 5, 9], samples=99)
    quantile = torch.tensor([0.025, 0.975], dtype=torch.float64)
    resampled = torch.tensor(sorted(seen[:99]), dtype=torch.float64)
    wanted = torch.quantile(resampled, quantile).tolist()
    assert [interval.low, interval.high] == pytest.approx(wanted) and interval.value == 5
    one, two, other = (bootstrap(mean, [0, 3, 4, 9] * 9, seed=s, level=0.9) for s in (1, 1, 2))
    assert one == two != other
    assert torch.equal(torch.get_rng_state(), before)  # chance is left alone


def test_a_resample_that_counts_nothing_is_left_out():
    counts = torch.tensor([[1.0, 1.0]] + [[0.0, 0.0]] * 4)  # a class that one sentence has
    assert bootstrap_sums(counts, samples=200) == (1.0, 1.0, 1.0)


def test_bad_intervals_are_named():
    named = partial(refuses, ValueError)
    named("at least one item", bootstrap, mean, [])
    named("samples must be at least 1, got 0", bootstrap, mean, [1.0], samples=0)
    named("level must be between 0 and 1, got 95", bootstrap, mean, [1.0], level=95)
    named("NaN", bootstrap, lambda items: math.nan, [1.0])
    named(r"counts must be \(n, c\), got shape \(2,\)", bootstrap_sums, torch.ones(2))
    named("at least one item", bootstrap_sums, torch.ones(0, 2))
