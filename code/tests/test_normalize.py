"""Every normaliser keeps the laws of the mask; each equals its own slow definition."""

from functools import partial

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.strategies import DTYPES, JUNK, cases, masks_for, tolerance
from hypothesis import assume, given
from hypothesis import strategies as st
from torch.func import vmap

import attnbook as ab


def gumbel(scores, mask=None, *, seed=0, **options):
    """Gumbel-softmax with the same noise at every call."""
    generator = torch.Generator().manual_seed(seed)
    return ab.gumbel_softmax(scores, mask, generator=generator, **options)


NORMALIZERS = {
    "masked_softmax": ab.masked_softmax,
    "sparsemax": ab.sparsemax,
    "entmax15": ab.entmax15,
    "top_2": partial(ab.top_k_softmax, k=2),
    "top_all": partial(ab.top_k_softmax, k=9999),
    "gumbel": gumbel,
    "gumbel_hard": partial(gumbel, hard=True),
}
EXACT = {
    "masked_softmax": references.softmax_row,
    "sparsemax": references.sparsemax_row,
    "entmax15": references.entmax15_row,
    "top_all": references.softmax_row,
}
every_normalizer = pytest.mark.parametrize(
    "normalize", [pytest.param(f, id=name) for name, f in NORMALIZERS.items()]
)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


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
@given(case=cases(least=0))
def test_equals_its_definition(name, case):
    weights = NORMALIZERS[name](case.scores, case.mask)
    wanted = references.weights(case.scores, case.mask, EXACT[name])
    torch.testing.assert_close(weights, wanted, atol=1e-12, rtol=0)


@every_dtype
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("keys", [1, 7, 4000])
def test_equals_its_definition_in_every_dtype(name, dtype, keys):
    scores = some_scores(3, keys, dtype=dtype)
    mask = some_mask(3, keys)
    wanted = references.weights(scores, mask, EXACT[name])
    torch.testing.assert_close(
        NORMALIZERS[name](scores, mask), wanted.to(dtype), atol=tolerance(dtype), rtol=0
    )


@every_dtype
@pytest.mark.parametrize("name", EXACT)
def test_equals_its_definition_with_extreme_scores(name, dtype):
    most = torch.finfo(dtype).max
    rows = [[most, -most, 0.0], [most, most, -most], [-most] * 3, [1.0, 1.0, -most]]
    scores = torch.tensor([*rows, [float("-inf"), 0.5, 0.0]], dtype=dtype)
    for mask in (None, torch.tensor([True, False, True]).expand(5, 3)):
        weights, gradient = with_gradient(NORMALIZERS[name], scores, mask)
        wanted = references.weights(scores, mask, EXACT[name])
        torch.testing.assert_close(weights, wanted.to(dtype), atol=tolerance(dtype), rtol=0)
        assert gradient.isfinite().all()


@given(case=cases(masked=True, least=1), k=st.integers(1, 6))
def test_top_k_keeps_the_best_allowed_scores(case, k):
    weights = ab.top_k_softmax(case.scores, case.mask, k=k)
    full = references.weights(case.scores, case.mask)
    best = full.sort(dim=-1, descending=True)
    kept = torch.zeros_like(full).scatter(-1, best.indices[..., :k], best.values[..., :k])
    total = kept.sum(-1, keepdim=True)
    torch.testing.assert_close(weights, kept / total.where(total > 0, 1.0), atol=1e-12, rtol=0)


def test_top_k_keeps_no_more_than_k_of_equal_scores():
    assert (ab.top_k_softmax(torch.zeros(2, 9), k=4) > 0).sum(-1).tolist() == [4, 4]


@pytest.mark.parametrize("name", ["sparsemax", "entmax15"])
def test_sparse_normalizers_give_exact_zeros(name):
    weights = NORMALIZERS[name](torch.tensor([[3.0, 2.9, 0.0, -1.0]]))
    assert weights[0, :2].min() > 0 and weights[0, 2:].tolist() == [0.0, 0.0]


# the laws of the mask


@every_dtype
@every_normalizer
@given(case=cases(spread=3.0))
def test_rows_are_distributions_over_allowed_places_or_zero(normalize, dtype, case):
    scores = case.scores.to(dtype)
    weights = normalize(scores, case.mask)
    assert weights.shape == scores.shape and weights.dtype == dtype
    assert (weights >= 0).all()
    allowed = torch.ones_like(scores, dtype=torch.bool)
    if case.mask is not None:
        mask = case.mask
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask[:, None]
        allowed = mask.expand_as(scores)
    assert (weights[~allowed] == 0).all()
    wanted = allowed.any(-1).double() if scores.shape[-1] else scores.new_zeros(scores.shape[:-1])
    torch.testing.assert_close(
        weights.double().sum(-1), wanted.double(), atol=tolerance(dtype), rtol=0
    )


@every_dtype
@every_normalizer
@pytest.mark.parametrize("junk", [*JUNK, "mixed"], ids=str)
def test_masked_places_reach_no_weight_and_no_gradient(normalize, dtype, junk):
    clean, mask = some_scores(2, 4, 5, dtype=dtype), some_mask(2, 4, 5)
    fill = torch.tensor(JUNK).repeat(6)[:40].view(2, 4, 5) if junk == "mixed" else junk
    dirty = torch.where(mask, clean, torch.as_tensor(fill, dtype=dtype))
    weights, gradient = with_gradient(normalize, dirty, mask)
    wanted, wanted_gradient = with_gradient(normalize, clean, mask)
    assert torch.equal(weights, wanted) and weights.isfinite().all()
    assert torch.equal(gradient, wanted_gradient) and gradient.isfinite().all()
    assert (gradient[~mask] == 0).all()
    assert weights[:, 0].eq(0).all() and gradient[:, 0].eq(0).all()  # may attend to nothing
    assert gradient[mask].ne(0).any()


@every_dtype
@every_normalizer
def test_low_valid_scores_keep_all_the_weight(normalize, dtype):
    mask = torch.tensor([[True, False, True, False]])
    for low in (-2e9, -1e30, torch.finfo(dtype).min):
        if low < torch.finfo(dtype).min:
            continue
        scores = torch.tensor([[low, 0.0, low, 1e4]], dtype=dtype)
        weights, gradient = with_gradient(normalize, scores, mask)
        assert weights[0, [1, 3]].tolist() == [0.0, 0.0]
        assert weights.sum().item() == pytest.approx(1.0, abs=tolerance(dtype))
        assert gradient.isfinite().all()
    if normalize is ab.masked_softmax:
        assert weights[0, [0, 2]].tolist() == [0.5, 0.5]


@every_normalizer
def test_a_valid_score_of_minus_infinity_is_a_masked_one(normalize):
    scores, mask = some_scores(2, 4, 5), some_mask(2, 4, 5)
    weights, gradient = with_gradient(normalize, scores, mask)
    by_score = with_gradient(normalize, scores.masked_fill(~mask, -torch.inf), None)
    assert torch.equal(weights, by_score[0]) and torch.equal(gradient, by_score[1])


@every_normalizer
def test_a_nan_among_the_allowed_shows_and_stays_in_its_row(normalize):
    scores = some_scores(3, 4)
    scores[1, 2] = float("nan")
    weights = normalize(scores)
    assert weights[1].isnan().any() and weights[[0, 2]].isfinite().all()


# arguments of every kind


@every_normalizer
def test_no_argument_is_changed(normalize):
    scores, mask = some_scores(2, 4, 5), some_mask(2, 4, 5)
    scores.masked_fill_(~mask, float("nan"))
    before = scores.clone(), mask.clone()
    versions = scores._version, mask._version
    leaf = scores.clone().requires_grad_()
    normalize(leaf, mask).sum().backward()
    assert leaf.is_leaf and leaf._version == 0
    torch.testing.assert_close(scores, before[0], atol=0, rtol=0, equal_nan=True)
    assert torch.equal(mask, before[1])
    assert (scores._version, mask._version) == versions
    normalize(scores, mask).fill_(7.0)  # the result shares no memory with an argument
    torch.testing.assert_close(scores, before[0], atol=0, rtol=0, equal_nan=True)


@every_normalizer
def test_with_no_keys_too_the_result_is_new(normalize):
    scores = some_scores(2, 3, 0)
    assert normalize(scores) is not scores


@every_normalizer
@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0), (2, 0, 3, 4)], ids=str)
def test_empty_inputs(normalize, shape):
    for mask in (None, torch.ones(shape[-2:], dtype=torch.bool)):
        weights, gradient = with_gradient(normalize, some_scores(*shape), mask)
        assert weights.shape == gradient.shape == shape


@every_normalizer
def test_non_contiguous_and_expanded_inputs(normalize):
    scores, mask = some_scores(3, 2, 5, 4), some_mask(3, 2, 5, 4)
    turned = scores.contiguous(memory_format=torch.channels_last).permute(0, 1, 2, 3)
    strided = torch.stack([scores, scores + 1], dim=-1)[..., 0]
    turned_mask = mask.mT.contiguous().mT
    wanted = with_gradient(normalize, scores, mask)
    for one in (turned, strided, scores.mT.contiguous().mT):
        assert not one.is_contiguous()
        got = with_gradient(normalize, one, turned_mask)
        assert torch.equal(got[0], wanted[0]) and torch.equal(got[1], wanted[1])

    row, row_mask = some_scores(1, 5, 4), some_mask(1, 5, 4)
    leaf = row.clone().requires_grad_()
    weights = normalize(leaf.expand(3, 5, 4), row_mask.expand(3, 5, 4))
    assert torch.equal(weights, normalize(row.repeat(3, 1, 1), row_mask.repeat(3, 1, 1)))
    weights.square().sum().backward()
    assert leaf.grad.isfinite().all() and leaf.grad[:, 0].eq(0).all()
    constant = torch.zeros(1, dtype=torch.float64).expand(5, 4)  # all of one number
    assert normalize(constant, row_mask[0]).sum(-1).tolist() == pytest.approx([0, 1, 1, 1, 1])


def test_a_transposed_view_of_scores_keeps_its_rows():
    scores = some_scores(4, 5)
    torch.testing.assert_close(ab.masked_softmax(scores.T), scores.T.contiguous().softmax(-1))


# mask ranks


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 5, 3, 4)], ids=str)
def test_every_mask_rank_that_fits(shape):
    scores = some_scores(*shape)
    for mask in masks_for(shape, torch.Generator().manual_seed(0), 0.6):
        wanted = references.weights(scores, mask)
        torch.testing.assert_close(ab.masked_softmax(scores, mask), wanted, atol=1e-12, rtol=0)


@every_normalizer
def test_three_axes_are_batches_and_never_heads(normalize):
    n = 3  # b = h: (b, q, k) would slip over (h, q, k) in silence
    scores = some_scores(n, n, 2, 4)
    mask = ab.length_mask([0, 1, 4], 4).expand(n, 2, 4)
    weights = normalize(scores, mask)
    assert weights[0].eq(0).all()
    assert weights[1, :, :, 0].eq(1).all()
    assert weights[2].sum(-1).allclose(torch.ones(n, 2, dtype=torch.float64))
    assert torch.equal(weights, normalize(scores, mask[:, None]))
    assert torch.equal(
        normalize(scores, ab.length_mask([0, 1, 4], 4)), normalize(scores, mask[:, None])
    )


@every_normalizer
@pytest.mark.parametrize(
    ("scores", "mask"),
    [
        ((2, 3, 4), (4,)),
        ((2, 3, 4), ()),
        ((2, 2, 2, 3, 4), (2, 2, 2, 3, 4)),
        ((2, 2, 2, 3, 4), (2, 2, 3, 4)),  # which axes are b and h?
        ((2, 2, 2, 3, 4), (2, 3, 4)),
        ((3, 4), (1, 3, 4)),
        ((2, 3, 4), (2, 1, 3, 4)),
        ((2, 3, 4), (3, 5)),
        ((2, 3, 4), (4, 3)),
        ((2, 3, 4), (3, 3, 4)),
        ((2, 5, 3, 4), (5, 3, 4)),  # heads given as batches
        ((2, 5, 3, 4), (2, 4, 3, 4)),
        ((1, 3, 4), (2, 3, 4)),  # would grow the scores
        ((2, 1, 4), (3, 4)),
        ((2, 3, 1), (3, 4)),
    ],
    ids=str,
)
def test_masks_that_do_not_fit_are_refused(normalize, scores, mask):
    mask = torch.ones(mask, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"mask .*") as error:
        normalize(torch.zeros(scores), mask)
    assert str(tuple(mask.shape)) in str(error.value) and str(scores) in str(error.value)


def test_a_mask_for_queries_and_keys_serves_scores_of_any_depth():
    scores, mask = some_scores(2, 2, 2, 3, 4), some_mask(3, 4)
    wanted = references.weights(scores.reshape(8, 3, 4), mask).reshape(scores.shape)
    torch.testing.assert_close(ab.masked_softmax(scores, mask), wanted, atol=1e-12, rtol=0)


@every_normalizer
@pytest.mark.parametrize(
    ("scores", "mask", "error", "said"),
    [
        ([[1.0]], None, TypeError, r"scores must be a torch\.Tensor, got list"),
        (torch.ones(2, 2).long(), None, TypeError, r"scores must be floating.*torch\.int64"),
        (torch.ones(2, 2).cfloat(), None, TypeError, r"scores must be floating.*complex64"),
        (torch.ones(2), None, ValueError, r"scores must be \(\.\.\., q, k\), got shape \(2,\)"),
        (torch.ones(2, 2), torch.ones(2, 2), TypeError, r"mask must be boolean.*torch\.float32"),
        (torch.ones(2, 2), torch.ones(2, 2).byte(), TypeError, r"mask must be boolean.*uint8"),
        (torch.ones(2, 2), [[True]], TypeError, r"mask must be a boolean torch\.Tensor, got list"),
    ],
)
def test_wrong_arguments_are_refused(normalize, scores, mask, error, said):
    with pytest.raises(error, match=said):
        normalize(scores, mask)


@pytest.mark.parametrize(
    ("k", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_top_k_refuses(k, error):
    with pytest.raises(error, match=r"^k must be .*got"):
        ab.top_k_softmax(torch.ones(2, 2), k=k)


# derivatives and transforms


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_both_orders(name, masked):
    scores = some_scores(2, 4, 5).requires_grad_()
    mask = some_mask(2, 4, 5) if masked else None
    assert torch.autograd.gradcheck(NORMALIZERS[name], (scores, mask))
    assert torch.autograd.gradgradcheck(NORMALIZERS[name], (scores, mask))


@pytest.mark.parametrize("name", EXACT)
def test_gradients_through_minus_infinity(name):
    scores = some_scores(3, 5)
    scores[0, 1] = scores[1, 3] = -torch.inf
    scores[2] = -torch.inf
    finite = scores.isfinite()

    def on_finite(free):
        full = scores.clone().masked_scatter(finite, free)
        return NORMALIZERS[name](full)

    free = scores[finite].requires_grad_()
    assert torch.autograd.gradcheck(on_finite, (free,))
    assert torch.autograd.gradgradcheck(on_finite, (free,))


@every_normalizer
@pytest.mark.parametrize(
    "row",
    [[0, 0, 0, 0], [0, 0, -2, -2], [0, -1, -1, -1], [0, -2, -2, -2], [0, -4, -4, -9]],
    ids=str,
)
def test_ties_and_edges_of_the_support_have_finite_gradients(normalize, row):
    """[0, 0, -2, -2] puts entmax's square root exactly on 0, [0, -1, ...] is sparsemax's edge."""
    leaf = torch.tensor([row], dtype=torch.float64, requires_grad=True)
    first = torch.autograd.grad(normalize(leaf).square().sum(), leaf, create_graph=True)[0]
    (second,) = torch.autograd.grad(first.square().sum(), leaf, materialize_grads=True)
    assert first.isfinite().all() and second.isfinite().all()
    assert abs(first.sum().item()) < 1e-12  # adding a constant to all scores changes nothing


@pytest.mark.parametrize("name", [name for name in NORMALIZERS if "gumbel" not in name])
def test_vmap_equals_a_loop(name):
    normalize = NORMALIZERS[name]
    scores, masks, one = some_scores(3, 2, 4, 5), some_mask(3, 2, 4, 5), some_mask(2, 4, 5)
    singles = torch.stack([normalize(s, m) for s, m in zip(scores, masks, strict=True)])
    assert torch.equal(vmap(normalize)(scores, masks), singles)
    assert torch.equal(vmap(normalize)(scores), normalize(scores))
    singles = torch.stack([normalize(s, one) for s in scores])
    assert torch.equal(vmap(normalize, in_dims=(0, None))(scores, one), singles)
    singles = torch.stack([normalize(scores[0], m) for m in masks])
    assert torch.equal(vmap(normalize, in_dims=(None, 0))(scores[0], masks), singles)
    last = vmap(normalize, in_dims=3, out_dims=3)(scores.movedim(0, 3))
    assert torch.equal(last.movedim(3, 0), normalize(scores))
    gradient = vmap(torch.func.grad(lambda s, m: normalize(s, m).square().sum()))(scores, masks)
    leaf = scores.clone().requires_grad_()
    torch.stack(
        [normalize(s, m) for s, m in zip(leaf, masks, strict=True)]
    ).square().sum().backward()
    torch.testing.assert_close(gradient, leaf.grad, atol=1e-14, rtol=0)


@pytest.mark.parametrize("name", [name for name in NORMALIZERS if "gumbel" not in name])
def test_gradients_through_vmap(name):
    """Under vmap a tensor hides that it is differentiated: nothing may be overwritten there."""
    scores, masks = some_scores(3, 4, 5), some_mask(3, 4, 5)

    def loss(s, batched):
        weights = vmap(NORMALIZERS[name])(s, masks) if batched else NORMALIZERS[name](s, masks)
        return weights.square().sum()

    wanted = torch.func.grad(partial(loss, batched=False))(scores)
    with torch.set_grad_enabled(False):
        inside = torch.func.grad(partial(loss, batched=True))(scores)
    leaf = scores.clone().requires_grad_()
    loss(leaf, batched=True).backward()
    for gradient in (inside, leaf.grad):
        torch.testing.assert_close(gradient, wanted, atol=1e-14, rtol=0)


@every_normalizer
def test_weights_are_the_same_with_and_without_a_graph(normalize):
    scores, mask = some_scores(2, 4, 5), some_mask(2, 4, 5)
    scores[1, 1] = -torch.inf
    with torch.no_grad():
        plain = normalize(scores, mask), normalize(scores)
    assert torch.equal(plain[0], normalize(scores, mask))
    assert torch.equal(plain[1], normalize(scores))
    assert plain[0][1, 1].eq(0).all() and plain[1][1, 1].eq(0).all()


def test_vmap_of_gumbel_draws_for_each_example():
    scores = torch.zeros(64, 1, 8)
    picks = vmap(partial(ab.gumbel_softmax, hard=True), randomness="different")(scores)
    assert picks.sum(-1).eq(1).all() and picks.argmax(-1).unique().numel() > 1


@pytest.mark.parametrize("name", [name for name in NORMALIZERS if "gumbel" not in name])
def test_compiles_as_one_graph(name):
    normalize = NORMALIZERS[name]
    torch.compiler.reset()
    compiled = torch.compile(normalize, fullgraph=True, backend="aot_eager")
    scores, mask = some_scores(2, 3, 4, 5), some_mask(2, 4, 5)
    scores.masked_fill_(~mask[:, None], float("nan"))
    for got, wanted in zip(
        with_gradient(compiled, scores, mask), with_gradient(normalize, scores, mask), strict=True
    ):
        torch.testing.assert_close(got, wanted, atol=1e-14, rtol=0)


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


def test_gumbel_soft_sample_is_a_softmax_of_perturbed_scores():
    """At temperature t, log-weights differ by (score difference + noise difference) / t."""
    scores = some_scores(3, 4)
    noise = [gumbel(scores, temperature=t).log() * t - scores for t in (0.5, 1.0, 2.0)]
    for one in noise[1:]:
        difference = one - noise[0]
        torch.testing.assert_close(difference, difference[:, :1].expand_as(difference))


@every_dtype
def test_gumbel_at_a_low_temperature_nears_the_pick(dtype):
    scores = torch.tensor([[300.0, 290.0, -200.0]], dtype=dtype)
    weights, gradient = with_gradient(partial(gumbel, temperature=1e-3), scores, None)
    assert weights.tolist() == [[1.0, 0.0, 0.0]] and gradient.isfinite().all()


@pytest.mark.parametrize("temperature", [0, -1.0, float("nan")])
def test_gumbel_refuses_a_temperature(temperature):
    with pytest.raises(ValueError, match=r"temperature must be positive, got"):
        ab.gumbel_softmax(torch.ones(2, 2), temperature=temperature)
