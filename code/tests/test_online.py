"""Online softmax and attention: equal to the dense ones, at any block, forward and backward."""

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, JUNK, cases, tolerance
from hypothesis import given
from hypothesis import strategies as st

import attnbook as ab
from attnbook.online import BLOCK

BLOCKS = st.sampled_from((1, 2, 3, 5, BLOCK))


@given(case=cases(least=0), block=BLOCKS)
def test_softmax_is_the_masked_softmax(case, block):
    got = ab.online_softmax(case.scores, case.mask, block=block)
    wanted = references.weights(case.scores, case.mask)
    torch.testing.assert_close(got, wanted, atol=1e-12, rtol=0)


@given(case=cases(least=0), block=BLOCKS)
def test_attention_is_a_slow_loop(case, block):
    output, logs = ab.online_attention(
        case.queries, case.keys, case.values, mask=case.mask, block=block
    )
    scores = references.scaled_dot(case.queries, case.keys)
    wanted = references.weights(scores, case.mask)
    torch.testing.assert_close(output, references.pool(wanted, case.values), atol=1e-12, rtol=0)
    whole = torch.ones((), dtype=torch.bool) if case.mask is None else case.mask
    if case.mask is not None and case.mask.dim() == 3 and scores.dim() == 4:
        whole = case.mask.unsqueeze(1)
    filled = torch.where(whole, scores, -torch.inf)
    torch.testing.assert_close(logs, filled.logsumexp(-1), atol=1e-12, rtol=0)


@given(case=cases(), block=BLOCKS)
def test_gradients_are_those_of_dense_attention(case, block):
    found = []
    for online in (True, False):
        leaves = [x.clone().requires_grad_() for x in (case.queries, case.keys, case.values)]
        options = {"mask": case.mask} | ({"block": block} if online else {})
        output, _ = (ab.online_attention if online else ab.attention)(*leaves, **options)
        upstream = torch.linspace(-1, 2, output.numel(), dtype=torch.float64).view_as(output)
        found.append(torch.autograd.grad(output, leaves, upstream))
    for got, wanted in zip(*found, strict=True):
        torch.testing.assert_close(got, wanted, atol=1e-11, rtol=0)


def test_gradients_are_those_of_small_steps():
    random = torch.Generator().manual_seed(0)
    shapes = ((2, 3, 4), (2, 5, 4), (2, 5, 2))
    leaves = [
        torch.randn(s, generator=random, dtype=torch.float64, requires_grad=True) for s in shapes
    ]
    mask = torch.rand(2, 3, 5, generator=random) < 0.6
    assert torch.autograd.gradcheck(
        lambda *x: ab.online_attention(*x, mask=mask, block=2)[0], leaves
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_are_single_precision_or_better(dtype):
    random = torch.Generator().manual_seed(0)
    exact = [torch.randn(1, 1, n, 8, generator=random) for n in (4, 2000, 2000)]
    given_ = [x.to(dtype) for x in exact]
    output, logs = ab.online_attention(*given_, block=1)
    wanted, _ = ab.attention(*(x.double() for x in given_))
    assert output.dtype == dtype and logs.dtype == torch.promote_types(dtype, torch.float32)
    single = torch.promote_types(dtype, torch.float32)
    slack = tolerance(dtype, 1) + tolerance(single, 64)
    torch.testing.assert_close(output.double(), wanted, atol=slack, rtol=0)


def test_large_scores_stay_finite_in_half_precision():
    queries, keys = 60 * torch.eye(4).half(), 60 * torch.eye(4).half()
    output, _ = ab.online_attention(queries, keys, keys, block=1)
    torch.testing.assert_close(output, keys)


@pytest.mark.parametrize("junk", JUNK)
def test_what_nobody_may_see_never_matters(junk):
    mask = torch.tensor(
        [[False, False, True, True, False], [False] * 5, [False, False] + 3 * [True]]
    )
    mask[:, 4] = False
    random = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(n, 2, generator=random) for n in (3, 5, 5))
    clean, _ = ab.attention(q, k, v, mask=mask)
    q[1], k[[0, 1, 4]], v[[0, 1, 4]] = junk, junk, junk
    leaves = [x.requires_grad_() for x in (q, k, v)]
    output, logs = ab.online_attention(*leaves, mask=mask, block=2)
    torch.testing.assert_close(output, clean)
    assert (output[1] == 0).all() and logs[1] == -torch.inf
    for gradient in torch.autograd.grad(output.sum(), leaves):
        assert gradient.isfinite().all()
    assert ab.online_softmax(torch.full((3, 5), junk), mask, block=2)[1].tolist() == [0.0] * 5


def test_no_tensor_is_as_large_as_all_scores():
    """Counted, forward and backward: the largest that is made has a row of one block."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        size = 0

        def __torch_dispatch__(self, f, types, args=(), kwargs=None):
            out = f(*args, **(kwargs or {}))
            parts = out if isinstance(out, tuple | list) else [out]
            sizes = [x.numel() for x in parts if isinstance(x, torch.Tensor)]
            self.size = max([self.size, *sizes])
            return out

    leaves = [torch.randn(256, 4, requires_grad=True) for _ in "qkv"]
    for call, most in ((ab.online_attention, 256 * 16), (ab.attention, 256 * 256)):
        with Largest() as seen:
            options = {"block": 16} if call is ab.online_attention else {}
            call(*leaves, **options)[0].sum().backward()
        assert seen.size == most


def test_what_it_refuses():
    x = torch.ones(2, 3)
    for block in (0, 1.5):
        refuses((ValueError, TypeError), "block must be", ab.online_attention, x, x, x, block=block)
        refuses((ValueError, TypeError), "block must be", ab.online_softmax, x, block=block)
    refuses(TypeError, "mask must be boolean", ab.online_attention, x, x, x, mask=torch.ones(2, 2))
    refuses(TypeError, "mask must be boolean", ab.online_softmax, x, torch.ones(2, 3))
    refuses(ValueError, "values must be", ab.online_attention, x, x, torch.ones(3, 3))
    refuses(ValueError, "feature", ab.online_attention, x, torch.ones(2, 4), x)
    refuses(TypeError, "scores must be", ab.online_softmax, x.long())
