"""attention: the four moves, the laws of the mask on every path, and torch's transforms."""

import shutil
from functools import partial
from unittest import mock

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, cases, tolerance
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import forward_ad
from torch.func import vmap
from torch.nn import functional as F

import attnbook as ab

D = 4


def plain_softmax(scores, mask):
    """The same normaliser under another name, so that no quick path is taken."""
    return ab.masked_softmax(scores, mask)


PATHS = {  # score, mask, normalise, pool; the scores written over; torch's kernel
    "plain": {"normalize": plain_softmax},
    "kept": {},
    "fused": {"need_weights": False},
}
every_path = pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)


def some_scores(dtype=torch.float64):
    """A score of each kind: dot product, cosine, kernels of each border, learned."""
    torch.manual_seed(0)
    kernels = [partial(ab.gaussian, width=1.5), partial(ab.boxcar, width=4.0)]
    kernels += [partial(ab.triangular, width=6.0)]
    return [ab.scaled_dot, ab.cosine, *kernels, ab.AdditiveScore(D, D, 6).to(dtype)]


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
    mask = (ab.causal_mask(q, k) & ab.length_mask([k - 2] * b, k)).clone()
    mask[0, 0] = False
    return mask


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


@given(case=cases(least=0), dtype=st.sampled_from(DTYPES))
def test_all_paths_agree_forward_and_backward_in_every_dtype(case, dtype):
    case = case.to(dtype)
    tensors = [case.queries, case.keys, case.values]
    plain, *others = (with_gradients(tensors, mask=case.mask, **path) for path in PATHS.values())
    for other in others:
        for one, two in zip(plain, other, strict=True):
            assert one.shape == two.shape and one.dtype == two.dtype
            torch.testing.assert_close(one, two, atol=tolerance(dtype, 60), rtol=tolerance(dtype))


def test_the_fused_kernel_runs_when_and_only_when_it_may():
    tensors, mask = inputs(2), padded_mask(2, 3, 5)
    with mock.patch.object(
        F, "scaled_dot_product_attention", wraps=F.scaled_dot_product_attention
    ) as kernel:
        ab.attention(*tensors)
        for options in ({"score": ab.dot}, {"normalize": ab.sparsemax}):
            output, weights = ab.attention(*tensors, mask=mask, need_weights=False, **options)
            wanted, _ = ab.attention(*tensors, mask=mask, **options)
            assert weights is None and torch.equal(output, wanted)
        assert kernel.call_count == 0
        ab.attention(*tensors, need_weights=False)
        ab.attention(*tensors, mask=mask, need_weights=False)
        assert kernel.call_count == 2 and kernel.call_args.args[0].shape == (2, 1, 3, D)
    # kernels differ on a row with nothing allowed (zeros, NaN, a mean): none may be given one
    assert kernel.call_args.kwargs["attn_mask"].any(dim=-1).all()


def test_scores_that_someone_else_holds_are_not_written_over():
    tensors = inputs(2)
    held = ab.dot(*tensors[:2])
    before = held.clone()
    ab.attention(*tensors, score=lambda q, k: held, mask=padded_mask(2, 3, 5))
    assert torch.equal(held, before)


# the laws of the mask


@every_path
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_padding_reaches_no_output_and_no_gradient(path, dtype):
    clean, mask = inputs(2, dtype=dtype), padded_mask(2, 3, 5)
    for score in some_scores(dtype) if dtype == torch.float64 else [ab.scaled_dot]:
        learned = isinstance(score, torch.nn.Module)
        parameters = tuple(score.parameters()) if learned else ()
        options = {"score": score, "mask": mask, **path}
        wanted = with_gradients(clean, parameters, **options)
        for junk in (float("nan"), float("inf"), torch.finfo(dtype).min):
            dirty = [t.clone() for t in clean]
            dirty[0][0, 0] = junk  # a query that may attend to nothing
            dirty[1][:, 3:], dirty[2][:, 3:] = junk, junk  # keys and values of the padding
            got = with_gradients(dirty, parameters, **options)
            for one, other in zip(got, wanted, strict=True):
                assert one.isfinite().all() and torch.equal(one, other)
        assert all(wanted[at][0, 0].eq(0).all() for at in (0, 1))  # the output, d_queries
        assert all(wanted[at][:, 3:].eq(0).all() for at in (2, 3))  # d_keys, d_values
        assert wanted[0].ne(0).any() and wanted[3].ne(0).any()


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


@every_path
def test_low_scores_keep_all_the_weight(path):
    for dtype in DTYPES:
        big = 30.0 if dtype == torch.float16 else 3e4  # a stand-in such as -1e6 would lose to these
        queries = torch.full((1, 1, D), big, dtype=dtype)
        keys = torch.full((1, 4, D), -big, dtype=dtype)
        keys[0, 2:] = big
        values = torch.tensor([[[1.0], [3.0], [100.0], [100.0]]], dtype=dtype)
        output, _ = ab.attention(queries, keys, values, mask=ab.length_mask([2], 4), **path)
        assert output.item() == 2.0


# arguments of every kind


@every_path
def test_no_argument_is_changed(path):
    tensors, mask = inputs(2), padded_mask(2, 3, 5)
    tensors[1][:, 3:] = float("nan")
    held = [*(leaf.requires_grad_() for leaf in tensors), mask]
    before = [(t.detach().clone(), t._version) for t in held]
    output, _ = ab.attention(*tensors, mask=mask, **path)
    output.sum().backward()
    output.detach().fill_(7.0)
    for now, (then, version) in zip(held, before, strict=True):
        torch.testing.assert_close(now.detach(), then, atol=0, rtol=0, equal_nan=True)
        assert now._version == version and now.is_leaf


@every_path
def test_non_contiguous_and_expanded_inputs(path):
    tensors, mask = inputs(2, 3), padded_mask(2, 3, 5)
    wanted = ab.attention(*tensors, mask=mask, **path)[0]
    strided = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in tensors]
    got = ab.attention(*strided, mask=mask.mT.contiguous().mT, **path)[0]
    torch.testing.assert_close(got, wanted, atol=1e-14, rtol=0)
    leaves = [t[:1].clone().requires_grad_() for t in tensors]
    grown = [t.expand(4, 3, *t.shape[2:]) for t in leaves]
    output = ab.attention(*grown, mask=mask[:1].expand(4, 3, 5), **path)[0]
    torch.testing.assert_close(output, wanted[:1].expand_as(output), atol=1e-14, rtol=0)
    output.sum().backward()
    assert all(t.grad.isfinite().all() for t in leaves)


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


@pytest.mark.parametrize("fused", [False, True])
def test_gradients_of_both_orders(fused):
    tensors = [t.requires_grad_() for t in inputs(1, q=2, k=4, d_v=1)]
    mask = padded_mask(1, 2, 4)
    for score in [ab.scaled_dot] if fused else some_scores():

        def results(*tensors, score=score):
            both = ab.attention(*tensors, score=score, mask=mask, need_weights=not fused)
            return both[0] if fused else both

        assert torch.autograd.gradcheck(results, tensors)
        assert fused or torch.autograd.gradgradcheck(results, tensors)


@every_path
def test_vmap_equals_a_loop(path):
    tensors, masks = inputs(3, 2), padded_mask(3, 3, 5)[:, None].expand(3, 2, 3, 5)
    close = partial(torch.testing.assert_close, atol=1e-13, rtol=0)

    def output(queries, keys, values, mask=None):
        return ab.attention(queries, keys, values, mask=mask, **path)[0]

    def loss(*arguments):
        return output(*arguments).square().sum()

    examples = list(zip(*tensors, masks, strict=True))
    close(vmap(output)(*tensors, masks), torch.stack([output(*e) for e in examples]))
    close(vmap(vmap(output))(*tensors), output(*tensors))
    one = [t[0] for t in tensors]  # the same tensors under several masks
    with torch.no_grad():
        several = vmap(output, in_dims=(None, None, None, 0))(*one, masks)
    close(several, torch.stack([output(*one, m) for m in masks]))
    gradients = vmap(torch.func.grad(loss, argnums=(0, 1, 2)))(*tensors, masks)
    leaves = [t.clone().requires_grad_() for t in tensors]
    close(gradients, torch.autograd.grad(loss(*leaves, masks), leaves))


@every_path
def test_derivatives_taken_forward_are_those_taken_backward(path):
    """torch's fused implementation and our softmax in place have no rule: the plain path."""
    (queries, *rest), mask = inputs(2, 2), padded_mask(2, 3, 5)
    change = torch.randn_like(queries)

    def output(queries):
        return ab.attention(queries, *rest, mask=mask[:, None], **path)[0]

    leaf = queries.clone().requires_grad_()
    into = torch.randn_like(output(queries))
    (gradient,) = torch.autograd.grad(output(leaf), leaf, into)
    found = torch.func.jvp(output, (queries,), (change,))[1]
    torch.testing.assert_close((found * into).sum(), (gradient * change).sum())
    with forward_ad.dual_level():
        dual = output(forward_ad.make_dual(queries, change))
        torch.testing.assert_close(forward_ad.unpack_dual(dual).tangent, found)


@pytest.mark.parametrize(
    ("backend", "sizes", "paths"),
    [("aot_eager", (5, 7), ("kept", "fused")), ("inductor", (5,), ("kept",))],
)
def test_compiles_as_one_graph(backend, sizes, paths):
    """Outputs and gradients equal those of eager, with junk in the padding.

    The default backend, which asks a C++ compiler for half a minute, on the plain path alone.
    """
    if backend == "inductor" and not any(map(shutil.which, ("g++", "clang++", "c++"))):
        pytest.skip("torch.compile's default backend needs a C++ compiler: install g++ or clang")
    for name in paths:
        torch.compiler.reset()

        def call(*arguments, path=PATHS[name]):
            return ab.attention(*arguments[:3], mask=arguments[3], **path)

        compiled = torch.compile(call, fullgraph=True, backend=backend)
        for k in sizes:
            tensors, mask = inputs(2, 3, k=k), padded_mask(2, 3, k)
            tensors[1][..., k - 2 :, :] = tensors[2][..., k - 2 :, :] = float("nan")
            results = []
            for function in (call, compiled):
                leaves = [t.clone().requires_grad_() for t in tensors]
                output, weights = function(*leaves, mask)
                gradients = torch.autograd.grad(output.square().sum(), leaves)
                results.append([output, *gradients, *([] if weights is None else [weights])])
            torch.testing.assert_close(*results, atol=1e-13, rtol=0)


# refusals


REFUSED = [  # shapes of queries, keys, values and, of four, the mask
    ((4,), (5, 4), (5, 3), r"queries must be .* got shape \(4,\)"),
    ((1, 1, 1, 3, 4), (1, 1, 1, 5, 4), (1, 1, 1, 5, 3), r"queries must be "),
    ((2, 3, 4), (1, 5, 4), (1, 5, 3), r"keys must .*\(2,\).*\(1, 5, 4\)"),
    ((3, 4), (1, 5, 4), (1, 5, 3), r"keys must .* got shape \(1, 5, 4\)"),
    ((2, 3, 4), (2, 5, 4), (2, 6, 3), r"values must be \(2, 5, 'd_v'\).*\(2, 6, 3\)"),
    ((2, 3, 4), (2, 5, 1), (2, 5, 3), r"number of features.*4 and 1"),
    ((3, 4), (5, 4), (5, 3), (5,), r"mask must be \(q, k\)"),
    ((3, 4), (5, 4), (5, 3), (1, 3, 5), r"no deeper"),
    ((2, 6, 3, 4), (2, 6, 5, 4), (2, 6, 5, 3), (6, 3, 5), r"does not fit"),
]


@every_path
def test_wrong_arguments_are_refused_by_name(path):
    attend = partial(ab.attention, **path)
    for *shapes, said in REFUSED:
        queries, keys, values, *mask = map(torch.ones, shapes)
        refuses(
            ValueError, said, attend, queries, keys, values, mask=mask[0].bool() if mask else None
        )
    for dropout in (1.0, -0.1, float("nan")):
        refuses(ValueError, rf"dropout must .* got {dropout}", attend, *inputs(2), dropout=dropout)
    refuses(TypeError, "mask must be boolean", attend, *inputs(2), mask=torch.ones(3, 5))
    tensors = dict(zip(("queries", "keys", "values"), inputs(2), strict=True))
    for name, tensor in tensors.items():
        other = "keys" if name == "queries" else name
        for wrong, said in (
            (tensor.long(), rf"^{name} must be .*floating point, got torch.int64"),
            ([1.0], rf"^{name} must be .*got list"),
            (tensor.float(), rf"^{other} must have the dtype of queries, torch\.float"),
        ):
            refuses(TypeError, said, attend, **{**tensors, name: wrong})


def test_a_score_of_the_wrong_shape_is_refused():
    said = r"score must give \(2, 3, 5\).*got \(3, 5\)"
    refuses(ValueError, said, ab.attention, *inputs(2), score=lambda q, k: torch.zeros(3, 5))
