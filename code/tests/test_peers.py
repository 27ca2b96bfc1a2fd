"""Parity with d2l 0.17 with the same parameters, where d2l is right: lengths of at least one."""

import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab


@pytest.fixture(scope="module")
def d2l():
    return ab.import_d2l()


@st.composite
def batches(draw, least=1):
    """Tensors (b, n, d) of unit normals, and lengths (b,) or (b, q) from `least` to k."""
    b, q, k = (draw(st.integers(1, 4)) for _ in range(3))
    d_q, d_k, d_v, hidden = (draw(st.integers(1, 5)) for _ in range(4))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    tensors = [
        torch.randn(shape, generator=random) for shape in ((b, q, d_q), (b, k, d_k), (b, k, d_v))
    ]
    shape = draw(st.sampled_from([(b,), (b, q)]))
    lengths = torch.randint(least, k + 1, shape, generator=random)
    return tensors, lengths, hidden


def gradients(output, tensors):
    weight = torch.arange(1.0, output.numel() + 1).view_as(output).cos()
    return torch.autograd.grad((output * weight).sum(), tensors)


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=2e-6, rtol=1e-5)


@given(batch=batches())
def test_masked_softmax(d2l, batch):
    (queries, keys, _), lengths, _ = batch
    scores = torch.randn(*queries.shape[:2], keys.shape[1]) * 3
    ours = ab.masked_softmax(scores, ab.length_mask(lengths, keys.shape[1]))
    close(ours, d2l.masked_softmax(scores.clone(), lengths))  # theirs writes into its argument
    close(ab.masked_softmax(scores), d2l.masked_softmax(scores.clone(), None))


@given(batch=batches())
def test_dot_product_attention(d2l, batch):
    (queries, _, values), lengths, _ = batch
    keys = torch.randn(*values.shape[:2], queries.shape[-1])
    leaves = [t.requires_grad_() for t in (queries, keys, values)]
    theirs = d2l.DotProductAttention(dropout=0.0)
    wanted = theirs(queries, keys, values, lengths)
    mask = ab.length_mask(lengths, keys.shape[1])
    output, weights = ab.attention(queries, keys, values, mask=mask)
    fused, _ = ab.attention(queries, keys, values, mask=mask, need_weights=False)
    close(weights, theirs.attention_weights)
    for ours in (output, fused):
        close(ours, wanted)
        for one, other in zip(gradients(ours, leaves), gradients(wanted, leaves), strict=True):
            close(one, other)
            wanted = theirs(queries, keys, values, lengths)


@given(batch=batches())
def test_additive_attention_with_the_same_parameters(d2l, batch):
    tensors, lengths, hidden = batch
    queries, keys, values = (t.requires_grad_() for t in tensors)
    d_q, d_k = queries.shape[-1], keys.shape[-1]
    theirs = d2l.AdditiveAttention(d_k, d_q, hidden, dropout=0.0)
    score = ab.AdditiveScore(d_q, d_k, hidden)
    pairs = {"W_q": "W_q", "W_k": "W_k", "w": "w_v"}
    score.load_state_dict(
        {f"{ours}.weight": getattr(theirs, name).weight for ours, name in pairs.items()}
    )
    output, weights = ab.attention(
        queries, keys, values, score=score, mask=ab.length_mask(lengths, keys.shape[1])
    )
    wanted = theirs(queries, keys, values, lengths)
    close(output, wanted)
    close(weights, theirs.attention_weights)
    ours = [queries, keys, values, *(getattr(score, name).weight for name in pairs)]
    other = [queries, keys, values, *(getattr(theirs, name).weight for name in pairs.values())]
    for one, two in zip(gradients(output, ours), gradients(wanted, other), strict=True):
        close(one, two)


def test_where_they_part_length_zero(d2l):
    """Why the lengths above start at one: d2l spreads the weight of an empty row over padding."""
    scores, lengths = torch.zeros(1, 1, 4), torch.tensor([0])
    assert d2l.masked_softmax(scores.clone(), lengths).tolist() == [[[0.25] * 4]]
    assert ab.masked_softmax(scores, ab.length_mask(lengths, 4)).tolist() == [[[0.0] * 4]]


def test_the_stand_in_for_torchvision_is_taken_away(d2l):
    stood_in = d2l.torchvision.__spec__ is None
    assert ("torchvision" not in sys.modules) == stood_in
    assert ab.import_d2l() is d2l
    assert ("torchvision" not in sys.modules) == stood_in
