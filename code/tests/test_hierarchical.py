"""Hierarchical attention: equal to a slow reference, and no padding is ever felt."""

import pytest
import torch
from attnbook_testing.refusals import refuses

import attnbook as ab
from attnbook import HierarchicalAttention, LearnedQuery, MeanPooling

D = 4


def drawn(seed=0, *, hidden=None):
    torch.manual_seed(seed)
    levels = (LearnedQuery(D, hidden).double() for _ in range(2))
    return HierarchicalAttention(*levels)


def document(*lengths, seed=0):
    random = torch.Generator().manual_seed(seed)
    return [torch.randn(n, D, generator=random, dtype=torch.double) for n in lengths]


def padded(*documents, fill=0.0, more=0):
    s = max(map(len, documents)) + more
    w = max(len(sentence) for one in documents for sentence in one) + more
    x = torch.full((len(documents), s, w, D), fill, dtype=torch.double)
    mask = torch.zeros(x.shape[:3], dtype=torch.bool)
    for i, one in enumerate(documents):
        for j, sentence in enumerate(one):
            x[i, j, : len(sentence)], mask[i, j, : len(sentence)] = sentence, True
    return x, mask


def slow(level, rows):
    """One softmax in a loop: exp(c . tanh(W x + b)) of each, over their sum."""
    shares = [torch.exp(torch.tanh(level.W.weight @ x + level.W.bias) @ level.query) for x in rows]
    weights = torch.stack(shares) / sum(shares)
    return sum(a * x for a, x in zip(weights, rows, strict=True)), weights


@pytest.mark.parametrize("hidden", [None, 7])
def test_it_is_two_softmaxes(hidden):
    model, one = drawn(hidden=hidden), document(3, 5, 1)
    got = model(*padded(one))
    pooled = [slow(model.words, sentence) for sentence in one]
    output, weights = slow(model.sentences, [vector for vector, _ in pooled])
    assert torch.allclose(got.output[0], output)
    assert torch.allclose(got.sentences[0], weights)
    for j, (vector, alpha) in enumerate(pooled):
        assert torch.allclose(got.words[0, j, : len(alpha)], alpha)
        assert torch.allclose(got.vectors[0, j], vector)
        assert not got.words[0, j, len(alpha) :].any()


@pytest.mark.parametrize("fill", [0.0, 1e6, float("nan"), float("inf")])
def test_padding_is_never_felt(fill):
    """Neither in the weights nor in a gradient, whatever stands there; empty documents are zero."""
    one, two = document(3, 5, 1), document(2, seed=1)
    model = drawn()
    alone = [model(*padded(each)).output[0] for each in (one, two)]
    together = model(*padded(one, two, [], fill=fill, more=2))
    assert torch.allclose(together.output[:2], torch.stack(alone))
    assert not together.output[2].any() and not together.sentences[2].any()
    together.output.sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


def test_a_mean_is_attention_with_equal_scores():
    level = LearnedQuery(D).double()
    level.query.data.zero_()
    x, mask = padded(document(3, 5, 1))
    for got, want in zip(MeanPooling()(x, mask), level(x, mask), strict=True):
        assert torch.allclose(got, want)
    assert torch.allclose(MeanPooling()(x)[0], x.mean(dim=-2))
    empty, weights = MeanPooling()(x, torch.zeros_like(mask))
    assert not empty.any() and not weights.any()  # and NaN would be any


def test_the_order_of_words_and_sentences_does_not_matter():
    x, mask = padded(document(3, 5, 1))
    model, turn = drawn(), torch.tensor([2, 0, 1])
    assert torch.allclose(model(x, mask).output, model(x[:, turn], mask[:, turn]).output)
    back = model(x.flip(2), mask.flip(2))
    assert torch.allclose(model(x, mask).output, back.output)


def test_what_does_not_fit_is_named():
    level, model = LearnedQuery(D), drawn().float()
    refuses(ValueError, r"x must be \(..., k, 4\)", level, torch.zeros(3, 5))
    refuses(TypeError, "x must be floating point", level, torch.zeros(3, D, dtype=torch.long))
    refuses(TypeError, "mask must be a boolean", level, torch.zeros(3, D), torch.ones(3))
    refuses(ValueError, r"mask must be \(3,\)", level, torch.zeros(3, D), torch.ones(2) > 0)
    refuses(ValueError, r"x must be \(b, s, w, d\)", model, torch.zeros(3, 2, D))
    refuses(ValueError, "hidden must be at least 1", LearnedQuery, D, 0)
    assert ab.ReadDocument._fields == ("output", "words", "sentences", "vectors")
