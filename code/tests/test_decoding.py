"""Greedy and beam against brute force, against teacher forcing, and over any state."""

import itertools
import math
from typing import NamedTuple

import pytest
import torch
from attnbook_testing.translation import VOCAB, sources, translators
from hypothesis import given, settings
from hypothesis import strategies as st

import attnbook as ab

BOS, EOS = 1, 2


class TableState(NamedTuple):
    """The last tokens and the row of the source: what a table needs."""

    source: torch.Tensor
    last: tuple[torch.Tensor, torch.Tensor]


class TableOutput(NamedTuple):
    logits: torch.Tensor
    weights: torch.Tensor | None
    state: TableState


class Table:
    """A model whose next token depends on the two before and on the source's first id."""

    def __init__(self, vocab, seed, sharp=2.0):
        random = torch.Generator().manual_seed(seed)
        self.logits = sharp * torch.randn(4, vocab, vocab, vocab, generator=random).double()

    def start(self, source, source_lens):
        begin = torch.full((len(source),), BOS)
        return TableState(source[:, 0] % 4, (begin, begin))

    def step(self, inputs, state, need_weights=False):
        token = inputs[:, 0]
        logits = self.logits[state.source, state.last[1], token].unsqueeze(1)
        # "weights" tell which token was asked, two steps back too, to see them follow their beam
        weights = torch.stack((token, state.last[1]), dim=1).double().unsqueeze(1)
        state = TableState(state.source, (state.last[1], token))
        return TableOutput(logits, weights if need_weights else None, state)

    def log_prob(self, row, tokens):
        before, last, total = BOS, BOS, 0.0
        for token in tokens:
            total += self.logits[row, before, last].log_softmax(-1)[token].item()
            before, last = last, token
        return total


def every_translation(vocab, longest):
    """All token sequences that end with EOS, or are cut at `longest`."""
    others = [t for t in range(vocab) if t != EOS]
    for n in range(longest):
        for body in itertools.product(others, repeat=n):
            yield (*body, EOS)
    yield from itertools.product(others, repeat=longest)


def lp(length, penalty):
    return ((5 + length) / 6) ** penalty


def rows(decoded):
    """Token lists without what follows each length."""
    return [t[:n] for t, n in zip(decoded.tokens.tolist(), decoded.lengths.tolist(), strict=True)]


SOURCE, LENS = torch.arange(4).unsqueeze(1), torch.ones(4, dtype=torch.int64)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    vocab=st.integers(3, 4),
    longest=st.integers(1, 3),
    penalty=st.sampled_from([0.0, 0.6, 1.0, 3.0]),
)
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all(seed, vocab, longest, penalty):
    model = Table(vocab, seed)
    decoded = ab.beam(
        model, SOURCE, LENS, width=vocab**longest, max_len=longest, length_penalty=penalty
    )
    for row, tokens in enumerate(rows(decoded)):
        everything = {s: model.log_prob(row, s) for s in every_translation(vocab, longest)}
        assert math.fsum(map(math.exp, everything.values())) == pytest.approx(1)
        best = max(everything, key=lambda s: everything[s] / lp(len(s), penalty))
        assert tuple(tokens) == best
        assert decoded.log_probs[row].item() == pytest.approx(everything[best], rel=1e-5)


def slow_beam(model, row, vocab, width, longest, penalty):
    """The same search with lists: finished translations keep their place."""
    finished, alive = [], [((), 0.0)]
    for _ in range(longest):
        longer = [(*s, t) for s, _ in alive for t in range(vocab)]
        grown = [(s, model.log_prob(row, s)) for s in longer]
        kept = sorted(grown, key=lambda x: -x[1])[: width - len(finished)]
        finished += [x for x in kept if x[0][-1] == EOS]
        alive = [x for x in kept if x[0][-1] != EOS]
    return max(finished + alive, key=lambda x: x[1] / lp(len(x[0]), penalty))


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6), width=st.integers(1, 5), penalty=st.sampled_from([0.0, 0.6, 2.0])
)
def test_a_narrow_beam_is_the_search_with_lists(seed, width, penalty):
    model = Table(5, seed)
    decoded = ab.beam(model, SOURCE, LENS, width=width, max_len=5, length_penalty=penalty)
    for row, tokens in enumerate(rows(decoded)):
        wanted, score = slow_beam(model, row, 5, width, 5, penalty)
        assert tuple(tokens) == wanted
        assert decoded.log_probs[row].item() == pytest.approx(score, rel=1e-5)


def test_a_wider_beam_finds_what_greedy_misses():
    """A first token of .6 whose followers are even, against one of .4 with a sure follower."""
    model = Table(5, 0)
    model.logits.fill_(-30.0)
    model.logits[:, BOS, BOS, 3], model.logits[:, BOS, BOS, 4] = math.log(0.6), math.log(0.4)
    model.logits[:, BOS, 3] = 0.0
    model.logits[:, BOS, 4, EOS] = 0.0
    assert rows(ab.greedy(model, SOURCE, LENS, max_len=2))[0][0] == 3
    found = ab.beam(model, SOURCE, LENS, width=2, max_len=2)
    assert rows(found) == [[4, EOS]] * 4
    torch.testing.assert_close(found.log_probs.exp(), torch.full((4,), 0.4).double())


@given(seed=st.integers(0, 10**6), penalty=st.sampled_from([0.0, 0.6, 5.0]))
def test_width_one_is_greedy(seed, penalty):
    model = Table(5, seed)
    one = ab.greedy(model, SOURCE, LENS, max_len=6, need_weights=True)
    two = ab.beam(
        model, SOURCE, LENS, width=1, max_len=6, length_penalty=penalty, need_weights=True
    )
    assert torch.equal(one.tokens, two.tokens) and torch.equal(one.lengths, two.lengths)
    assert torch.equal(one.weights, two.weights)
    torch.testing.assert_close(one.log_probs, two.log_probs)


@given(seed=st.integers(0, 10**6), width=st.integers(1, 4))
def test_weights_follow_their_translation(seed, width):
    decoded = ab.beam(Table(5, seed), SOURCE, LENS, width=width, max_len=6, need_weights=True)
    for row, tokens in enumerate(rows(decoded)):
        asked = [BOS, BOS, *tokens]
        for t in range(len(tokens)):
            assert decoded.weights[row, t].tolist() == [asked[t + 1], asked[t]]
        assert not decoded.weights[row, len(tokens) :].any()
        assert not decoded.tokens[row, len(tokens) :].any()


def test_a_larger_penalty_prefers_longer_translations():
    """EOS at once has .5; going on, .5 too, then two sure steps: lp decides."""
    model = Table(4, 0)
    model.logits.fill_(-30.0)
    model.logits[:, BOS, BOS, EOS] = math.log(0.52)
    model.logits[:, BOS, BOS, 3] = math.log(0.48)
    model.logits[:, BOS, 3, 3] = model.logits[:, 3, 3, EOS] = 0.0
    short = ab.beam(model, SOURCE, LENS, width=3, max_len=4, length_penalty=0.0)
    long = ab.beam(model, SOURCE, LENS, width=3, max_len=4, length_penalty=1.0)
    assert rows(short)[0] == [EOS] and rows(long)[0] == [3, 3, EOS]


# with the models


@settings(max_examples=20)
@given(model=translators(), source=sources(), width=st.sampled_from([None, 1, 3]))
def test_run_freely_equals_forced_on_its_own_output(model, source, width):
    options = {"max_len": 6, "need_weights": True}
    if width is None:
        decoded = ab.greedy(model, *source, **options)
    else:
        decoded = ab.beam(model, *source, width=width, **options)
    begin = torch.full((len(source[0]), 1), BOS)
    inputs = torch.cat((begin, decoded.tokens[:, :-1]), dim=1)
    forced = model(*source, inputs, need_weights=True)
    log_probs = forced.logits.log_softmax(-1)
    valid = ab.length_mask(decoded.lengths, inputs.shape[1]).squeeze(1)
    chosen = log_probs.gather(-1, decoded.tokens.unsqueeze(-1)).squeeze(-1)
    total = (chosen * valid).sum(1)
    torch.testing.assert_close(decoded.log_probs, total, atol=1e-10, rtol=1e-8)
    if width != 3:
        assert torch.equal(forced.logits.argmax(-1)[valid], decoded.tokens[valid])
    if forced.weights is None:
        assert decoded.weights is None
    else:
        kept = forced.weights * valid.unsqueeze(-1)
        torch.testing.assert_close(decoded.weights, kept, atol=1e-12, rtol=1e-10)


@settings(max_examples=10)
@given(model=translators(), source=sources(), width=st.sampled_from([None, 3]))
def test_a_sentence_is_decoded_alike_alone_and_in_company(model, source, width):
    def decode(ids, lens):
        if width is None:
            return ab.greedy(model, ids, lens, max_len=5)
        return ab.beam(model, ids, lens, width=width, max_len=5)

    whole = decode(*source)
    for i, tokens in enumerate(rows(whole)):
        alone = decode(source[0][i : i + 1], source[1][i : i + 1])
        assert rows(alone) == [tokens]
        torch.testing.assert_close(alone.log_probs[0], whole.log_probs[i])


def test_decoding_takes_no_gradient_and_leaves_the_mode():
    model = ab.recurrent_translator(VOCAB, VOCAB, attention="after", hidden_size=4)
    for training in (True, False):
        model.train(training)
        decoded = ab.greedy(model, torch.tensor([[5, 6]]), torch.tensor([2]), max_len=3)
        assert not decoded.log_probs.requires_grad and model.training is training


def test_decoding_stops_when_all_have_ended():
    model = Table(4, 0)
    model.logits[..., EOS] = 50.0
    calls = []
    step = model.step
    model.step = lambda *args, **kw: calls.append(1) or step(*args, **kw)
    assert rows(ab.greedy(model, SOURCE, LENS, max_len=50)) == [[EOS]] * 4
    assert len(calls) == 1
    assert rows(ab.beam(model, SOURCE, LENS, width=2, max_len=50)) == [[EOS]] * 4
    assert len(calls) < 6


def test_what_depends_on_the_source_alone_is_not_copied_between_steps():
    model = ab.recurrent_translator(VOCAB, VOCAB, attention="before", hidden_size=4).eval()
    seen = set()
    step = model.step

    def watched(inputs, state, need_weights=False):
        seen.add(state.memory.keys.data_ptr())
        return step(inputs, state, need_weights)

    model.step = watched
    ids = torch.tensor([[5, 6], [7, 8]])
    ab.beam(model, ids, torch.tensor([2, 2]), width=3, max_len=5, eos=-1)
    assert len(seen) == 1


# branch


def test_branch_goes_through_nested_tuples_and_leaves_the_rest():
    x = torch.arange(6.0).view(3, 2)
    state = TableState(x, (x + 10, x + 20))
    got = ab.branch((state, None, 7, {"a": [x]}), torch.tensor([2, 0, 2, 1]))
    assert isinstance(got[0], TableState) and got[1:3] == (None, 7)
    assert torch.equal(got[0].last[1], (x + 20)[[2, 0, 2, 1]])
    assert torch.equal(got[3]["a"][0], x[[2, 0, 2, 1]])
    assert torch.equal(state.source, torch.arange(6.0).view(3, 2))


@pytest.mark.parametrize("decode", [ab.greedy, lambda *a, **k: ab.beam(*a, width=2, **k)])
def test_bad_limits_are_named(decode):
    with pytest.raises(ValueError, match="max_len must be at least 1, got 0"):
        decode(Table(4, 0), SOURCE, LENS, max_len=0)
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        ab.beam(Table(4, 0), SOURCE, LENS, width=0, max_len=3)
