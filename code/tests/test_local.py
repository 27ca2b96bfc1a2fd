"""Local attention and Luong's decoder: a slow loop, laws of windows; others in `test_recurrent`."""

import math

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.translation import VOCAB, WINDOWS, targets_for
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import attnbook as ab
from attnbook.local import PredictedCentre
from attnbook.recurrent import RecurrentTranslator

EXACT = {"atol": 1e-12, "rtol": 1e-10}  # double precision
few = settings(max_examples=20)
BELLS = (None, "weights", "scores")


def close(a, b):
    torch.testing.assert_close(a, b, **EXACT)


def small(window=None, bell=None, seed=0, **options):
    torch.manual_seed(seed)
    options = {"embed_size": 3, "hidden_size": 4, "radius": 2} | options
    return ab.luong_translator(VOCAB, VOCAB, window=window, bell=bell, **options).double().eval()


def some_source():
    """Two sources of other lengths: ids (2, 7) and lengths (2,)."""
    return torch.randint(4, VOCAB, (2, 7)), torch.tensor([7, 3])


def vectors(b, q, k, d=3, seed=0):
    """Queries, keys, values and centres, some of them outside the source."""
    random = torch.Generator().manual_seed(seed)
    make = {"dtype": torch.float64, "generator": random}
    qkv = [torch.randn(b, n, d, **make) for n in (q, k, k)]
    return *qkv, torch.rand(b, q, **make) * (k + 4) - 2


# the window and the bell


def slow(queries, keys, values, centres, mask, radius, bell):
    """Equation 10 with Python's numbers: one query, one key at a time."""
    rows = []
    for n in range(len(queries)):
        for i, centre in enumerate(centres[n].tolist()):
            inside = [
                j for j in range(keys.shape[1]) if abs(j - centre) <= radius and bool(mask[n, 0, j])
            ]
            bells = {j: math.exp(-((j - centre) ** 2) / (2 * (radius / 2) ** 2)) for j in inside}
            powers = {j: math.exp((queries[n, i] @ keys[n, j]).item()) for j in inside}
            if bell == "scores":
                powers = {j: powers[j] * bells[j] for j in inside}
            row = [0.0] * keys.shape[1]
            for j in inside:
                row[j] = powers[j] / sum(powers.values())
                row[j] *= bells[j] if bell == "weights" else 1
            rows.append(row)
    weights = torch.tensor(rows, dtype=torch.float64).view(*centres.shape, -1)
    output = sum(weights[..., [j]] * values[:, [j]] for j in range(keys.shape[1]))
    return output, weights


@few
@given(
    bell=st.sampled_from(BELLS),
    radius=st.integers(1, 4),
    k=st.integers(1, 7),
    seed=st.integers(0, 999),
)
def test_local_attention_is_a_slow_loop_over_the_pairs_of_its_windows(bell, radius, k, seed):
    queries, keys, values, centres = vectors(2, 4, k, seed=seed)
    mask = ab.length_mask([k, k // 2], k)
    output, weights = ab.local_attention(
        queries, keys, values, centres, radius=radius, bell=bell, score=ab.dot, mask=mask
    )
    wanted, rows = slow(queries, keys, values, centres, mask, radius, bell)
    close(weights, rows)
    close(output, wanted)


@few
@given(radius=st.integers(1, 4), seed=st.integers(0, 999))
def test_the_two_bells_differ_by_the_size_of_a_row_alone(radius, seed):
    given = vectors(2, 4, 6, seed=seed)
    rows = {b: ab.local_attention(*given, radius=radius, bell=b)[1] for b in BELLS}
    total = rows["weights"].sum(dim=-1, keepdim=True)
    some = rows["scores"].any(dim=-1)  # the window holds a place
    close((rows["weights"] / total)[some], rows["scores"][some])
    close(rows["scores"].sum(dim=-1), some.double())
    close(rows[None].sum(dim=-1), some.double())
    assert (total <= 1 + 1e-12).all() and (total[some] > 0).all()


def test_a_window_that_reaches_everywhere_is_attention():
    queries, keys, values, centres = vectors(2, 4, 6)
    mask = ab.length_mask([6, 2], 6)
    local = ab.local_attention(queries, keys, values, centres, radius=9, mask=mask)
    for one, two in zip(local, ab.attention(queries, keys, values, mask=mask), strict=True):
        close(one, two)


def test_a_row_of_centres_serves_all_sequences_and_heads():
    queries, keys, values, _ = vectors(6, 4, 5)
    centres = torch.tensor([0.0, 1.5, 3, 9], dtype=torch.float64)
    heads = [x.unflatten(0, (2, 3)) for x in (queries, keys, values)]  # (b, h, n, d)
    one = ab.local_attention(*heads, centres, radius=1, bell="weights")
    each = centres.expand(2, 3, 4)
    two = ab.local_attention(*heads, each, radius=1, bell="weights")
    flat = ab.local_attention(queries, keys, values, centres, radius=1, bell="weights")
    for a, b, c in zip(one, two, flat, strict=True):
        close(a, b)
        close(a.flatten(0, 1), c)


def test_the_window_is_closed_and_may_be_empty():
    centres = torch.tensor([[0.0, 2.0, 2.5, 6.0]])
    wanted = ["11000", "01110", "00110", "00000"]
    mask = ab.local_window(centres, 5, radius=1)
    assert ["".join(str(int(x)) for x in row) for row in mask[0]] == wanted
    queries, keys, values, _ = vectors(1, 4, 5)
    for bell in BELLS:
        leaves = [x.clone().requires_grad_() for x in (queries, keys, values, centres.double())]
        output, weights = ab.local_attention(*leaves, radius=1, bell=bell)
        assert not weights[0, 3].any() and not output[0, 3].any()
        found = torch.autograd.grad(output.square().sum(), leaves, allow_unused=True)
        assert all(g.isfinite().all() for g in found if g is not None)


@pytest.mark.parametrize("bell", BELLS)
def test_a_gradient_reaches_the_centre_through_a_bell_only(bell):
    *qkv, centres = (x.requires_grad_() for x in vectors(2, 4, 6))
    output, _ = ab.local_attention(*qkv, centres, radius=2, bell=bell)
    (found,) = torch.autograd.grad(output.square().sum(), centres, allow_unused=True)
    assert (found is None) == (bell is None)
    assert bell is None or found.any()


def test_what_lies_outside_every_window_never_matters():
    queries, keys, values, _ = vectors(1, 2, 9)
    centres = torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    options = {"radius": 2, "bell": "weights"}
    output, _ = ab.local_attention(queries, keys, values, centres, **options)
    for tensor in (keys, values):
        tensor[:, 6:] = math.nan
    close(ab.local_attention(queries, keys, values, centres, **options)[0], output)
    sliced, _ = ab.local_attention(queries, keys[:, :6], values[:, :6], centres, **options)
    close(sliced, output)


def test_a_predicted_centre_is_equation_nine():
    ab.set_seed(0)
    centre = PredictedCentre(4, 3).double()
    queries, lengths = torch.randn(2, 5, 4, dtype=torch.float64), torch.tensor([7, 3])
    got = centre(queries, lengths)
    for n, i in ((0, 0), (1, 4)):
        hidden = torch.tanh(centre.W.weight @ queries[n, i])
        close(got[n, i], lengths[n] * torch.sigmoid(centre.v.weight[0] @ hidden))
    assert ((got > 0) & (got < lengths[:, None])).all()


# the decoder


@pytest.mark.parametrize(("window", "bell"), WINDOWS)
@pytest.mark.parametrize(("cell", "feed"), [("gru", True), ("lstm", False), ("gru", False)])
def test_a_decoder_is_a_slow_loop_over_cells(window, bell, cell, feed):
    model = small(window, bell, cell=cell, feed=feed, score="dot")
    (ids, lens), decoder = some_source(), model.decoder
    inputs = targets_for(ids, q=4)
    output = model(ids, lens, inputs, need_weights=True)
    encoded = model.encoder(ids, lens)
    peer = {"gru": nn.GRUCell, "lstm": nn.LSTMCell}[cell](decoder.rnn.input_size, 4).double()
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    peer.load_state_dict({p: getattr(decoder.rnn, f"{p}_l0") for p in names})
    first = [h[:, 0] for h in decoder.bridge(encoded.hidden)]
    hidden = first[0] if cell == "gru" else tuple(first)
    vector = torch.zeros(2, 4, dtype=torch.float64)
    for t in range(4):
        x = decoder.embedding.weight[inputs[:, t]]
        hidden = peer(torch.cat((x, vector), dim=-1) if feed else x, hidden)
        h = hidden if cell == "gru" else hidden[0]
        if window == "predicted":
            inner = torch.tanh(h @ decoder.centre.W.weight.T) @ decoder.centre.v.weight[0]
            centres = lens * torch.sigmoid(inner)
        else:
            centres = torch.full((2,), float(t), dtype=torch.float64)
        radius = 99 if window is None else 2
        context, weights = slow(
            h[:, None], encoded.outputs, encoded.outputs, centres[:, None], encoded.mask,
            radius, bell,
        )  # fmt: skip
        joined = torch.cat((context[:, 0], h), dim=-1)
        vector = torch.tanh(joined @ decoder.join.weight.T)
        close(output.weights[:, t], weights[:, 0])
        close(output.logits[:, t], decoder.output(vector))
        if window is None:
            assert output.centres is None
        else:
            close(output.centres[:, t], centres)
    close(output.state.context, vector)


@pytest.mark.parametrize(("window", "bell"), WINDOWS)
@pytest.mark.parametrize("feed", [False, True])
def test_every_parameter_gets_a_gradient_and_greedy_writes(window, bell, feed):
    model, (ids, lens) = small(window, bell, feed=feed), some_source()
    model(ids, lens, targets_for(ids, q=3)).logits.logsumexp(-1).sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in model.parameters())
    assert ab.greedy(model, ids, lens, max_len=5).tokens.shape == (2, 5)


def test_weights_are_given_when_they_are_asked_for():
    model, (ids, lens) = small("monotone"), some_source()
    assert model(ids, lens, targets_for(ids)).weights is None
    assert isinstance(model, RecurrentTranslator)


# what is refused


def test_what_does_not_fit_is_refused():
    q, k, v, centres = vectors(2, 3, 5)
    refuses(ValueError, "radius must be at least 1, got 0", ab.local_window, centres, 5, radius=0)
    local = ab.local_attention
    refuses(ValueError, "bell must be one of", local, q, k, v, centres, radius=2, bell="gauss")
    refuses(ValueError, r"centres must be \(2, 3\)", local, q, k, v, centres[:, :2], radius=2)
    refuses(TypeError, "centres must be floating", local, q, k, v, centres.long(), radius=2)
    centre = PredictedCentre(3)
    refuses(ValueError, r"lengths \(b,\)", centre, q.float(), torch.tensor([1, 2, 3]))
    for options, said in (
        ({"window": "local-m"}, "window must be one of"),
        ({"bell": "weights"}, "bell must be None without a window"),
        ({"window": "predicted"}, "no gradient reaches the centre"),
        ({"hidden_size": 3}, "hidden_size must be even"),
        ({"window": "monotone", "radius": 0}, "radius must be at least 1"),
    ):
        refuses(ValueError, said, ab.luong_translator, 9, 9, **options)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bell", BELLS)
def test_a_window_stands_where_its_place_is_in_half_precision(dtype, bell):
    """At place 2,999 of 3,000, which bfloat16 takes for 2,992, and float16 for 3,000."""
    model = small("monotone", bell, radius=2).to(dtype)
    state = model.start(torch.randint(4, VOCAB, (1, 3000)), torch.tensor([3000]))
    output = model.step(torch.tensor([[4]]), state._replace(place=torch.tensor([2999])), True)
    assert output.centres.item() == 2999
    assert output.weights[0, 0].nonzero().flatten().tolist() == [2997, 2998, 2999]
    assert output.logits.dtype == output.weights.dtype == dtype
    centres = torch.tensor([300.5])
    assert ab.local_window(centres.to(dtype), 600, radius=3).sum() in (6, 7)  # as it was rounded
