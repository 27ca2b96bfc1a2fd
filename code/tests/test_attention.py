"""attention: the four moves, the laws of the mask on every path, and torch's transforms."""

import copy
import shutil
from functools import partial
from unittest import mock

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.strategies import DTYPES, cases, tolerance
from hypothesis import given
from hypothesis import strategies as st
from torch.func import vmap
from torch.nn import functional as F

import attnbook as ab

D, HIDDEN = 4, 6
SCORES = {
    "scaled_dot": lambda: ab.scaled_dot,
    "cosine": lambda: ab.cosine,
    "gaussian": lambda: partial(ab.gaussian, width=1.5),
    "boxcar": lambda: partial(ab.boxcar, width=4.0),
    "triangular": lambda: partial(ab.triangular, width=6.0),
    "additive": lambda: ab.AdditiveScore(D, D, HIDDEN),
}


def plain_softmax(scores, mask):
    """The same normaliser under another name, so that no quick path is taken."""
    return ab.masked_softmax(scores, mask)


PATHS = {  # score, mask, normalise, pool; the scores written over; torch's kernel
    "plain": {"normalize": plain_softmax},
    "kept": {},
    "fused": {"need_weights": False},
}
every_path = pytest.mark.parametrize(
    "path", [pytest.param(p, id=name) for name, p in PATHS.items()]
)


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
    gradients = torch.autograd.grad(loss, [*leaves, *parameters], materialize_grads=True)
    return [output.detach(), *gradients]


def padded_mask(b, q, k):
    """Causal, the last two keys padding, and the first sequence's first query idle."""
    mask = ab.causal_mask(q, k) & ab.length_mask([k - 2] * b, k)
    mask = mask.clone()
    mask[0, 0] = False
    return mask


# equality with independent references


@every_path
@given(case=cases(least=0))
def test_equals_a_slow_loop(path, case):
    output, weights = ab.attention(case.queries, case.keys, case.values, mask=case.mask, **path)
    scores = references.scaled_dot(case.queries, case.keys)
    wanted = references.weights(scores, case.mask)
    torch.testing.assert_close(output, references.pool(wanted, case.values), atol=1e-12, rtol=0)
    if path.get("need_weights", True):
        torch.testing.assert_close(weights, wanted, atol=1e-12, rtol=0)
    else:
        assert weights is None


@given(case=cases(least=1), dtype=st.sampled_from(DTYPES))
def test_all_paths_agree_forward_and_backward_in_every_dtype(case, dtype):
    case = case.to(dtype)
    tensors = [case.queries, case.keys, case.values]
    plain, *others = (with_gradients(tensors, mask=case.mask, **path) for path in PATHS.values())
    for other in others:
        for one, two in zip(plain, other, strict=True):
            assert one.shape == two.shape and one.dtype == two.dtype
            torch.testing.assert_close(one, two, atol=tolerance(dtype, 60), rtol=tolerance(dtype))


@given(case=cases(masked=False, least=1))
def test_constant_scores_give_the_mean(case):
    output, _ = ab.attention(case.queries, case.keys, case.values, score=ab.constant)
    mean = case.values.mean(dim=-2, keepdim=True).expand_as(output)
    torch.testing.assert_close(output, mean, atol=1e-14, rtol=0)


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


@pytest.mark.parametrize("normalize", [ab.masked_softmax, ab.sparsemax])
def test_weights_that_are_not_needed_are_none(normalize):
    for make in SCORES.values():
        score = make()
        score = score.double() if isinstance(score, torch.nn.Module) else score
        options = {"score": score, "normalize": normalize, "mask": padded_mask(2, 3, 5)}
        output, weights = ab.attention(*inputs(2), **options, need_weights=False)
        assert weights is None
        wanted, _ = ab.attention(*inputs(2), **options)
        torch.testing.assert_close(output, wanted, atol=1e-12, rtol=0)


def test_scores_that_someone_else_holds_are_not_written_over():
    tensors = inputs(2)
    held = ab.dot(*tensors[:2])
    before = held.clone()
    ab.attention(*tensors, score=lambda q, k: held, mask=padded_mask(2, 3, 5))
    assert torch.equal(held, before)


# the laws of the mask


@every_path
def test_a_query_that_may_attend_to_nothing_gets_zeros(path):
    for batch in ((), (2,), (2, 3)):
        tensors = inputs(*batch)
        for mask in (torch.zeros(3, 5, dtype=torch.bool), torch.zeros(1, 1, dtype=torch.bool)):
            assert all(r.eq(0).all() for r in with_gradients(tensors, mask=mask, **path))
        mask = torch.ones(3, 5, dtype=torch.bool)
        mask[1] = False
        for rows in (mask, mask[:, :1]):
            output, d_queries, *_ = with_gradients(tensors, mask=rows, **path)
            assert output[..., 1, :].eq(0).all() and d_queries[..., 1, :].eq(0).all()
            assert output[..., [0, 2], :].ne(0).all() and d_queries[..., [0, 2], :].ne(0).all()
            weights = ab.attention(*tensors, mask=rows, **path)[1]
            assert weights is None or weights[..., 1, :].eq(0).all()


@every_path
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("name", SCORES)
def test_padding_reaches_no_output_and_no_gradient(path, dtype, name):
    torch.manual_seed(0)
    score, parameters = SCORES[name](), ()
    if isinstance(score, torch.nn.Module):
        parameters = tuple(score.to(dtype).parameters())
    clean, mask = inputs(2, dtype=dtype), padded_mask(2, 3, 5)
    options = {"score": score, "mask": mask, **path}
    wanted = with_gradients(clean, parameters, **options)
    for junk in (float("nan"), float("inf"), float("-inf"), torch.finfo(dtype).max):
        dirty = [t.clone() for t in clean]
        dirty[0][0, 0] = junk  # a query that may attend to nothing
        dirty[1][:, 3:], dirty[2][:, 3:] = junk, junk  # keys and values of the padding
        got = with_gradients(dirty, parameters, **options)
        for one, other in zip(got, wanted, strict=True):
            assert one.isfinite().all() and torch.equal(one, other)
    output, d_queries, d_keys, d_values, *_ = wanted
    assert output[0, 0].eq(0).all() and d_queries[0, 0].eq(0).all()
    assert d_keys[:, 3:].eq(0).all() and d_values[:, 3:].eq(0).all()
    assert output.ne(0).any() and d_values.ne(0).any()


@every_path
def test_padding_of_one_head_may_be_another_heads_key(path):
    queries, keys, values = inputs(2, 2, q=2, k=3)
    mask = torch.ones(2, 2, 2, 3, dtype=torch.bool)
    mask[:, 0, :, 2] = False
    dirty = keys.clone()
    dirty[:, 0, 2] = float("nan")
    got = with_gradients([queries, dirty, values], mask=mask, **path)
    wanted = with_gradients([queries, keys, values], mask=mask, **path)
    assert all(torch.equal(one, other) for one, other in zip(got, wanted, strict=True))
    assert got[2][:, 1, 2].ne(0).any()  # the other head still uses its third key


def test_scores_at_masked_places_reach_nothing():
    """Places masked for one query only, whose keys others see: the score itself is spoiled."""
    tensors, mask = inputs(2), padded_mask(2, 3, 5)
    wanted = with_gradients(tensors, mask=mask, normalize=plain_softmax)
    for junk in (float("nan"), float("inf"), float("-inf"), 3e38, -3e38):

        def spoiled(queries, keys, junk=junk):
            return ab.scaled_dot(queries, keys).masked_fill(~mask, junk)

        got = with_gradients(tensors, score=spoiled, mask=mask)
        assert all(torch.equal(one, other) for one, other in zip(got, wanted, strict=True))


@every_path
def test_scores_of_any_size_are_masked_and_low_ones_keep_all_the_weight(path):
    for dtype in DTYPES:
        big = 30.0 if dtype == torch.float16 else 3e4  # a stand-in such as -1e6 would lose to these
        queries = torch.full((1, 1, D), big, dtype=dtype)
        keys = torch.full((1, 4, D), -big, dtype=dtype)
        keys[0, 2:] = big
        values = torch.tensor([[[1.0], [3.0], [100.0], [100.0]]], dtype=dtype)
        output, _ = ab.attention(queries, keys, values, mask=ab.length_mask([2], 4), **path)
        assert output.item() == 2.0


@every_path
def test_three_axes_are_batches_and_never_heads(path):
    n = 3
    tensors = inputs(n, n)
    output, _ = ab.attention(*tensors, mask=ab.length_mask([0, 1, 5], 5), **path)
    assert output[0].eq(0).all()
    torch.testing.assert_close(output[1], tensors[2][1, :, :1].expand_as(output[1]))
    torch.testing.assert_close(output[2], F.scaled_dot_product_attention(*(t[2] for t in tensors)))


# arguments of every kind


@every_path
def test_no_argument_is_changed(path):
    tensors, mask = inputs(2), padded_mask(2, 3, 5)
    tensors[1][:, 3:] = float("nan")
    leaves = [leaf.requires_grad_() for leaf in tensors]
    before, versions = zip(
        *((t.detach().clone(), t._version) for t in (*leaves, mask)), strict=True
    )
    output, _ = ab.attention(*leaves, mask=mask, **path)
    output.sum().backward()
    output.detach().fill_(7.0)
    for now, then, version in zip((*leaves, mask), before, versions, strict=True):
        torch.testing.assert_close(now.detach(), then, atol=0, rtol=0, equal_nan=True)
        assert now._version == version and now.is_leaf


@every_path
def test_non_contiguous_and_expanded_inputs(path):
    tensors, mask = inputs(2, 3), padded_mask(2, 3, 5)
    wanted = ab.attention(*tensors, mask=mask, **path)[0]
    strided = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in tensors]
    assert not any(t.is_contiguous() for t in strided)
    got = ab.attention(*strided, mask=mask.mT.contiguous().mT, **path)[0]
    torch.testing.assert_close(got, wanted, atol=1e-14, rtol=0)
    leaves = [t[:1].clone().requires_grad_() for t in tensors]
    grown = [t.expand(4, 3, *t.shape[2:]) for t in leaves]
    output = ab.attention(*grown, mask=mask[:1].expand(4, 3, 5), **path)[0]
    torch.testing.assert_close(output, wanted[:1].expand_as(output), atol=1e-14, rtol=0)
    output.sum().backward()
    assert all(t.grad.isfinite().all() for t in leaves)


@every_path
def test_empty_inputs(path):
    for batch, q, k, d_v in [
        ((0,), 3, 5, 2),
        ((2, 0), 3, 5, 2),
        ((2,), 0, 5, 2),
        ((2,), 3, 0, 2),
        ((), 3, 0, 2),
        ((2,), 3, 5, 0),
    ]:
        tensors = inputs(*batch, q=q, k=k, d_v=d_v)
        for mask in (None, torch.ones(q, k, dtype=torch.bool)):
            results = with_gradients(tensors, mask=mask, **path)
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


@every_path
def test_dropout_zeroes_weights_and_scales_the_rest_and_none_is_random(path):
    queries, keys, _ = inputs(2, 2, q=40, k=50)
    eye = torch.eye(50, dtype=torch.float64).expand(2, 2, 50, 50)  # outputs are the used weights
    mask = padded_mask(2, 40, 50)
    state = torch.get_rng_state()
    _, weights = ab.attention(queries, keys, eye, mask=mask)
    ab.attention(queries, keys, eye, mask=mask, **path)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(0)
    used, _ = ab.attention(queries, keys, eye, mask=mask, dropout=0.25, **path)
    kept = used != 0
    torch.testing.assert_close(used[kept], weights[kept] / 0.75)
    n = int((weights > 0).sum())
    bound = (torch.log(torch.tensor(2 / 1e-9)) / (2 * n)) ** 0.5  # Hoeffding
    assert abs(kept.sum() / n - 0.75) < bound < 0.06
    assert used[0, :, 0].eq(0).all()


# derivatives and transforms


@pytest.mark.parametrize("name", [*SCORES, "fused"])
def test_gradients_of_both_orders(name):
    torch.manual_seed(0)
    fused = name == "fused"
    score = ab.scaled_dot if fused else SCORES[name]()
    if isinstance(score, torch.nn.Module):
        score = score.double().requires_grad_(False)
    tensors = [t.requires_grad_() for t in inputs(2, q=2, k=4, d_v=2)]
    for mask in (None, padded_mask(2, 2, 4)):

        def results(*tensors, mask=mask):
            both = ab.attention(*tensors, score=score, mask=mask, need_weights=not fused)
            return both[0] if fused else both

        assert torch.autograd.gradcheck(results, tensors)
        assert fused or torch.autograd.gradgradcheck(results, tensors)


@every_path
def test_vmap_equals_a_loop(path):
    tensors, masks = inputs(3, 2), padded_mask(3, 3, 5)[:, None].expand(3, 2, 3, 5)

    def output(queries, keys, values, mask=None):
        return ab.attention(queries, keys, values, mask=mask, **path)[0]

    close = partial(torch.testing.assert_close, atol=1e-14, rtol=0)
    examples = list(zip(*tensors, masks, strict=True))
    close(vmap(output)(*tensors, masks), torch.stack([output(*e) for e in examples]))
    close(vmap(vmap(output))(*tensors), output(*tensors))
    one = [t[0] for t in tensors]  # the same tensors under several masks
    wanted = torch.stack([output(*one, m) for m in masks])
    with torch.no_grad():
        close(vmap(output, in_dims=(None, None, None, 0))(*one, masks), wanted)

    def loss(*arguments):
        return output(*arguments).square().sum()

    gradients = vmap(torch.func.grad(loss, argnums=(0, 1, 2)))(*tensors, masks)
    leaves = [t.clone().requires_grad_() for t in tensors]
    output(*leaves, masks).square().sum().backward()
    for gradient, leaf in zip(gradients, leaves, strict=True):
        close(gradient, leaf.grad, atol=1e-13)


def compiles(path, backend, dynamic=None, sizes=(5, 7)):
    """Compare compiled with eager, outputs and gradients, with junk in the padding."""
    torch.compiler.reset()

    def call(*arguments):
        return ab.attention(*arguments[:3], mask=arguments[3], **path)

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
            results[-1] += [] if weights is None else [weights]
        for one, other in zip(*results, strict=True):
            torch.testing.assert_close(one, other, atol=1e-13, rtol=0)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", ["kept", "fused"])
def test_compiles_as_one_graph(name, dynamic):
    compiles(PATHS[name], "aot_eager", dynamic)


@pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))),
    reason="torch.compile's default backend needs a C++ compiler: install g++ or clang",
)
def test_compiles_to_machine_code():
    for name in ("kept", "fused"):
        compiles(PATHS[name], "inductor", sizes=[5])


def test_deepcopy_after_a_forward_in_training():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.score = ab.AdditiveScore(D, D, HIDDEN)

        def forward(self, *tensors, mask):
            return ab.attention(*tensors, score=self.score, mask=mask)

    layer = Layer().double().train()
    tensors, mask = [t.requires_grad_() for t in inputs(2)], padded_mask(2, 3, 5)
    layer(*tensors, mask=mask)[0].sum().backward()
    twin = copy.deepcopy(layer)
    assert all(map(torch.equal, twin(*tensors, mask=mask), layer(*tensors, mask=mask)))


# refusals


def allow(*shape):
    return torch.ones(shape, dtype=torch.bool)


REFUSED = [  # shapes of queries, keys, values
    ((4,), (5, 4), (5, 3), {}, r"queries must be .* got shape \(4,\)"),
    ((1, 1, 1, 3, 4), (1, 1, 1, 5, 4), (1, 1, 1, 5, 3), {}, r"queries must be "),
    ((2, 3, 4), (1, 5, 4), (1, 5, 3), {}, r"keys must .*\(2,\).*\(1, 5, 4\)"),
    ((3, 4), (1, 5, 4), (1, 5, 3), {}, r"keys must .* got shape \(1, 5, 4\)"),
    ((2, 3, 4), (2, 5, 4), (2, 6, 3), {}, r"values must be \(2, 5, 'd_v'\).*\(2, 6, 3\)"),
    ((2, 3, 4), (2, 5, 4), (5, 3), {}, r"values must be .* got shape \(5, 3\)"),
    ((2, 3, 4), (2, 5, 1), (2, 5, 3), {}, r"number of features.*4 and 1"),
    ((3, 4), (5, 4), (5, 3), {"dropout": 1.0}, r"dropout must .* got 1\.0"),
    ((3, 4), (5, 4), (5, 3), {"dropout": -0.1}, r"dropout must .* got -0\.1"),
    ((3, 4), (5, 4), (5, 3), {"dropout": float("nan")}, r"dropout must .* got nan"),
    ((3, 4), (5, 4), (5, 3), {"mask": allow(5)}, r"mask must be \(q, k\)"),
    ((3, 4), (5, 4), (5, 3), {"mask": allow(1, 3, 5)}, r"no deeper"),
    ((3, 4), (5, 4), (5, 3), {"mask": allow(5, 3)}, r"does not fit"),
    ((2, 6, 3, 4), (2, 6, 5, 4), (2, 6, 5, 3), {"mask": allow(6, 3, 5)}, r"does not fit"),
]


@every_path
def test_wrong_arguments_are_refused_by_name(path):
    for *shapes, options, said in REFUSED:
        with pytest.raises(ValueError, match=said):
            ab.attention(*(torch.ones(shape) for shape in shapes), **options, **path)
    with pytest.raises(TypeError, match="mask must be boolean"):
        ab.attention(*inputs(2), mask=torch.ones(3, 5), **path)
    tensors = dict(zip(("queries", "keys", "values"), inputs(2), strict=True))
    for name, tensor in tensors.items():
        other = "keys" if name == "queries" else name
        for wrong, said in (
            (tensor.long(), rf"^{name} must be .*floating point, got torch.int64"),
            ([1.0], rf"^{name} must be .*got list"),
            (tensor.float(), rf"^{other} must have the dtype of queries, torch\.float"),
        ):
            with pytest.raises(TypeError, match=said):
                ab.attention(**{**tensors, name: wrong}, **path)


def test_a_score_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"score must give \(2, 3, 5\).*got \(3, 5\)"):
        ab.attention(*inputs(2), score=lambda q, k: torch.zeros(3, 5, dtype=torch.float64))
