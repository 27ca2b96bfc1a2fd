"""attention: the four moves, the laws of the mask on both paths, and torch's transforms."""

import copy
import shutil
from functools import partial
from unittest import mock

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.strategies import DTYPES, cases, masks_for, tolerance
from hypothesis import given
from torch.func import vmap
from torch.nn import functional as F

import attnbook as ab

D, HIDDEN = 4, 6
PATHS = {"plain": True, "fused": False}  # need_weights
SCORES = {
    "scaled_dot": lambda: ab.scaled_dot,
    "dot": lambda: ab.dot,
    "cosine": lambda: ab.cosine,
    "gaussian": lambda: partial(ab.gaussian, width=1.5),
    "boxcar": lambda: partial(ab.boxcar, width=4.0),
    "epanechnikov": lambda: partial(ab.epanechnikov, width=6.0),
    "triangular": lambda: partial(ab.triangular, width=6.0),
    "general": lambda: ab.GeneralScore(D, D),
    "additive": lambda: ab.AdditiveScore(D, D, HIDDEN),
    "concat": lambda: ab.ConcatScore(D, D, HIDDEN),
}
both_paths = pytest.mark.parametrize(
    "need_weights", [pytest.param(need, id=name) for name, need in PATHS.items()]
)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def inputs(*batch, q=3, k=5, d=D, d_v=3, dtype=torch.float64, seed=0):
    """Queries, keys and values of unit normals."""
    random = torch.Generator().manual_seed(seed)
    shapes = ((*batch, q, d), (*batch, k, d), (*batch, k, d_v))
    return [torch.randn(s, generator=random, dtype=torch.float64).to(dtype) for s in shapes]


def with_gradients(tensors, parameters=(), seed=1, **options):
    """Output, and gradients of a random linear function of it, as a list."""
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    output, _ = ab.attention(*leaves, **options)
    upstream = torch.randn(output.shape, generator=torch.Generator().manual_seed(seed))
    loss = (output.double() * upstream).sum()
    wanted = [*leaves, *parameters]
    gradients = torch.autograd.grad(loss, wanted, materialize_grads=True)
    return [output.detach(), *gradients]


def padded_mask(b, q, k):
    """Causal, the last two keys padding, and the first sequence's first query idle."""
    mask = ab.causal_mask(q, k) & ab.length_mask([k - 2] * b, k)
    mask = mask.clone()
    mask[0, 0] = False
    return mask


# equality with independent references


@both_paths
@given(case=cases(least=0))
def test_equals_a_slow_loop(need_weights, case):
    output, weights = ab.attention(
        case.queries, case.keys, case.values, mask=case.mask, need_weights=need_weights
    )
    scores = references.scaled_dot(case.queries, case.keys)
    wanted = references.weights(scores, case.mask)
    torch.testing.assert_close(output, references.pool(wanted, case.values), atol=1e-12, rtol=0)
    if need_weights:
        torch.testing.assert_close(weights, wanted, atol=1e-12, rtol=0)
    else:
        assert weights is None


@both_paths
@every_dtype
@given(case=cases(axes=(4,), least=1))
def test_equals_torch_where_something_is_allowed(need_weights, dtype, case):
    case = case.to(dtype)
    mask = case.mask
    if mask is not None:
        mask = mask[:, None] if mask.dim() == 3 else mask
        mask = mask.expand(case.scores.shape).clone()
        mask[..., 0] = True
    output, _ = ab.attention(
        case.queries, case.keys, case.values, mask=mask, need_weights=need_weights
    )
    wanted = F.scaled_dot_product_attention(
        case.queries.double(), case.keys.double(), case.values.double(), attn_mask=mask
    )
    torch.testing.assert_close(output, wanted.to(dtype), atol=tolerance(dtype, 30), rtol=0)


@given(case=cases(masked=False, least=1))
def test_constant_scores_give_the_mean(case):
    output, _ = ab.attention(case.queries, case.keys, case.values, score=ab.constant)
    mean = case.values.mean(dim=-2, keepdim=True).expand_as(output)
    torch.testing.assert_close(output, mean, atol=1e-14, rtol=0)


# the fused path


@every_dtype
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)
def test_fused_equals_plain_forward_and_gradient(batch, dtype):
    tensors = inputs(*batch, dtype=dtype)
    shape = (*batch, 3, 5)
    for density in (0.5, 0.0):
        masks = masks_for(shape, torch.Generator().manual_seed(0), density)
        for mask in [None, *masks, *([padded_mask(2, 3, 5)] if batch else [])]:
            plain = with_gradients(tensors, mask=mask)
            fused = with_gradients(tensors, mask=mask, need_weights=False)
            for one, other in zip(plain, fused, strict=True):
                assert one.shape == other.shape and one.dtype == other.dtype
                torch.testing.assert_close(one, other, atol=tolerance(dtype, 24), rtol=0)


def test_the_fused_kernel_runs_when_and_only_when_it_may():
    tensors = inputs(2)
    with mock.patch.object(
        F, "scaled_dot_product_attention", wraps=F.scaled_dot_product_attention
    ) as kernel:
        ab.attention(*tensors)
        ab.attention(*tensors, score=ab.dot, need_weights=False)
        ab.attention(*tensors, normalize=ab.sparsemax, need_weights=False)
        assert kernel.call_count == 0
        ab.attention(*tensors, need_weights=False)
        ab.attention(*tensors, mask=padded_mask(2, 3, 5), need_weights=False)
        assert kernel.call_count == 2
    # kernels differ on a row with nothing allowed (zeros, NaN, a mean): none may be given one
    assert kernel.call_args.kwargs["attn_mask"].any(dim=-1).all()


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("normalize", [ab.masked_softmax, ab.sparsemax, ab.entmax15])
def test_weights_that_are_not_needed_are_none(score, normalize):
    tensors, score = inputs(2), SCORES[score]()
    options = {"score": score, "normalize": normalize, "mask": padded_mask(2, 3, 5)}
    if isinstance(score, torch.nn.Module):
        score.double()
    output, weights = ab.attention(*tensors, **options, need_weights=False)
    assert weights is None
    torch.testing.assert_close(output, ab.attention(*tensors, **options)[0], atol=1e-12, rtol=0)


# the laws of the mask


@both_paths
@every_dtype
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)
def test_a_query_that_may_attend_to_nothing_gets_zeros(need_weights, dtype, batch):
    tensors = inputs(*batch, dtype=dtype)
    for mask in (torch.zeros(3, 5, dtype=torch.bool), torch.zeros(1, 1, dtype=torch.bool)):
        results = with_gradients(tensors, mask=mask, need_weights=need_weights)
        assert all(r.eq(0).all() for r in results)
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    output, d_queries, *_ = with_gradients(tensors, mask=mask, need_weights=need_weights)
    assert output[..., 1, :].eq(0).all() and d_queries[..., 1, :].eq(0).all()
    assert output[..., [0, 2], :].ne(0).all() and d_queries[..., [0, 2], :].ne(0).all()


@both_paths
@every_dtype
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("junk", [float("nan"), float("inf"), float("-inf"), "max"], ids=str)
def test_padding_reaches_no_output_and_no_gradient(need_weights, dtype, score, junk):
    torch.manual_seed(0)
    score = SCORES[score]()
    parameters = ()
    if isinstance(score, torch.nn.Module):
        parameters = tuple(score.to(dtype).parameters())
    junk = torch.finfo(dtype).max if junk == "max" else junk
    clean, mask = inputs(2, dtype=dtype), padded_mask(2, 3, 5)
    dirty = [t.clone() for t in clean]
    dirty[0][0, 0] = junk  # a query that may attend to nothing
    dirty[1][:, 3:], dirty[2][:, 3:] = junk, junk  # keys and values of the padding
    options = {"score": score, "mask": mask, "need_weights": need_weights}
    got = with_gradients(dirty, parameters, **options)
    wanted = with_gradients(clean, parameters, **options)
    for one, other in zip(got, wanted, strict=True):
        assert one.isfinite().all() and torch.equal(one, other)
    output, d_queries, d_keys, d_values, *_ = got
    assert output[0, 0].eq(0).all() and d_queries[0, 0].eq(0).all()
    assert d_keys[:, 3:].eq(0).all() and d_values[:, 3:].eq(0).all()
    assert output.ne(0).any() and d_values.ne(0).any()


@both_paths
def test_padding_of_one_head_may_be_another_heads_key(need_weights):
    queries, keys, values = inputs(2, 2, q=2, k=3)
    mask = torch.ones(2, 2, 2, 3, dtype=torch.bool)
    mask[:, 0, :, 2] = False
    dirty = keys.clone()
    dirty[:, 0, 2] = float("nan")
    options = {"mask": mask, "need_weights": need_weights}
    got, wanted = (
        with_gradients([queries, dirty, values], **options),
        with_gradients([queries, keys, values], **options),
    )
    assert all(torch.equal(one, other) for one, other in zip(got, wanted, strict=True))
    assert got[2][:, 1, 2].ne(0).any()  # the other head still uses its third key


@pytest.mark.parametrize("junk", [float("nan"), float("inf"), float("-inf"), 3e38, -3e38])
def test_scores_at_masked_places_reach_nothing(junk):
    """Places masked for one query only, whose keys others see: the score itself is spoiled."""
    tensors, mask = inputs(2), padded_mask(2, 3, 5)

    def spoiled(queries, keys):
        return ab.scaled_dot(queries, keys).masked_fill(~mask, junk)

    got, wanted = (
        with_gradients(tensors, score=spoiled, mask=mask),
        with_gradients(tensors, mask=mask),
    )
    for one, other in zip(got, wanted, strict=True):
        assert torch.equal(one, other)


@both_paths
@every_dtype
def test_huge_scores_at_masked_places_are_masked(need_weights, dtype):
    """A stand-in such as -1e6 would lose to these."""
    big = 30.0 if dtype == torch.float16 else 3e4
    queries = torch.full((1, 1, D), big, dtype=dtype)
    keys = torch.full((1, 3, D), -big, dtype=dtype)
    keys[0, 1:] = big
    values = torch.tensor([[[1.0], [7.0], [7.0]]], dtype=dtype)
    output, _ = ab.attention(
        queries, keys, values, mask=ab.length_mask([1], 3), need_weights=need_weights
    )
    assert output.item() == 1.0


@both_paths
def test_low_valid_scores_keep_all_the_weight(need_weights):
    queries = torch.full((1, 1, 4), 1e5)
    keys = torch.full((1, 4, 4), -1e4)  # scores of -2e9
    assert ab.scaled_dot(queries, keys).unique().tolist() == [-2e9]
    keys[0, 2:] = 1e4
    values = torch.tensor([[[1.0], [3.0], [100.0], [100.0]]])
    output, _ = ab.attention(
        queries, keys, values, mask=ab.length_mask([2], 4), need_weights=need_weights
    )
    assert output.item() == 2.0


@both_paths
def test_three_axes_are_batches_and_never_heads(need_weights):
    n = 3
    tensors = inputs(n, n)
    mask = ab.length_mask([0, 1, 5], 5)
    output, _ = ab.attention(*tensors, mask=mask, need_weights=need_weights)
    assert output[0].eq(0).all()
    torch.testing.assert_close(output[1], tensors[2][1, :, :1].expand_as(output[1]))
    torch.testing.assert_close(output[2], F.scaled_dot_product_attention(*(t[2] for t in tensors)))


# arguments of every kind


@both_paths
def test_no_argument_is_changed(need_weights):
    tensors, mask = inputs(2), padded_mask(2, 3, 5)
    tensors[1][:, 3:] = float("nan")
    for leaf in tensors:
        leaf.requires_grad_()
    before, versions = [t.detach().clone() for t in (*tensors, mask)], []
    versions = [t._version for t in (*tensors, mask)]
    output, _ = ab.attention(*tensors, mask=mask, need_weights=need_weights)
    output.sum().backward()
    output.detach().fill_(7.0)
    for now, then, version in zip((*tensors, mask), before, versions, strict=True):
        torch.testing.assert_close(now.detach(), then, atol=0, rtol=0, equal_nan=True)
        assert now._version == version and now.is_leaf


@both_paths
def test_non_contiguous_and_expanded_inputs(need_weights):
    tensors, mask = inputs(2, 3), padded_mask(2, 3, 5)
    options = {"need_weights": need_weights}
    wanted = ab.attention(*tensors, mask=mask, **options)[0]
    strided = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in tensors]
    assert not any(t.is_contiguous() for t in strided)
    got = ab.attention(*strided, mask=mask.mT.contiguous().mT, **options)[0]
    torch.testing.assert_close(got, wanted, atol=1e-14, rtol=0)

    leaves = [t[:1].clone().requires_grad_() for t in tensors]
    grown = [t.expand(4, 3, *t.shape[2:]) for t in leaves]
    output = ab.attention(*grown, mask=mask[:1].expand(4, 3, 5), **options)[0]
    single = ab.attention(*(t[:1] for t in tensors), mask=mask[:1], **options)[0]
    torch.testing.assert_close(output, single.expand_as(output), atol=1e-14, rtol=0)
    output.sum().backward()
    assert all(t.grad.isfinite().all() for t in leaves)


@both_paths
@pytest.mark.parametrize(
    ("batch", "q", "k", "d_v"),
    [
        ((0,), 3, 5, 2),
        ((2, 0), 3, 5, 2),
        ((2,), 0, 5, 2),
        ((2,), 3, 0, 2),
        ((), 3, 0, 2),
        ((2,), 3, 5, 0),
    ],
    ids=str,
)
def test_empty_inputs(need_weights, batch, q, k, d_v):
    tensors = inputs(*batch, q=q, k=k, d_v=d_v)
    for mask in (None, torch.ones(q, k, dtype=torch.bool)):
        results = with_gradients(tensors, mask=mask, need_weights=need_weights)
        assert results[0].shape == (*batch, q, d_v)
        assert [r.shape for r in results[1:]] == [t.shape for t in tensors]
        assert all(r.isfinite().all() for r in results)
        assert k > 0 or results[0].eq(0).all()


# dropout


def test_weights_are_returned_before_dropout_and_pooled_after():
    tensors = inputs(2)
    _, clean = ab.attention(*tensors)
    torch.manual_seed(0)
    output, weights = ab.attention(*tensors, dropout=0.5)
    torch.manual_seed(0)
    dropped = F.dropout(clean, 0.5)
    assert torch.equal(weights, clean) and not torch.equal(dropped, clean)
    assert torch.equal(output, dropped @ tensors[2])


@both_paths
def test_dropout_zeroes_weights_and_scales_the_rest(need_weights):
    queries, keys, _ = inputs(2, 2, q=40, k=50)
    eye = torch.eye(50, dtype=torch.float64).expand(2, 2, 50, 50)  # outputs are the used weights
    mask = padded_mask(2, 40, 50)
    _, weights = ab.attention(queries, keys, eye, mask=mask)
    torch.manual_seed(0)
    used, _ = ab.attention(queries, keys, eye, mask=mask, dropout=0.25, need_weights=need_weights)
    kept = used != 0
    torch.testing.assert_close(used[kept], weights[kept] / 0.75)
    n = int((weights > 0).sum())
    bound = (torch.log(torch.tensor(2 / 1e-9)) / (2 * n)) ** 0.5  # Hoeffding
    assert abs(kept.sum() / n - 0.75) < bound < 0.06
    assert used[0, :, 0].eq(0).all()


@both_paths
def test_without_dropout_nothing_is_random(need_weights):
    tensors = inputs(2)
    state = torch.get_rng_state()
    ab.attention(*tensors, need_weights=need_weights)
    assert torch.equal(torch.get_rng_state(), state)


# derivatives and transforms


@both_paths
@pytest.mark.parametrize("masked", [False, True])
def test_gradcheck(need_weights, masked):
    tensors = [t.requires_grad_() for t in inputs(2)]
    mask = padded_mask(2, 3, 5) if masked else None

    def output(*tensors):
        return ab.attention(*tensors, mask=mask, need_weights=need_weights)[0]

    assert torch.autograd.gradcheck(output, tensors)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("masked", [False, True])
def test_gradgradcheck_on_the_plain_path(score, masked):
    torch.manual_seed(0)
    score = SCORES[score]()
    if isinstance(score, torch.nn.Module):
        score = score.double().requires_grad_(False)
    tensors = [t.requires_grad_() for t in inputs(2, q=2, k=4, d_v=2)]
    mask = padded_mask(2, 2, 4) if masked else None

    def both(*tensors):
        return ab.attention(*tensors, score=score, mask=mask)

    assert torch.autograd.gradcheck(both, tensors)
    assert torch.autograd.gradgradcheck(both, tensors)


@both_paths
def test_vmap_equals_a_loop(need_weights):
    tensors, masks = inputs(3, 2), padded_mask(3, 3, 5)[:, None].expand(3, 2, 3, 5)

    def output(queries, keys, values, mask=None):
        return ab.attention(queries, keys, values, mask=mask, need_weights=need_weights)[0]

    close = partial(torch.testing.assert_close, atol=1e-14, rtol=0)
    examples = list(zip(*tensors, masks, strict=True))
    close(vmap(output)(*tensors, masks), torch.stack([output(*e) for e in examples]))
    close(vmap(output)(*tensors), torch.stack([output(*e[:3]) for e in examples]))
    shared = torch.stack([output(*e[:3], masks[0]) for e in examples])
    close(vmap(output, in_dims=(0, 0, 0, None))(*tensors, masks[0]), shared)
    one = [t[0] for t in tensors]  # the same tensors under several masks
    wanted = torch.stack([output(*one, m) for m in masks])
    close(vmap(output, in_dims=(None, None, None, 0))(*one, masks), wanted)
    close(vmap(vmap(output))(*tensors), output(*tensors))

    def loss(*arguments):
        return output(*arguments).square().sum()

    gradients = vmap(torch.func.grad(loss, argnums=(0, 1, 2)))(*tensors, masks)
    leaves = [t.clone().requires_grad_() for t in tensors]
    output(*leaves, masks).square().sum().backward()
    for gradient, leaf in zip(gradients, leaves, strict=True):
        close(gradient, leaf.grad, atol=1e-13)


def compiles(need_weights, backend, dynamic=None, sizes=(5, 7)):
    """Compare compiled with eager, outputs and gradients, with junk in the padding."""
    torch.compiler.reset()

    def call(*arguments):
        return ab.attention(*arguments[:3], mask=arguments[3], need_weights=need_weights)

    compiled = torch.compile(call, fullgraph=True, backend=backend, dynamic=dynamic)
    for k in sizes:
        tensors, mask = inputs(2, 3, k=k), padded_mask(2, 3, k)
        tensors[1][..., k - 2 :, :] = tensors[2][..., k - 2 :, :] = float("nan")
        results = []
        for function in (call, compiled):
            leaves = [t.clone().requires_grad_() for t in tensors]
            output, weights = function(*leaves, mask)
            output.square().sum().backward()
            results.append([output, *(leaf.grad for leaf in leaves)])
            assert (weights is not None) == need_weights
            results[-1] += [weights] if need_weights else []
        for one, other in zip(*results, strict=True):
            torch.testing.assert_close(one, other, atol=1e-13, rtol=0)


@both_paths
@pytest.mark.parametrize("dynamic", [None, True])
def test_compiles_as_one_graph(need_weights, dynamic):
    compiles(need_weights, "aot_eager", dynamic)


@pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))),
    reason="torch.compile's default backend needs a C++ compiler: install g++ or clang",
)
@both_paths
def test_compiles_to_machine_code(need_weights):
    compiles(need_weights, "inductor", sizes=[5])


def test_masks_and_module_scores_compile_with_attention():
    torch.compiler.reset()
    score = ab.AdditiveScore(D, D, HIDDEN).double()

    def call(queries, keys, values):
        mask = ab.causal_mask(queries.shape[-2], keys.shape[-2])
        return ab.attention(queries, keys, values, score=score, mask=mask)[0]

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager", dynamic=True)
    for k in (5, 6):
        tensors = inputs(2, k=k)
        torch.testing.assert_close(compiled(*tensors), call(*tensors), atol=1e-14, rtol=0)


class Layer(torch.nn.Module):
    """A layer as a chapter would write it."""

    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, queries, keys, values, mask):
        dropout = 0.1 if self.training else 0.0
        return ab.attention(queries, keys, values, score=self.score, mask=mask, dropout=dropout)


@pytest.mark.parametrize("score", SCORES)
def test_deepcopy_after_a_forward_in_training(score):
    layer = Layer(SCORES[score]()).double().train()
    tensors, mask = [t.requires_grad_() for t in inputs(2)], padded_mask(2, 3, 5)
    layer(*tensors, mask)[0].sum().backward()
    twin = copy.deepcopy(layer).eval()
    output, weights = twin(*tensors, mask)
    wanted, wanted_weights = layer.eval()(*tensors, mask)
    assert torch.equal(output, wanted) and torch.equal(weights, wanted_weights)


# refusals

B, N = torch.bool, None


@both_paths
@pytest.mark.parametrize(
    ("queries", "keys", "values", "options", "error", "said"),
    [
        ((4,), (5, 4), (5, 3), {}, ValueError, r"queries must be .* got shape \(4,\)"),
        ((1, 1, 1, 3, 4), (1, 1, 1, 5, 4), (1, 1, 1, 5, 3), {}, ValueError, r"queries must be "),
        ((2, 3, 4), (1, 5, 4), (1, 5, 3), {}, ValueError, r"keys must .*\(2,\).*\(1, 5, 4\)"),
        ((3, 4), (1, 5, 4), (1, 5, 3), {}, ValueError, r"keys must .* got shape \(1, 5, 4\)"),
        (
            (2, 3, 4),
            (2, 5, 4),
            (2, 6, 3),
            {},
            ValueError,
            r"values must be \(2, 5, 'd_v'\).*\(2, 6, 3\)",
        ),
        ((2, 3, 4), (2, 5, 4), (1, 5, 3), {}, ValueError, r"values must be .*\(1, 5, 3\)"),
        ((2, 3, 4), (2, 5, 4), (5, 3), {}, ValueError, r"values must be .* got shape \(5, 3\)"),
        ((2, 3, 4), (2, 5, 1), (2, 5, 3), {}, ValueError, r"number of features.*4 and 1"),
        ((3, 4), (5, 4), (5, 3), {"dropout": 1.0}, ValueError, r"dropout must .* got 1\.0"),
        ((3, 4), (5, 4), (5, 3), {"dropout": -0.1}, ValueError, r"dropout must .* got -0\.1"),
        ((3, 4), (5, 4), (5, 3), {"dropout": float("nan")}, ValueError, r"dropout must .* got nan"),
        ((3, 4), (5, 4), (5, 3), {"mask": torch.ones(3, 5)}, TypeError, r"mask must be boolean"),
        (
            (3, 4),
            (5, 4),
            (5, 3),
            {"mask": torch.ones(5, dtype=B)},
            ValueError,
            r"mask must be \(q, k\)",
        ),
        ((3, 4), (5, 4), (5, 3), {"mask": torch.ones(1, 3, 5, dtype=B)}, ValueError, r"no deeper"),
        ((3, 4), (5, 4), (5, 3), {"mask": torch.ones(5, 3, dtype=B)}, ValueError, r"does not fit"),
        (
            (2, 6, 3, 4),
            (2, 6, 5, 4),
            (2, 6, 5, 3),
            {"mask": torch.ones(6, 3, 5, dtype=B)},
            ValueError,
            r"does not fit",
        ),
        (
            (2, 6, 3, 4),
            (2, 6, 5, 4),
            (2, 6, 5, 3),
            {"mask": torch.ones(1, 2, 6, 3, 5, dtype=B)},
            ValueError,
            r"no deeper",
        ),
    ],
)
def test_wrong_arguments_are_refused(need_weights, queries, keys, values, options, error, said):
    tensors = [torch.ones(shape) for shape in (queries, keys, values)]
    with pytest.raises(error, match=said):
        ab.attention(*tensors, **options, need_weights=need_weights)


@both_paths
@pytest.mark.parametrize("name", ["queries", "keys", "values"])
def test_wrong_types_are_refused_by_name(need_weights, name):
    tensors = dict(zip(("queries", "keys", "values"), inputs(2), strict=True))
    for wrong, said in (
        (tensors[name].long(), "floating point, got torch.int64"),
        ([1.0], "got list"),
    ):
        with pytest.raises(TypeError, match=rf"^{name} must be .*{said}"):
            ab.attention(**{**tensors, name: wrong}, need_weights=need_weights)
    other = {**tensors, name: tensors[name].float()}
    culprit = "keys" if name == "queries" else name
    with pytest.raises(
        TypeError, match=rf"^{culprit} must have the dtype of queries, torch\.float"
    ):
        ab.attention(**other, need_weights=need_weights)


def test_a_score_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"score must give \(2, 3, 5\).*got \(3, 5\)"):
        ab.attention(*inputs(2), score=lambda q, k: torch.zeros(3, 5, dtype=torch.float64))
