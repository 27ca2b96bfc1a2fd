"""Sampling: the distribution that is drawn from, its tail, and the protocol of decoding."""

import math

import pytest
import torch
from attnbook_testing.translation import sources, translators
from hypothesis import given, settings
from hypothesis import strategies as st

import attnbook as ab
from attnbook.recurrent import Output
from attnbook.sampling import truncate

EOS = 2


@st.composite
def distributions(draw):
    v = draw(st.integers(1, 12))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    logits = 3 * torch.randn(draw(st.integers(1, 3)), v, generator=random, dtype=torch.float64)
    return logits.log_softmax(dim=-1)


def slowly_truncated(row, temperature, top_k, top_p):
    """The same for one row, token by token, in plain Python."""
    shares = [math.exp(x / temperature) for x in row.tolist()]
    order = sorted(range(len(shares)), key=lambda i: -shares[i])[:top_k]
    total, so_far, kept = sum(shares[i] for i in order), 0.0, []
    for i in order:
        if kept and so_far >= top_p:
            break
        kept.append(i)
        so_far += shares[i] / total
    total = sum(shares[i] for i in kept)
    return [shares[i] / total if i in kept else 0.0 for i in range(len(shares))]


@given(
    distributions(),
    st.floats(0.2, 3),
    st.one_of(st.none(), st.integers(1, 14)),
    st.floats(0.05, 0.999),
)
def test_truncate_equals_the_slow_one(log_probs, temperature, top_k, top_p):
    got = truncate(log_probs, temperature=temperature, top_k=top_k, top_p=top_p).exp()
    for row, found in zip(log_probs, got, strict=True):
        wanted = slowly_truncated(row, temperature, top_k, top_p)
        assert found.tolist() == pytest.approx(wanted, abs=1e-9)


@given(distributions())
def test_nothing_cut_is_nothing_changed(log_probs):
    assert torch.allclose(truncate(log_probs), log_probs, atol=1e-12)


def test_zero_shares_are_never_kept_for_a_top_p_of_one():
    log_probs = torch.tensor([0.5, 0.5, 0.0]).log()
    assert truncate(log_probs, top_p=1.0).exp().tolist() == pytest.approx([0.5, 0.5, 0.0])


@settings(max_examples=15)
@given(translators(), sources())
def test_the_least_chance_is_greedy(model, given_sources):
    source, lengths = given_sources
    model.eval()
    wanted = ab.greedy(model, source, lengths, max_len=7, need_weights=True)
    got = ab.sample(model, source, lengths, max_len=7, top_k=1, need_weights=True)
    assert torch.equal(got.tokens, wanted.tokens) and torch.equal(got.lengths, wanted.lengths)
    assert torch.allclose(got.log_probs, wanted.log_probs, atol=1e-5)
    assert (got.weights is None) == (wanted.weights is None)
    if got.weights is not None:
        assert torch.allclose(got.weights, wanted.weights, atol=1e-6)


class Die:
    """A model whose every token is drawn from one distribution."""

    def __init__(self, shares):
        self.logits = torch.tensor(shares).log()

    def start(self, source, source_lens):
        return ()

    def step(self, inputs, state, need_weights=False):
        logits = self.logits.expand(len(inputs), 1, -1)
        return Output(logits, None, state)


def drawn(seed, **options):
    b = 4000
    random = torch.Generator().manual_seed(seed)
    source, lengths = torch.zeros(b, 1, dtype=torch.int64), torch.ones(b, dtype=torch.int64)
    die = Die([0.1, 0.2, 0.3, 0.4])
    return ab.sample(die, source, lengths, max_len=1, generator=random, **options)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [0.1, 0.2, 0.3, 0.4]),
        ({"temperature": 0.5}, [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
        ({"top_k": 2}, [0, 0, 3 / 7, 4 / 7]),
        ({"top_p": 0.75}, [0, 2 / 9, 3 / 9, 4 / 9]),
    ],
)
def test_frequencies_are_the_shares(options, wanted):
    found = drawn(0, **options).tokens.flatten().bincount(minlength=4) / 4000
    assert found.tolist() == pytest.approx(wanted, abs=0.03)


def test_a_seed_repeats_and_log_probs_are_the_models_own():
    one, two, other = drawn(3), drawn(3, temperature=1.0), drawn(4)
    assert torch.equal(one.tokens, two.tokens) and not torch.equal(one.tokens, other.tokens)
    shares = torch.tensor([0.1, 0.2, 0.3, 0.4])
    cut = drawn(3, top_k=2)
    assert torch.allclose(cut.log_probs, shares[cut.tokens[:, 0]].log(), atol=1e-5)


@settings(max_examples=10)
@given(translators(), sources(), st.integers(0, 99))
def test_what_is_drawn_can_be_forced(model, given_sources, seed):
    """Log-probabilities equal those under teacher forcing; padding follows the end token."""
    source, lengths = given_sources
    model.eval()
    random = torch.Generator().manual_seed(seed)
    got = ab.sample(model, source, lengths, max_len=6, generator=random)
    inputs = torch.nn.functional.pad(got.tokens[:, :-1], (1, 0), value=1)
    with torch.no_grad():
        forced = model(source, lengths, inputs).logits.log_softmax(dim=-1)
    each = forced.gather(2, got.tokens[..., None]).squeeze(2)
    valid = torch.arange(got.tokens.shape[1]) < got.lengths[:, None]
    assert torch.allclose((each * valid).sum(dim=1), got.log_probs, atol=1e-4)
    assert not got.tokens[~valid].any()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 0}, "temperature"),
        ({"temperature": -1.0}, "temperature"),
        ({"top_k": 0}, "top_k"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.5}, "top_p"),
        ({"max_len": 0}, "max_len"),
    ],
)
def test_bad_input_is_named(options, said):
    source, lengths = torch.zeros(2, 1, dtype=torch.int64), torch.ones(2, dtype=torch.int64)
    with pytest.raises(ValueError, match=said):
        ab.sample(Die([0.5, 0.5]), source, lengths, **{"max_len": 1, **options})
