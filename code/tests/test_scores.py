"""Scores pair by pair against their formulas, and what follows when they are normalised."""

import copy
import math
from functools import partial
from itertools import product

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, cases, tolerance
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab


def pairwise(rule, queries, keys):
    """rule(query, key) for every pair, over any batch axes."""
    batch = math.prod(queries.shape[:-2])
    flat_q = queries.reshape(batch, *queries.shape[-2:])
    flat_k = keys.reshape(batch, *keys.shape[-2:])
    out = flat_q.new_zeros(len(flat_q), flat_q.shape[1], flat_k.shape[1])
    for b, i, j in product(*map(range, out.shape)):
        out[b, i, j] = rule(flat_q[b, i], flat_k[b, j])
    return out.reshape(*queries.shape[:-1], keys.shape[-2])


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def log(x):
    return math.log(x) if x > 0 else -math.inf


def distance(q, k):
    return math.dist(q.tolist(), k.tolist())


WIDTH = 1.7
FORMULAS = {
    ab.constant: lambda q, k: 0.0,
    ab.dot: lambda q, k: math.sumprod(q, k) if hasattr(math, "sumprod") else sum(q * k),
    ab.scaled_dot: lambda q, k: sum(q * k) / math.sqrt(len(q)),
    ab.cosine: lambda q, k: sum(q * k) / (math.hypot(*q) * math.hypot(*k)),
    partial(ab.gaussian, width=WIDTH): lambda q, k: -(distance(q, k) ** 2) / (2 * WIDTH**2),
    partial(ab.boxcar, width=WIDTH): lambda q, k: log(distance(q, k) <= WIDTH),
    partial(ab.epanechnikov, width=WIDTH): lambda q, k: log(1 - (distance(q, k) / WIDTH) ** 2),
    partial(ab.triangular, width=WIDTH): lambda q, k: log(1 - distance(q, k) / WIDTH),
}
# K(u) of u = |q - k| / width, up to a constant factor, from the definition of each kernel
KERNELS = {
    ab.gaussian: lambda u: math.exp(-(u**2) / 2),
    ab.boxcar: lambda u: float(u <= 1),
    ab.epanechnikov: lambda u: max(1 - u**2, 0.0),
    ab.triangular: lambda u: max(1 - u, 0.0),
}
FUNCTIONS = [ab.constant, ab.dot, ab.scaled_dot, ab.cosine, *KERNELS]
MODULES = [
    lambda d_q, d_k: ab.GeneralScore(d_q, d_k),
    lambda d_q, d_k: ab.AdditiveScore(d_q, d_k, 6),
    lambda d_q, d_k: ab.ConcatScore(d_q, d_k, 6),
]
NAMES = ["general", "additive", "concat"]


def name(function):
    return getattr(function, "func", function).__name__


every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=name)
every_module = pytest.mark.parametrize("make", MODULES, ids=NAMES)


@pytest.mark.parametrize("score", FORMULAS, ids=name)
@given(case=cases())
def test_a_score_equals_its_formula(score, case):
    got = score(case.queries, case.keys)
    wanted = pairwise(FORMULAS[score], case.queries, case.keys)
    torch.testing.assert_close(got, wanted, atol=1e-10, rtol=1e-10)


@given(case=cases(), hidden=st.integers(1, 5))
def test_modules_equal_their_formulas(case, hidden):
    keys = torch.cat((case.keys, case.keys[..., :1].cos(), case.keys[..., :1].sin()), dim=-1)
    sizes = case.queries.shape[-1], keys.shape[-1]
    general = ab.GeneralScore(*sizes).double()
    additive = ab.AdditiveScore(*sizes, hidden).double()
    concat = ab.ConcatScore(*sizes, hidden).double()
    W_q, W_k, w = additive.W_q.weight, additive.W_k.weight, additive.w.weight[0]
    for score, rule in (
        (general, lambda q, k: q @ general.W.weight @ k),
        (additive, lambda q, k: w @ (W_q @ q + W_k @ k).tanh()),
        (concat, lambda q, k: concat.v.weight[0] @ (concat.W.weight @ torch.cat((q, k))).tanh()),
    ):
        wanted = pairwise(rule, case.queries, keys)
        torch.testing.assert_close(score(case.queries, keys), wanted)
        projected = score.project_keys(keys)  # once for every query
        for i in range(wanted.shape[-2]):
            one = score.from_projected(case.queries[..., i : i + 1, :], projected)
            torch.testing.assert_close(one, wanted[..., i : i + 1, :])


@pytest.mark.parametrize("few", [1, 3])
def test_additive_scores_are_the_same_in_blocks_of_any_size(few, monkeypatch):
    score = ab.AdditiveScore(3, 4, 5).double()
    queries, keys = normal(2, 7, 3).requires_grad_(), normal(2, 6, 4, seed=1).requires_grad_()
    leaves = [queries, keys, *score.parameters()]

    def with_gradients():
        scores = score(queries, keys)
        return [scores, *torch.autograd.grad(scores.square().sum(), leaves)]

    whole = with_gradients()
    monkeypatch.setattr(ab.scores, "BLOCK", few * 2 * 6 * 5)
    taken = []
    hook = score.w.register_forward_hook(lambda _, inputs, __: taken.append(inputs[0].shape[1]))
    blocks = with_gradients()
    hook.remove()
    assert taken == [few] * (7 // few) + [7 % few] * (7 % few > 0)
    for one, other in zip(blocks, whole, strict=True):
        torch.testing.assert_close(one, other, atol=1e-13, rtol=0)


@every_kernel
@given(case=cases(axes=(3,), masked=False), width=st.floats(0.3, 3.0))
def test_softmax_of_a_log_kernel_is_nadaraya_watson(kernel, case, width):
    K = pairwise(lambda q, k: KERNELS[kernel](distance(q, k) / width), case.queries, case.keys)
    total = K.sum(-1, keepdim=True)
    wanted = K / total.where(total > 0, 1.0)  # no key in range: no weight
    output, weights = ab.attention(
        case.queries, case.keys, case.values, score=partial(kernel, width=width)
    )
    torch.testing.assert_close(weights, wanted, atol=1e-8, rtol=0)
    torch.testing.assert_close(output, wanted @ case.values, atol=1e-7, rtol=0)


@pytest.mark.parametrize("kernel", [ab.boxcar, ab.epanechnikov, ab.triangular], ids=name)
def test_no_key_in_range_is_no_weight(kernel):
    for dtype in DTYPES:
        queries = torch.tensor([[0.0], [100.0]], dtype=dtype).requires_grad_()
        keys = torch.tensor([[0.25], [5.0]], dtype=dtype).requires_grad_()
        output, weights = ab.attention(queries, keys, torch.ones(2, 3, dtype=dtype), score=kernel)
        assert weights.tolist() == [[1.0, 0.0], [0.0, 0.0]]
        assert output.tolist() == [[1.0] * 3, [0.0] * 3]
        output.sum().backward()
        assert queries.grad.isfinite().all() and keys.grad.isfinite().all()


@every_kernel
def test_at_the_border_and_in_the_middle_of_a_kernel(kernel):
    """At a distance of exactly the width the boxcar still holds; the gradient stays finite."""
    queries = torch.tensor([[0.0]], dtype=torch.float64, requires_grad=True)
    keys = torch.tensor([[1.0], [0.5], [0.0]], dtype=torch.float64, requires_grad=True)
    scores = kernel(queries, keys)
    assert scores[0].tolist() == pytest.approx([log(KERNELS[kernel](u)) for u in (1.0, 0.5, 0.0)])
    (ab.masked_softmax(scores) * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert queries.grad.isfinite().all() and keys.grad.isfinite().all()


@every_kernel
def test_a_width_may_be_learned_and_must_be_positive(kernel):
    queries, keys = normal(3, 2), normal(4, 2, seed=1)
    width = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    assert torch.equal(kernel(queries, keys, width=width), kernel(queries, keys, width=3.0))
    if kernel is not ab.boxcar:  # flat inside its support
        torch.autograd.gradcheck(lambda w: kernel(queries, keys, width=w).exp(), (width,))
    for width in (0, -1.0, float("nan")):
        refuses(ValueError, "width must be positive, got", kernel, queries, keys, width=width)


@pytest.mark.parametrize("score", FUNCTIONS, ids=name)
def test_scores_keep_shape_and_dtype(score):
    queries, keys = normal(2, 3, 4, 5), normal(2, 3, 6, 5, seed=1)
    for dtype in DTYPES:
        low = [x.to(dtype) for x in (queries, keys)]
        scores, wide = score(*low), score(*(x.double() for x in low))
        assert scores.shape == (2, 3, 4, 6) and scores.dtype == dtype
        inside = wide.isfinite() & (wide > -5)  # near the end of its range a logarithm is steep
        wanted, slack = wide[inside].to(dtype), 60 * tolerance(dtype, 1)
        torch.testing.assert_close(scores[inside], wanted, atol=slack, rtol=0)


def test_cosine_of_a_zero_vector_is_zero():
    for dtype in DTYPES:
        queries = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=dtype, requires_grad=True)
        scores = ab.cosine(queries, torch.tensor([[6.0, 8.0], [0.0, 0.0]], dtype=dtype))
        torch.testing.assert_close(scores, torch.tensor([[0, 0], [1, 0]], dtype=dtype))
        scores.sum().backward()
        assert queries.grad.isfinite().all()


def test_scaled_dot_stays_in_range_in_half_precision():
    big = torch.full((1, 4096), 16.0, dtype=torch.float16)
    assert ab.dot(big, big).item() == math.inf
    assert ab.scaled_dot(big, big).item() == 16 * 16 * 4096 / 64


@pytest.mark.parametrize("score", [f for f in FUNCTIONS if f is not ab.constant], ids=name)
def test_a_nan_is_not_taken_for_a_distance(score):
    keys = normal(3, 2, seed=1)
    keys[1, 0] = float("nan")
    scores = score(normal(2, 2), keys)
    assert scores[:, 1].isnan().all() and not scores[:, [0, 2]].isnan().any()


@every_module
def test_module_scores_train_and_copy(make):
    score = make(3, 4).double()
    queries, keys = normal(2, 5, 3).requires_grad_(), normal(2, 6, 4, seed=1).requires_grad_()
    before = {key: value.clone() for key, value in score.state_dict().items()}
    held = set(vars(score))
    score.train()(queries, keys).sum().backward()
    twin = copy.deepcopy(score)
    assert set(vars(score)) == held  # nothing of a forward pass is kept
    assert all(torch.equal(before[key], twin.state_dict()[key]) for key in before)
    assert torch.equal(twin(queries, keys), score(queries, keys))
    assert all(p.grad.abs().sum() > 0 for p in score.parameters())
    assert torch.autograd.gradcheck(score, (queries, keys))
    assert score(queries[:0], keys[:0]).shape == (0, 5, 6)
    assert score(queries, keys[:, :0]).shape == (2, 5, 0)


@pytest.mark.parametrize("score", FUNCTIONS, ids=name)
def test_scores_refuse(score):
    ones, vectors = torch.ones(2, 3), torch.ones(3)
    refuses(ValueError, r"same rank.*\(2, 3\) and \(1, 2, 3\)", score, ones, ones[None])
    refuses(ValueError, r"at least 2.*\(3,\) and \(3,\)", score, vectors, vectors)
    deep = torch.ones(2, 4, 3)
    refuses(ValueError, r"equal batch axes.*\(1, 4, 3\)", score, deep, deep[:1])
    refuses(TypeError, r"queries .*torch\.int64", score, ones.long(), ones)
    refuses(TypeError, r"keys must be a torch\.Tensor, got list", score, ones, [[1.0]])
    refuses(TypeError, r"keys .*float32, got .*float64", score, ones, ones.double())
    if score is not ab.constant:  # one feature would broadcast
        said = r"same number of features.*5 and 1;.*AdditiveScore"
        refuses(ValueError, said, score, torch.ones(2, 5), torch.ones(2, 1))


@every_module
def test_modules_refuse_wrong_sizes(make):
    score, three, four = make(3, 4), torch.ones(2, 3), torch.ones(2, 4)
    refuses(ValueError, r"queries must have 3 features, got shape \(2, 4\)", score, four, four)
    refuses(ValueError, r"keys must have 4 features, got shape \(2, 3\)", score, three, three)
    refuses(ValueError, "query_size must be at least 1, got 0", make, 0, 4)
    refuses(TypeError, "key_size must be an int, got float", make, 3, 4.0)
