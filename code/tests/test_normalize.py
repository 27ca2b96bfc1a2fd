"""Every normaliser keeps the laws of the mask; each equals its own slow definition."""

import math
import re
from functools import partial
from itertools import pairwise

import entmax
import pytest
import torch
from attnbook_testing import references
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, JUNK, cases, masks_for, tolerance
from hypothesis import assume, given
from hypothesis import strategies as st
from torch.autograd import forward_ad
from torch.func import vmap

import attnbook as ab
from attnbook.normalize import _masked_softmax_of_few, _masked_softmax_over


def gumbel(scores, mask=None, *, seed=0, **options):
    """Gumbel-softmax with the same noise at every call."""
    generator = torch.Generator().manual_seed(seed)
    return ab.gumbel_softmax(scores, mask, generator=generator, **options)


NORMALIZERS = {
    "masked_softmax": ab.masked_softmax,
    "sparsemax": ab.sparsemax,
    "entmax15": ab.entmax15,
    "entmax": partial(ab.entmax, alpha=1.25),
    "sink": partial(ab.sink_softmax, sink=0.5),
    "top_2": partial(ab.top_k_softmax, k=2),
    "gumbel": gumbel,
    "gumbel_hard": partial(gumbel, hard=True),
}
SURE = {name: f for name, f in NORMALIZERS.items() if "gumbel" not in name}
EXACT = {
    "masked_softmax": references.softmax_row,
    "sparsemax": references.sparsemax_row,
    "entmax15": references.entmax15_row,
    "entmax": partial(references.entmax_row, alpha=1.25),
    "sink": partial(references.sink_row, sink=0.5),
}
WHOLE = [name for name in NORMALIZERS if name != "sink"]  # their rows sum to one
any_dtype = st.sampled_from(DTYPES)


def each(normalizers):
    return pytest.mark.parametrize(
        "normalize", [pytest.param(NORMALIZERS[name], id=name) for name in normalizers]
    )


def with_gradient(normalize, scores, mask, seed=1):
    """Weights, and the gradient of a random linear function of them."""
    leaf = scores.detach().clone().requires_grad_()
    weights = normalize(leaf, mask)
    upstream = torch.randn(weights.shape, generator=torch.Generator().manual_seed(seed))
    (weights.double() * upstream).sum().backward()
    return weights.detach(), leaf.grad


def some_scores(*shape, dtype=torch.float64, seed=0):
    scores = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (2 * scores).to(dtype)


def some_mask(*shape, seed=0):
    """Random, with one row that allows nothing and one that allows all."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[..., 0, :], mask[..., 1, :] = False, True
    return mask


# equality with slow, independent definitions


@pytest.mark.parametrize("name", EXACT)
@given(case=cases(least=0), dtype=any_dtype)
def test_equals_its_definition(name, case, dtype):
    scores = case.scores.to(dtype)
    wanted = references.weights(scores, case.mask, EXACT[name]).to(dtype)
    slack = max(tolerance(dtype), 1e-12) if dtype != torch.float64 else 1e-12
    torch.testing.assert_close(NORMALIZERS[name](scores, case.mask), wanted, atol=slack, rtol=0)


@pytest.mark.parametrize("name", EXACT)
def test_equals_its_definition_on_long_rows_and_with_extreme_scores(name):
    for dtype in DTYPES:
        most = torch.finfo(dtype).max
        rows = [[most, -most, 0.0], [most, most, -most], [-most] * 3, [1.0, 1.0, -most]]
        extreme = torch.tensor([*rows, [float("-inf"), 0.5, 0.0]], dtype=dtype)
        between = torch.tensor([True, False, True]).expand(5, 3)
        long = some_scores(3, 4000, dtype=dtype)
        for scores, mask in ((extreme, None), (extreme, between), (long, some_mask(3, 4000))):
            weights, gradient = with_gradient(NORMALIZERS[name], scores, mask)
            wanted = references.weights(scores, mask, EXACT[name]).to(dtype)
            torch.testing.assert_close(weights, wanted, atol=tolerance(dtype), rtol=0)
            assert gradient.isfinite().all()


@given(case=cases(masked=True, least=1), k=st.integers(1, 6))
def test_top_k_keeps_the_best_allowed_scores(case, k):
    weights = ab.top_k_softmax(case.scores, case.mask, k=k)
    full = references.weights(case.scores, case.mask)
    best = full.sort(dim=-1, descending=True)
    kept = torch.zeros_like(full).scatter(-1, best.indices[..., :k], best.values[..., :k])
    total = kept.sum(-1, keepdim=True)
    torch.testing.assert_close(weights, kept / total.where(total > 0, 1.0), atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("alpha", "name"), [(1, "masked_softmax"), (1.5, "entmax15"), (2, "sparsemax")]
)
def test_entmax_is_the_exact_one_at_three_alphas(alpha, name):
    scores, mask = some_scores(2, 4, 5), some_mask(2, 4, 5)
    found, wanted = (
        with_gradient(f, scores, mask) for f in (partial(ab.entmax, alpha=alpha), NORMALIZERS[name])
    )
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=0)


@pytest.mark.parametrize("alpha", [1.001, 1.1, 1.75, 2])
@given(case=cases(masked=True, least=1), dtype=any_dtype)
def test_entmax_equals_bisection_for_any_alpha(alpha, case, dtype):
    scores = case.scores.to(dtype)
    row = partial(references.entmax_row, alpha=alpha)
    wanted = references.weights(scores, case.mask, row).to(dtype)
    slack = max(tolerance(dtype), 1e-11) * (100 if alpha == 1.001 else 1)  # a power of 1,000
    found = ab.entmax(scores, case.mask, alpha=alpha)
    torch.testing.assert_close(found, wanted, atol=slack, rtol=0)


PEERS = {  # the authors' own package
    "sparsemax": partial(entmax.sparsemax, dim=-1),
    "entmax15": partial(entmax.entmax15, dim=-1),
    "entmax": partial(entmax.entmax_bisect, alpha=1.25, dim=-1, n_iter=80),
}


@pytest.mark.parametrize("name", PEERS)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 40), spread=st.sampled_from((0.1, 1, 10)))
def test_equals_the_package_of_its_authors(name, seed, k, spread):
    """Forward and gradient, on rows without a mask: theirs has none."""
    scores = spread * some_scores(3, k, seed=seed)
    found, slope = with_gradient(NORMALIZERS[name], scores, None)
    wanted, their_slope = with_gradient(lambda x, mask: PEERS[name](x), scores, None)
    torch.testing.assert_close(found, wanted, atol=1e-9, rtol=0)
    edge = (found < 1e-6) & (found + wanted > 0)  # whether a key is kept: there the slope jumps
    assume(not edge.any())
    torch.testing.assert_close(slope, their_slope, atol=1e-6, rtol=1e-6)


def test_a_larger_alpha_keeps_fewer():
    sizes = [(ab.entmax(some_scores(9, 50), alpha=a) > 0).sum(-1) for a in (1, 1.25, 1.5, 1.75, 2)]
    assert all((few <= many).all() for many, few in pairwise(sizes))
    assert (sizes[0] == 50).all() and (sizes[-1] < 10).all()


def test_a_sink_is_learned_for_each_head_and_takes_the_rest():
    scores, mask = some_scores(2, 3, 4, 5), some_mask(2, 1, 4, 5)
    sink = torch.tensor([-torch.inf, 0.0, 50.0], dtype=torch.float64).view(3, 1, 1)
    none, some, all_ = ab.sink_softmax(scores, mask, sink=sink).unbind(1)
    assert torch.allclose(none, ab.masked_softmax(scores[:, 0], mask[:, 0]), atol=1e-15)
    share = some[:, 1:].sum(-1) / none[:, 1:].sum(-1).clamp(min=1e-9)
    assert (share < 1).all() and all_.max() < 1e-15
    logit = torch.zeros((), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda b: ab.sink_softmax(scores, mask, sink=b), logit)


def test_top_k_keeps_no_more_than_k_of_equal_scores():
    assert (ab.top_k_softmax(torch.zeros(2, 9), k=4) > 0).sum(-1).tolist() == [4, 4]


# the laws of the mask


@each(WHOLE)
@given(case=cases(spread=3.0), dtype=any_dtype)
def test_rows_are_distributions_over_allowed_places_or_zero(normalize, case, dtype):
    scores = case.scores.to(dtype)
    weights = normalize(scores, case.mask)
    assert weights.shape == scores.shape and weights.dtype == dtype
    assert (weights >= 0).all()
    allowed = references.weights(torch.zeros_like(scores), case.mask) > 0
    assert (weights[~allowed] == 0).all()
    torch.testing.assert_close(
        weights.double().sum(-1), allowed.any(-1).double(), atol=tolerance(dtype), rtol=0
    )


@each(NORMALIZERS)
@given(dtype=any_dtype, junk=st.lists(st.sampled_from(JUNK), min_size=1, max_size=5))
def test_masked_places_reach_no_weight_and_no_gradient(normalize, dtype, junk):
    clean, mask = some_scores(2, 4, 5, dtype=dtype), some_mask(2, 4, 5)
    fill = torch.tensor(junk).repeat(40)[:40].view(2, 4, 5).to(dtype)
    dirty = torch.where(mask, clean, fill)
    weights, gradient = with_gradient(normalize, dirty, mask)
    wanted, wanted_gradient = with_gradient(normalize, clean, mask)
    assert torch.equal(weights, wanted) and weights.isfinite().all()
    assert torch.equal(gradient, wanted_gradient) and gradient.isfinite().all()
    assert weights[:, 0].eq(0).all() and gradient[:, 0].eq(0).all()  # may attend to nothing
    assert gradient[mask].ne(0).any() and (gradient[~mask] == 0).all()
    with torch.no_grad():  # what no graph needs may be done otherwise, to the same end
        assert torch.equal(normalize(dirty, mask), weights)


@each(NORMALIZERS)
def test_minus_infinity_is_a_masked_score_and_nan_shows_in_its_own_row(normalize):
    scores, mask = some_scores(2, 4, 5), some_mask(2, 4, 5)
    by_mask = with_gradient(normalize, scores, mask)
    by_score = with_gradient(normalize, scores.masked_fill(~mask, -torch.inf), None)
    assert all(map(torch.equal, by_mask, by_score))
    scores[0, 1, 2] = float("nan")
    weights = normalize(scores)
    assert weights[0, 1].isnan().any() and weights[1].isfinite().all()


# the softmax that overwrites its scores


@given(case=cases(least=0), dtype=any_dtype)
def test_written_over_its_scores_masked_softmax_is_the_same(case, dtype):
    scores, mask = case.scores.to(dtype), case.mask
    if mask is not None and mask.dim() == 3 and scores.dim() == 4:
        mask = mask[:, None]  # `attention` has aligned it
    results = []
    for normalize in (ab.masked_softmax, _masked_softmax_over):
        results.append(with_gradient(lambda s, m, f=normalize: f(s * 1, m), scores, mask))
    slack = tolerance(dtype) if dtype != torch.float64 else 1e-12
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, atol=8 * slack, rtol=0)
    own = scores.clone()
    assert _masked_softmax_over(own, mask).data_ptr() == own.data_ptr()
    torch.testing.assert_close(own, results[0][0], atol=slack, rtol=0)


def test_under_torchs_transforms_nothing_is_written_over():
    scores, held = some_scores(3, 4, 5), some_scores(3, 4, 5)
    weights = vmap(partial(_masked_softmax_over, mask=None))(scores)
    assert torch.equal(weights, ab.masked_softmax(held)) and torch.equal(scores, held)


def test_gradients_of_both_orders_of_what_is_written_over():
    scores = some_scores(2, 4, 5).requires_grad_()
    for mask in (None, some_mask(2, 4, 5), some_mask(4, 1)):
        over = partial(lambda s, m: _masked_softmax_over(s * 1, m), m=mask)
        assert torch.autograd.gradcheck(over, scores)
        assert torch.autograd.gradgradcheck(over, scores)


@given(case=cases(masked=True, least=1), dtype=any_dtype)
def test_of_few_scores_masked_softmax_is_the_same(case, dtype):
    scores, mask = case.scores.to(dtype), case.mask
    if mask.dim() == 3 and scores.dim() == 4:
        mask = mask[:, None]  # a decoder's memory has aligned it
    pair = [with_gradient(f, scores, mask) for f in (ab.masked_softmax, _masked_softmax_of_few)]
    slack = 8 * tolerance(dtype) if dtype != torch.float64 else 1e-11
    for one, other in zip(*pair, strict=True):
        torch.testing.assert_close(one, other, atol=slack, rtol=0)


# arguments of every kind


@each(NORMALIZERS)
def test_no_argument_is_changed_and_the_result_is_new(normalize):
    mask = some_mask(2, 4, 5)
    for scores in (some_scores(2, 4, 5).masked_fill(~mask, float("nan")), some_scores(2, 4, 5)):
        before, versions = (scores.clone(), mask.clone()), (scores._version, mask._version)
        leaf = scores.clone().requires_grad_()
        normalize(leaf, mask).sum().backward()
        assert leaf.is_leaf and leaf._version == 0
        for given_mask in (mask, None):
            normalize(scores, given_mask).fill_(7.0)
        torch.testing.assert_close((scores, mask), before, atol=0, rtol=0, equal_nan=True)
        assert (scores._version, mask._version) == versions
    for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        weights, gradient = with_gradient(normalize, some_scores(*shape), torch.ones(1, 1).bool())
        assert weights.shape == gradient.shape == shape
        assert normalize(empty := some_scores(*shape)) is not empty


@each(NORMALIZERS)
def test_non_contiguous_and_expanded_inputs(normalize):
    scores, mask = some_scores(3, 2, 5, 4), some_mask(3, 2, 5, 4)
    turned, turned_mask = (x.mT.contiguous().mT for x in (scores, mask))
    wanted = with_gradient(normalize, scores, mask)
    assert all(map(torch.equal, with_gradient(normalize, turned, turned_mask), wanted))
    row, row_mask = some_scores(1, 5, 4), some_mask(1, 5, 4)
    leaf = row.clone().requires_grad_()
    weights = normalize(leaf.expand(3, 5, 4), row_mask.expand(3, 5, 4))
    assert torch.equal(weights, normalize(row.repeat(3, 1, 1), row_mask.repeat(3, 1, 1)))
    weights.square().sum().backward()
    assert leaf.grad.isfinite().all() and leaf.grad[:, 0].eq(0).all()


# mask ranks


def test_the_rank_of_a_mask_decides():
    for shape in ((3, 4), (2, 3, 4), (2, 5, 3, 4)):
        scores = some_scores(*shape)
        for mask in masks_for(shape, torch.Generator().manual_seed(0), 0.6):
            wanted = references.weights(scores, mask)
            torch.testing.assert_close(ab.masked_softmax(scores, mask), wanted, atol=1e-12, rtol=0)
    scores, mask = some_scores(2, 2, 2, 3, 4), some_mask(3, 4)  # (q, k) serves any depth
    wanted = references.weights(scores.reshape(8, 3, 4), mask).reshape(scores.shape)
    torch.testing.assert_close(ab.masked_softmax(scores, mask), wanted, atol=1e-12, rtol=0)


@each(["masked_softmax", "sparsemax"])
def test_masks_that_do_not_fit_are_refused(normalize):
    for scores, mask in [
        ((2, 3, 4), (4,)),
        ((2, 2, 2, 3, 4), (2, 2, 2, 3, 4)),
        ((2, 2, 2, 3, 4), (2, 3, 4)),  # which axes are b and h?
        ((3, 4), (1, 3, 4)),
        ((2, 3, 4), (3, 5)),
        ((2, 5, 3, 4), (5, 3, 4)),  # heads given as batches
        ((1, 3, 4), (2, 3, 4)),  # would grow the scores
        ((2, 3, 1), (3, 4)),
    ]:
        for shape in (scores, mask):
            said = f"mask .*{re.escape(str(shape))}"
            refuses(ValueError, said, normalize, torch.zeros(scores), torch.ones(mask).bool())


@each(NORMALIZERS)
def test_wrong_arguments_are_refused(normalize):
    ones = torch.ones(2, 2)
    refuses(TypeError, r"scores must be a torch\.Tensor, got list", normalize, [[1.0]])
    refuses(TypeError, r"scores must be floating.*torch\.int64", normalize, ones.long())
    refuses(TypeError, r"scores must be floating.*complex64", normalize, ones.cfloat())
    refuses(ValueError, r"\(\.\.\., q, k\), got shape \(2,\)", normalize, ones[0])
    refuses(TypeError, r"mask must be boolean.*torch\.float32", normalize, ones, ones)
    refuses(TypeError, "mask must be a boolean .*got list", normalize, ones, [[True]])


def test_options_are_refused():
    for k, error in ((0, ValueError), (1.5, TypeError), (True, TypeError)):
        refuses(error, r"^k must be .*got", ab.top_k_softmax, torch.ones(2, 2), k=k)
    for temperature in (0, -1.0, float("nan")):
        said, options = "temperature must be positive, got", {"temperature": temperature}
        refuses(ValueError, said, ab.gumbel_softmax, torch.ones(2, 2), **options)
    for alpha in (0.9, 2.1, float("nan")):
        said = r"alpha must be from 1 to 2, got"
        refuses(ValueError, said, ab.entmax, torch.ones(2, 2), alpha=alpha)


# derivatives and transforms


@each(EXACT)
def test_gradients_of_both_orders(normalize):
    whole, some = some_scores(2, 4, 5), some_scores(3, 5)
    some[0, 1] = some[1, 3] = -torch.inf
    some[2] = -torch.inf
    finite = some.isfinite()

    def on_finite(free):
        return normalize(some.clone().masked_scatter(finite, free))

    for function, leaf in (
        (normalize, whole),
        (partial(normalize, mask=some_mask(2, 4, 5)), whole),
        (on_finite, some[finite]),
    ):
        leaf = leaf.clone().requires_grad_()
        assert torch.autograd.gradcheck(function, (leaf,))
        assert torch.autograd.gradgradcheck(function, (leaf,))


@each(WHOLE)
def test_ties_and_edges_of_the_support_have_finite_gradients(normalize):
    """[0, 0, -2, -2] puts entmax's square root exactly on 0, [0, -1, ...] is sparsemax's edge."""
    for row in ([0, 0, 0, 0], [0, 0, -2, -2], [0, -1, -1, -1], [0, -2, -2, -2], [0, -4, -4, -9]):
        leaf = torch.tensor([row], dtype=torch.float64, requires_grad=True)
        first = torch.autograd.grad(normalize(leaf).square().sum(), leaf, create_graph=True)[0]
        (second,) = torch.autograd.grad(first.square().sum(), leaf, materialize_grads=True)
        assert first.isfinite().all() and second.isfinite().all()
        assert abs(first.sum().item()) < 1e-12  # adding a constant to all scores changes nothing


@each(SURE)
def test_vmap_equals_a_loop_forward_and_backward(normalize):
    scores, masks = some_scores(3, 2, 4, 5), some_mask(3, 2, 4, 5)
    singles = torch.stack([normalize(s, m) for s, m in zip(scores, masks, strict=True)])
    close = partial(torch.testing.assert_close, atol=1e-15, rtol=0)  # a power rounds by the lane
    close(vmap(normalize)(scores, masks), singles)
    shared = torch.stack([normalize(scores[0], m) for m in masks])
    close(vmap(normalize, in_dims=(None, 0))(scores[0], masks), shared)

    def loss(s, normalize):
        return normalize(s, masks).square().sum()

    wanted = torch.func.grad(partial(loss, normalize=normalize))(scores)
    with torch.no_grad():  # under vmap a tensor hides that it is differentiated
        inside = torch.func.grad(partial(loss, normalize=vmap(normalize)))(scores)
    torch.testing.assert_close(inside, wanted, atol=1e-14, rtol=0)


@each(NORMALIZERS)
def test_derivatives_taken_forward_are_those_taken_backward(normalize):
    """By torch.func, one direction and many at once, and by dual numbers."""
    scores, mask = some_scores(2, 4, 5), some_mask(2, 4, 5)
    change = some_scores(2, 4, 5, seed=3)
    one = partial(normalize, mask=mask)
    jacobian = torch.autograd.functional.jacobian(one, scores)
    wanted = torch.einsum("abcdef,def->abc", jacobian, change)
    torch.testing.assert_close(torch.func.jvp(one, (scores,), (change,))[1], wanted)
    with forward_ad.dual_level():
        weights = one(forward_ad.make_dual(scores, change))
        torch.testing.assert_close(forward_ad.unpack_dual(weights).tangent, wanted)
    if normalize in SURE.values():  # chance needs a rule under vmap
        torch.testing.assert_close(torch.func.jacfwd(one)(scores), jacobian)


# Gumbel-softmax


def test_gumbel_picks_as_often_as_softmax_says():
    n, k = 200_000, 5
    scores = torch.tensor([0.3, -1.0, 2.0, 0.0, 5.0])
    mask = torch.tensor([True, True, True, True, False])
    picks = gumbel(scores.expand(n, k), mask.expand(n, k), hard=True)
    # Hoeffding over k shares: farther than this with p < 1e-9
    bound = (torch.log(torch.tensor(2 * k / 1e-9)) / (2 * n)) ** 0.5
    wanted = ab.masked_softmax(scores[None], mask[None])[0]
    assert bound < 0.01
    assert (picks.mean(0) - wanted).abs().max() < bound
    assert picks[:, 4].eq(0).all() and picks.sum(-1).eq(1).all()


@given(case=cases(masked=True, least=1), seed=st.integers(0, 99))
def test_gumbel_hard_picks_the_best_of_the_soft_sample(case, seed):
    soft = gumbel(case.scores, case.mask, seed=seed)
    hard = gumbel(case.scores, case.mask, seed=seed, hard=True)
    open_rows = soft.sum(-1) > 0
    assume(open_rows.any())
    assert set(hard.unique().tolist()) <= {0.0, 1.0}
    assert torch.equal(hard.argmax(-1)[open_rows], soft.argmax(-1)[open_rows])
    assert hard[~open_rows].eq(0).all()


def test_gumbel_hard_passes_the_soft_gradient_straight_through():
    scores, mask = some_scores(2, 4, 5), some_mask(2, 4, 5)
    soft = with_gradient(gumbel, scores, mask)
    hard = with_gradient(partial(gumbel, hard=True), scores, mask)
    assert torch.equal(soft[1], hard[1]) and soft[1].ne(0).any()


def test_gumbel_at_temperature_t_is_a_softmax_of_perturbed_scores_over_t():
    """At temperature t, log-weights differ by (score difference + noise difference) / t."""
    scores = some_scores(3, 4)
    noise = [gumbel(scores, temperature=t).log() * t - scores for t in (0.5, 1.0, 2.0)]
    for one in noise[1:]:
        difference = one - noise[0]
        torch.testing.assert_close(difference, difference[:, :1].expand_as(difference))
    for dtype in DTYPES:  # the limit is the pick, and no dtype overflows on the way
        scores = torch.tensor([[300.0, 290.0, -200.0]], dtype=dtype)
        for temperature in (1e-3, 1e-30, 1e-40, 5e-324):
            for hard in (False, True):
                low = partial(gumbel, temperature=temperature, hard=hard)
                weights, gradient = with_gradient(low, scores, None)
                assert weights.tolist() == [[1.0, 0.0, 0.0]] and gradient.isfinite().all()
    mask = torch.tensor([[True, True, False]])
    assert gumbel(torch.zeros(1, 3), mask, temperature=math.inf).tolist() == [[0.5, 0.5, 0.0]]
    learned = torch.tensor(0.5, requires_grad=True)
    gumbel(torch.zeros(3, 4), temperature=learned).square().sum().backward()
    assert learned.grad.abs() > 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [0.0, 5e-324, 1e-15, 1e-9, 1e-6, 1e-4, 1e-3])
def test_entmax_with_alpha_close_to_1_is_close_to_the_softmax(dtype, step):
    scores, mask = some_scores(2, 4, 5, dtype=dtype), some_mask(2, 4, 5)
    found = ab.entmax(scores, mask, alpha=1 + step)
    slack = 5 * step + 2 * torch.finfo(dtype).eps
    torch.testing.assert_close(found, ab.masked_softmax(scores, mask), atol=slack, rtol=0)
