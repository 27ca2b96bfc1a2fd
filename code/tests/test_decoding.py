"""Decoding against brute force, against teacher forcing, over any state; and what is drawn."""

import itertools
import math
from functools import partial
from typing import NamedTuple

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.translation import VOCAB, sources, translators
from hypothesis import given, settings
from hypothesis import strategies as st

import attnbook as ab
from attnbook.decoding import truncate

BOS, EOS = 1, 2
SEEDS = st.integers(0, 10**6)


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

    def __init__(self, vocab, seed=0, sharp=2.0):
        random = torch.Generator().manual_seed(seed)
        self.logits = sharp * torch.randn(4, vocab, vocab, vocab, generator=random).double()
        self.steps = 0

    def start(self, source, source_lens):
        begin = torch.full((len(source),), BOS)
        return TableState(source[:, 0] % 4, (begin, begin))

    def step(self, inputs, state, need_weights=False):
        self.steps += 1
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


SOURCE, LENS = torch.arange(4).unsqueeze(1), torch.ones(4, dtype=torch.int64)


def rows(decoded):
    """Token lists without what follows each length."""
    return [t[:n] for t, n in zip(decoded.tokens.tolist(), decoded.lengths.tolist(), strict=True)]


def lp(length, penalty):
    return ((5 + length) / 6) ** penalty


# beam search


@settings(max_examples=15)
@given(SEEDS, st.integers(3, 4), st.integers(1, 3), st.sampled_from([0.0, 0.6, 1.0, 3.0]))
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all(seed, vocab, longest, penalty):
    model, width = Table(vocab, seed), vocab**longest
    decoded = ab.beam(model, SOURCE, LENS, width=width, max_len=longest, length_penalty=penalty)
    others = [t for t in range(vocab) if t != EOS]
    every = [(*s, EOS) for n in range(longest) for s in itertools.product(others, repeat=n)]
    every += itertools.product(others, repeat=longest)  # those that are cut
    for row, tokens in enumerate(rows(decoded)):
        scores = {s: model.log_prob(row, s) for s in every}
        assert math.fsum(map(math.exp, scores.values())) == pytest.approx(1)
        best = max(scores, key=lambda s: scores[s] / lp(len(s), penalty))
        assert tuple(tokens) == best
        assert decoded.log_probs[row].item() == pytest.approx(scores[best], rel=1e-5)


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
@given(SEEDS, st.integers(1, 5), st.sampled_from([0.0, 0.6, 2.0]))
def test_a_narrow_beam_is_the_search_with_lists_and_weights_follow_it(seed, width, penalty):
    model, options = Table(5, seed), {"max_len": 5, "need_weights": True}
    decoded = ab.beam(model, SOURCE, LENS, width=width, length_penalty=penalty, **options)
    for row, tokens in enumerate(rows(decoded)):
        wanted, score = slow_beam(model, row, 5, width, 5, penalty)
        assert tuple(tokens) == wanted
        assert decoded.log_probs[row].item() == pytest.approx(score, rel=1e-5)
        n, asked = len(tokens), [BOS, BOS, *tokens]
        wanted = [[asked[t + 1], asked[t]] for t in range(n)]
        assert decoded.weights[row, :n].tolist() == wanted
        assert not decoded.weights[row, n:].any() and not decoded.tokens[row, n:].any()
    if width == 1:
        assert all(
            torch.allclose(x.double(), y.double())
            for x, y in zip(decoded, ab.greedy(model, SOURCE, LENS, **options), strict=True)
        )


@pytest.mark.parametrize("width", range(7, 13))
def test_a_beam_wider_than_the_vocabulary_has_a_use_for_every_place(width):
    """The end at once takes a place; of the pairs in all others the worst then ends for sure."""
    model, words, wanted = Table(6, seed=width, sharp=0.1), (0, 3, 4, 5), []
    model.logits[..., [BOS, EOS]] = -30.0
    for row in range(4):
        pairs = sorted(itertools.product(words, repeat=2), key=lambda s: -model.log_prob(row, s))
        before, last = pairs[width - 2]
        model.logits[row, before, last, EOS] = 30.0  # after other pairs four tokens share alike
        wanted.append([before, last, EOS])
        assert list(slow_beam(model, row, 6, width, 3, 0.0)[0]) == wanted[-1]
    options = {"max_len": 3, "length_penalty": 0.0}
    assert rows(ab.beam(model, SOURCE, LENS, width=width, **options)) == wanted
    narrower = rows(ab.beam(model, SOURCE, LENS, width=width - 1, **options))
    assert all(map(list.__ne__, narrower, wanted)), "the control: a place less, and it is lost"


@pytest.mark.parametrize(
    ("going_on", "penalty", "wanted"),
    [(-0.915, 0.0, [EOS]), (-0.915, 1.0, [3, 3, EOS]), (-0.95, 1.0, [EOS])],
)
def test_the_length_penalty_decides(going_on, penalty, wanted):
    """The end at once has -.7; going on, two sure steps follow: 6/8 of its log-probability."""
    model = Table(5)
    model.logits.fill_(-30.0)
    rest = 1 - math.exp(-0.7) - math.exp(going_on)
    model.logits[:, BOS, BOS, 2:] = torch.tensor([-0.7, going_on, math.log(rest)])
    model.logits[:, BOS, 3, 3] = model.logits[:, 3, 3, EOS] = 0.0
    found = ab.beam(model, SOURCE, LENS, width=3, max_len=4, length_penalty=penalty)
    assert rows(found) == [wanted] * 4


def test_decoding_stops_when_all_have_ended():
    model = Table(4)
    model.logits[..., EOS] = 50.0
    assert rows(ab.greedy(model, SOURCE, LENS, max_len=50)) == [[EOS]] * 4
    assert model.steps == 1
    assert rows(ab.beam(model, SOURCE, LENS, width=2, max_len=50)) == [[EOS]] * 4
    assert model.steps < 7


# with the models


def decode(model, source, lens, how, **options):
    options = {"max_len": 6, **options}
    if how == "sample":
        return ab.sample(model, source, lens, generator=torch.Generator().manual_seed(1), **options)
    if how == "greedy":
        return ab.greedy(model, source, lens, **options)
    return ab.beam(model, source, lens, width=3, **options)


@settings(max_examples=25)
@given(translators(), sources(), st.sampled_from(["greedy", "beam", "sample"]))
def test_run_freely_equals_forced_on_its_own_output(model, source, how):
    decoded = decode(model, *source, how, need_weights=True)
    inputs = torch.nn.functional.pad(decoded.tokens[:, :-1], (1, 0), value=BOS)
    forced = model(*source, inputs, need_weights=True)
    log_probs = forced.logits.log_softmax(-1)
    valid = ab.length_mask(decoded.lengths, inputs.shape[1]).squeeze(1)
    chosen = log_probs.gather(-1, decoded.tokens.unsqueeze(-1)).squeeze(-1)
    total = (chosen * valid).sum(1)
    torch.testing.assert_close(decoded.log_probs, total, atol=1e-10, rtol=1e-8)
    assert not decoded.log_probs.requires_grad and not decoded.tokens[~valid].any()
    if how == "greedy":
        assert torch.equal(forced.logits.argmax(-1)[valid], decoded.tokens[valid])
    if forced.weights is None:
        assert decoded.weights is None
    else:
        kept = forced.weights * valid.unsqueeze(-1)
        torch.testing.assert_close(decoded.weights, kept, atol=1e-12, rtol=1e-10)


def test_decoding_leaves_the_mode_and_copies_no_memory_between_steps():
    model = ab.recurrent_translator(VOCAB, VOCAB, attention="before", hidden_size=4)
    seen, step = set(), model.step

    def watched(inputs, state, need_weights=False):
        seen.add(state.memory.keys.data_ptr())
        return step(inputs, state, need_weights)

    model.step = watched
    for training in (True, False):
        seen.clear()
        model.train(training)
        ids = torch.tensor([[5, 6], [7, 8]])
        ab.beam(model, ids, torch.tensor([2, 2]), width=3, max_len=5, eos=-1)
        assert len(seen) == 1 and model.training is training


def test_branch_goes_through_nested_tuples_and_leaves_the_rest():
    x = torch.arange(6.0).view(3, 2)
    state = TableState(x, (x + 10, x + 20))
    got = ab.branch((state, None, 7, {"a": [x]}), torch.tensor([2, 0, 2, 1]))
    assert isinstance(got[0], TableState) and got[1:3] == (None, 7)
    assert torch.equal(got[0].last[1], (x + 20)[[2, 0, 2, 1]])
    assert torch.equal(got[3]["a"][0], x[[2, 0, 2, 1]])
    assert torch.equal(state.source, torch.arange(6.0).view(3, 2))


# sampling


@st.composite
def distributions(draw):
    v = draw(st.integers(1, 12))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    logits = 3 * torch.randn(draw(st.integers(1, 3)), v, generator=random, dtype=torch.float64)
    return logits.log_softmax(dim=-1)


def slowly_truncated(row, temperature, top_k, top_p, min_p):
    """The same for one row, token by token, in plain Python."""
    shares = [math.exp(x / temperature) for x in row.tolist()]
    order = sorted(range(len(shares)), key=lambda i: -shares[i])[:top_k]
    total, so_far, kept = sum(shares[i] for i in order), 0.0, []
    for i in order:
        if kept and so_far >= top_p:
            break
        kept.append(i)
        so_far += shares[i] / total
    kept = [i for i in kept if shares[i] >= min_p * shares[order[0]]]
    total = sum(shares[i] for i in kept)
    return [shares[i] / total if i in kept else 0.0 for i in range(len(shares))]


@given(
    distributions(),
    st.floats(0.2, 3),
    st.one_of(st.none(), st.integers(1, 14)),
    st.floats(0.05, 0.999),
    st.floats(0.0, 0.999),
)
def test_truncate_equals_the_slow_one(log_probs, temperature, top_k, top_p, min_p):
    settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    got = truncate(log_probs, **settings).exp()
    for row, found in zip(log_probs, got, strict=True):
        wanted = slowly_truncated(row, **settings)
        assert found.tolist() == pytest.approx(wanted, abs=1e-9)
    torch.testing.assert_close(truncate(log_probs), log_probs, atol=1e-12, rtol=0)


def test_a_share_of_one_keeps_what_rounding_would_lose():
    log_probs = torch.tensor([[-0.1, -20.0, -40.0, -80.0]])
    assert truncate(log_probs, temperature=0.5).isfinite().all()
    assert not truncate(log_probs, top_p=0.999).isfinite()[0, 1:].any()  # the control


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [1e-3, 1e-8, 1e-38, 1e-46, 5e-324])
def test_truncate_at_any_temperature_leaves_the_likeliest(dtype, temperature):
    """Down to where the dtype takes the temperature for 0; equals share."""
    log_probs = torch.tensor([[-90.0, -80.0, -81.0, -torch.inf], [-3.0, -5.0, -3.0, -4.0]])
    log_probs = log_probs.to(dtype)
    for cut in ({}, {"top_k": 2}, {"top_p": 0.9}, {"min_p": 0.1}):
        found = truncate(log_probs, temperature=temperature, **cut).exp()
        assert found.tolist()[0] == [0, 1, 0, 0]
        assert not found.isnan().any() and found[1, [1, 3]].eq(0).all()
    chance = truncate(log_probs, temperature=temperature).exp()
    torch.testing.assert_close(chance[1, 0], torch.tensor(0.5, dtype=dtype))
    for warm in (1e300, math.inf):
        even = truncate(log_probs, temperature=warm).exp()
        torch.testing.assert_close(
            even[0], torch.tensor([1, 1, 1, 0.0], dtype=dtype) / 3, atol=1e-2, rtol=0
        )


@given(distributions(), st.floats(0.2, 3), st.floats(0.0, 0.999))
def test_min_p_looks_at_ratios_alone(log_probs, temperature, min_p):
    """No other token is asked: a ratio of probabilities, sharpened, is below it or is not."""
    found = truncate(log_probs, temperature=temperature, min_p=min_p)
    ratios = ((log_probs - log_probs.amax(-1, keepdim=True)) / temperature).exp()
    assert torch.equal(found.isfinite(), ratios >= min_p)
    kept = torch.where(ratios >= min_p, ratios, 0.0)
    torch.testing.assert_close(found.exp(), kept / kept.sum(-1, keepdim=True))


QUARTERS = [1 / 4, 1 / 2, 1 / 8, 1 / 8]


@pytest.mark.parametrize(
    ("shares", "options", "wanted"),
    [
        (QUARTERS, {"top_p": 1 / 2}, [0, 1, 0, 0]),  # a share that is enough
        (QUARTERS, {"top_p": 0.76}, [2 / 7, 4 / 7, 1 / 7, 0]),
        ([1 / 4] * 4, {"top_p": 1 / 2}, [1 / 2, 1 / 2, 0, 0]),  # of equals the smaller ids
        ([1 / 4] * 4, {"top_k": 3}, [1 / 3, 1 / 3, 1 / 3, 0]),
        ([1 / 2, 1 / 4, 1 / 4], {"top_k": 2, "top_p": 0.6}, [1, 0, 0]),  # of what top_k left
        ([1 / 2, 1 / 2, 0], {"top_p": 1.0}, [1 / 2, 1 / 2, 0]),  # nothing of no share
        ([1 / 2, 1 / 4, 1 / 4], {"top_p": 1e-9}, [1, 0, 0]),  # the likeliest always
        (QUARTERS, {"min_p": 0.49}, [1 / 3, 2 / 3, 0, 0]),
        (QUARTERS, {"min_p": 0.51}, [0, 1, 0, 0]),
        (QUARTERS, {"min_p": 0.24}, QUARTERS),  # of the likeliest's share, not of the whole
        ([1 / 4] * 4, {"min_p": 1.0}, [1 / 4] * 4),  # of equals all
        ([1 / 2, 1 / 4, 1 / 4], {"min_p": 1.0}, [1, 0, 0]),  # the likeliest always
        ([1, 0, 0], {"min_p": 0.0}, [1, 0, 0]),
        # top-p comes first: of what min-p leaves, the likeliest alone would be 5/8
        ([0.5, 0.3, 0.2], {"top_p": 0.6, "min_p": 0.5}, [5 / 8, 3 / 8, 0]),
    ],
)
def test_what_is_kept_at_the_edge(shares, options, wanted):
    for dtype in (torch.float32, torch.float64):
        found = truncate(torch.tensor(shares, dtype=dtype).log(), **options).exp()
        assert found.tolist() == pytest.approx(wanted, abs=1e-6)


def drawn(seed=0, b=4000, **options):
    """Translations of one token, each from the shares .1, .2, .3, .4."""
    model = Table(4)
    model.logits[:] = torch.tensor([0.1, 0.2, 0.3, 0.4]).log()
    options = {"max_len": 1, "generator": torch.Generator().manual_seed(seed)} | options
    return ab.sample(model, torch.zeros(b, 1, dtype=torch.int64), torch.ones(b), **options)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [0.1, 0.2, 0.3, 0.4]),
        ({"temperature": 0.5}, [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
        ({"top_k": 2}, [0, 0, 3 / 7, 4 / 7]),
        ({"top_p": 0.75}, [0, 2 / 9, 3 / 9, 4 / 9]),
        ({"min_p": 0.6}, [0, 0, 3 / 7, 4 / 7]),
    ],
)
def test_frequencies_are_the_shares_and_log_probs_the_models_own(options, wanted):
    found = drawn(**options)
    frequencies = found.tokens.flatten().bincount(minlength=4) / 4000
    assert frequencies.tolist() == pytest.approx(wanted, abs=0.03)
    shares = (found.tokens[:, 0] + 1) / 10
    torch.testing.assert_close(found.log_probs.exp().float(), shares)


def test_a_seed_repeats_its_tokens_and_the_least_chance_is_greedy():
    one, two, other = drawn(3), drawn(3), drawn(4)
    assert torch.equal(one.tokens, two.tokens) and not torch.equal(one.tokens, other.tokens)
    model, options = Table(5), {"max_len": 6, "need_weights": True}
    sure, greedy = (f(model, SOURCE, LENS, **options, **o) for f, o in
                    ((ab.sample, {"top_k": 1}), (ab.greedy, {})))  # fmt: skip
    assert all(map(torch.equal, sure, greedy))


def test_a_bad_argument_is_named():
    wrong = [("temperature", 0), ("top_k", 0), ("top_p", 0.0), ("top_p", 1.5)]
    wrong += [("min_p", -0.1), ("min_p", 1.1), ("min_p", math.nan), ("top_p", math.nan)]
    for options in (dict([pair]) for pair in wrong):
        refuses(ValueError, *options, drawn, b=2, **options)
    for decoder in (ab.greedy, ab.sample, partial(ab.beam, width=2)):
        said = "max_len must be at least 1, got 0"
        refuses(ValueError, said, decoder, Table(4), SOURCE, LENS, max_len=0)
    said = "width must be at least 1, got 0"
    refuses(ValueError, said, ab.beam, Table(4), SOURCE, LENS, width=0, max_len=3)
