"""Scores pair by pair against their formulas, and what follows when they are normalised."""

import copy
import math
from functools import partial
from itertools import product

import pytest
import torch
from attnbook_testing.strategies import DTYPES, cases, tolerance
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

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
    d = case.keys.shape[-1] + 2
    keys = torch.cat((case.keys, case.keys[..., :1].cos(), case.keys[..., :1].sin()), dim=-1)
    general = ab.GeneralScore(case.queries.shape[-1], d).double()
    additive = ab.AdditiveScore(case.queries.shape[-1], d, hidden).double()
    concat = ab.ConcatScore(case.queries.shape[-1], d, hidden).double()
    W = general.W.weight
    torch.testing.assert_close(
        general(case.queries, keys), pairwise(lambda q, k: q @ W @ k, case.queries, keys)
    )
    W_q, W_k, w = additive.W_q.weight, additive.W_k.weight, additive.w.weight[0]
    torch.testing.assert_close(
        additive(case.queries, keys),
        pairwise(lambda q, k: w @ (W_q @ q + W_k @ k).tanh(), case.queries, keys),
    )
    W, v = concat.W.weight, concat.v.weight[0]
    torch.testing.assert_close(
        concat(case.queries, keys),
        pairwise(lambda q, k: v @ (W @ torch.cat((q, k))).tanh(), case.queries, keys),
    )


@given(case=cases())
def test_concat_is_additive_with_split_weights(case):
    d = case.queries.shape[-1]
    concat, additive = ab.ConcatScore(d, d, 5).double(), ab.AdditiveScore(d, d, 5).double()
    with torch.no_grad():
        additive.W_q.weight.copy_(concat.W.weight[:, :d])
        additive.W_k.weight.copy_(concat.W.weight[:, d:])
        additive.w.weight.copy_(concat.v.weight)
    torch.testing.assert_close(
        concat(case.queries, case.keys), additive(case.queries, case.keys), atol=1e-12, rtol=0
    )


@given(case=cases(axes=(3, 4)))
def test_keys_projected_once_serve_every_query(case):
    d = case.keys.shape[-1]
    score = ab.AdditiveScore(d, d, 5).double()
    projected = score.project_keys(case.keys)
    one_by_one = [
        score.from_projected(case.queries[..., i : i + 1, :], projected)
        for i in range(case.queries.shape[-2])
    ]
    whole = score(case.queries, case.keys)
    got = torch.cat(one_by_one, dim=-2) if one_by_one else whole
    torch.testing.assert_close(got, whole, atol=1e-14, rtol=0)


@pytest.mark.parametrize("few", [1, 2, 3, 7])
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


@given(case=cases(axes=(3,), least=1), width=st.floats(0.5, 3.0))
def test_gaussian_weights_are_dot_weights_when_keys_have_equal_norm(case, width):
    keys = 2 * case.keys / case.keys.norm(dim=-1, keepdim=True)
    near = ab.masked_softmax(ab.gaussian(case.queries, keys, width=width))
    by_dot = ab.masked_softmax(ab.dot(case.queries, keys) / width**2)
    torch.testing.assert_close(near, by_dot, atol=1e-12, rtol=0)


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
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_no_key_in_range_is_no_weight(kernel, dtype):
    queries = torch.tensor([[0.0], [100.0]], dtype=dtype).requires_grad_()
    keys = torch.tensor([[0.25], [5.0]], dtype=dtype).requires_grad_()
    output, weights = ab.attention(queries, keys, torch.ones(2, 3, dtype=dtype), score=kernel)
    assert weights.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert output.tolist() == [[1.0] * 3, [0.0] * 3]
    output.sum().backward()
    assert queries.grad.isfinite().all() and keys.grad.isfinite().all()


@every_kernel
def test_at_the_border_of_a_kernel(kernel):
    """At a distance of exactly the width the boxcar still holds; the gradient stays finite."""
    queries = torch.tensor([[0.0]], dtype=torch.float64, requires_grad=True)
    keys = torch.tensor([[1.0], [0.5]], dtype=torch.float64, requires_grad=True)
    scores = kernel(queries, keys)
    assert scores[0].tolist() == pytest.approx([log(KERNELS[kernel](u)) for u in (1.0, 0.5)])
    (ab.masked_softmax(scores) * torch.tensor([1.0, 2.0])).sum().backward()
    assert queries.grad.isfinite().all() and keys.grad.isfinite().all()


@every_kernel
def test_where_query_and_key_coincide_the_gradient_is_finite(kernel):
    x = torch.tensor([[0.0, 0.0], [0.3, 0.4]], dtype=torch.float64).requires_grad_()
    scores = kernel(x, x)
    assert scores.diagonal().eq(0).all()
    scores.square().sum().backward()
    assert x.grad.isfinite().all()
    assert x.grad.abs().sum() > 0 or kernel is ab.boxcar


@every_kernel
def test_a_width_may_be_learned(kernel):
    queries, keys = normal(3, 2), normal(4, 2, seed=1)
    width = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    assert torch.equal(kernel(queries, keys, width=width), kernel(queries, keys, width=3.0))
    if kernel is not ab.boxcar:  # flat inside its support
        torch.autograd.gradcheck(lambda w: kernel(queries, keys, width=w).exp(), (width,))


@every_kernel
@pytest.mark.parametrize("width", [0, -1.0, float("nan")])
def test_a_width_must_be_positive(kernel, width):
    with pytest.raises(ValueError, match=r"width must be positive, got"):
        kernel(normal(2, 2), normal(2, 2), width=width)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("score", FUNCTIONS, ids=name)
def test_scores_keep_shape_and_dtype(score, dtype):
    queries, keys = normal(2, 3, 4, 5).to(dtype), normal(2, 3, 6, 5, seed=1).to(dtype)
    scores = score(queries, keys)
    assert scores.shape == (2, 3, 4, 6) and scores.dtype == dtype
    wide = score(queries.double(), keys.double())
    inside = wide.isfinite() & (wide > -5)  # near the end of its range a logarithm is steep
    torch.testing.assert_close(
        scores[inside], wide[inside].to(dtype), atol=60 * tolerance(dtype, 1), rtol=0
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cosine_of_a_zero_vector_is_zero(dtype):
    queries = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=dtype, requires_grad=True)
    scores = ab.cosine(queries, torch.tensor([[6.0, 8.0], [0.0, 0.0]], dtype=dtype))
    torch.testing.assert_close(scores, torch.tensor([[0, 0], [1, 0]], dtype=dtype))
    scores.sum().backward()
    assert queries.grad.isfinite().all()


def test_scaled_dot_holds_the_variance_where_dot_does_not():
    """Products of unit normals have variance d; 64 x 64 pairs fix it to about a tenth."""
    for d in (4, 64, 1024):
        queries, keys = normal(64, d), normal(64, d, seed=1)
        assert ab.scaled_dot(queries, keys).var().item() == pytest.approx(1.0, abs=0.25)
        assert ab.dot(queries, keys).var().item() == pytest.approx(d, rel=0.25)


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
    assert torch.autograd.gradgradcheck(score, (queries, keys))


@every_module
@pytest.mark.parametrize("shape", [(0, 5), (2, 0), (2, 5)])
def test_module_scores_of_empty_inputs(make, shape):
    b, q = shape
    assert make(3, 4)(torch.ones(b, q, 3), torch.ones(b, 0, 4)).shape == (b, q, 0)


@every_module
def test_no_bias_and_initialised_as_linear_layers(make):
    assert all(p.dim() == 2 for p in make(3, 4).parameters())
    assert isinstance(make(3, 4), nn.Module)


@pytest.mark.parametrize("score", FUNCTIONS, ids=name)
@pytest.mark.parametrize(
    ("queries", "keys", "error", "said"),
    [
        (torch.ones(2, 3), torch.ones(1, 2, 3), ValueError, r"same rank.*\(2, 3\) and \(1, 2, 3\)"),
        (torch.ones(3), torch.ones(3), ValueError, r"at least 2.*\(3,\) and \(3,\)"),
        (torch.ones(2, 4, 3), torch.ones(1, 4, 3), ValueError, r"equal batch axes.*\(1, 4, 3\)"),
        (torch.ones(2, 3).long(), torch.ones(2, 3), TypeError, r"queries .*torch\.int64"),
        (torch.ones(2, 3), [[1.0]], TypeError, r"keys must be a torch\.Tensor, got list"),
        (torch.ones(2, 3), torch.ones(2, 3).double(), TypeError, r"keys .*float32, got .*float64"),
    ],
    ids=["rank", "vectors", "batch", "integer", "list", "dtype"],
)
def test_scores_refuse(score, queries, keys, error, said):
    with pytest.raises(error, match=said):
        score(queries, keys)


@pytest.mark.parametrize("score", [f for f in FUNCTIONS if f is not ab.constant], ids=name)
def test_unequal_features_are_refused_with_the_way_out(score):
    with pytest.raises(ValueError, match=r"same number of features.*5 and 1;.*AdditiveScore"):
        score(torch.ones(2, 5), torch.ones(2, 1))  # 1 would broadcast


@every_module
def test_modules_refuse_wrong_sizes(make):
    with pytest.raises(ValueError, match=r"queries must have 3 features, got shape \(2, 4\)"):
        make(3, 4)(torch.ones(2, 4), torch.ones(2, 4))
    with pytest.raises(ValueError, match=r"keys must have 4 features, got shape \(2, 3\)"):
        make(3, 4)(torch.ones(2, 3), torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"query_size must be at least 1, got 0"):
        make(0, 4)
    with pytest.raises(TypeError, match=r"key_size must be an int, got float"):
        make(3, 4.0)
