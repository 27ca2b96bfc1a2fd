"""Cheap choices: loops, laws, dense attention where everything is kept, refusals."""

import math

import pytest
import torch
from attnbook_testing import references
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, cases, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

import attnbook as ab
from attnbook import key_blocks

few = settings(max_examples=30)
AXES, BOOLS = st.sampled_from([(), (2,), (2, 3)]), st.booleans()
SIZES, KEEPS = st.integers(1, 6), st.integers(1, 4)


def drawn(*shape, seed=0):
    chance = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=chance, dtype=torch.float64) for _ in "qkv"]


def close(a, b, slack=1e-12):
    torch.testing.assert_close(a, b, atol=slack, rtol=0)


def dense(queries, keys, values, mask=None):
    return ab.attention(queries, keys, values, mask=mask)[0]


def open_pairs(case, causal):
    """(b, h, q, k) of what each query may see, pair by pair."""
    b, h, q, k = references.four_axes(case.scores).shape
    pairs = torch.zeros(b, h, q, k, dtype=torch.bool)
    for place in torch.cartesian_prod(*map(torch.arange, (b, h, q, k))).tolist():
        late = causal and place[3] > place[2]
        pairs[tuple(place)] = references.may_attend(case.mask, *place) and not late
    return pairs


def slow_blocks(case, block, keep, causal):
    """What `mean_key_blocks` keeps, one query after the other."""
    queries, keys = references.four_axes(case.queries), references.four_axes(case.keys)
    pairs = open_pairs(case, causal)
    kept = torch.zeros_like(pairs)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, pairs.shape[:3])).tolist():
        found = []
        for start in range(0, keys.shape[2], block):
            places = range(start, min(start + block, keys.shape[2]))
            rows = [keys[b, h, j] for j in places if pairs[b, h, i, j]]
            if rows:
                own = causal and i in places
                fit = math.inf if own else float(queries[b, h, i] @ (sum(rows) / len(rows)))
                found.append((-fit, start, places))
        for _, _, places in sorted(found, key=lambda one: one[:2])[:keep]:
            for j in places:
                kept[b, h, i, j] = pairs[b, h, i, j]
    return kept.reshape(case.scores.shape)


@few
@given(cases(least=1), SIZES, KEEPS, BOOLS)
def test_mean_key_blocks_is_a_slow_loop(case, block, keep, causal):
    if causal and case.queries.shape[-2] != case.keys.shape[-2]:
        causal = False
    got = ab.mean_key_blocks(
        case.queries, case.keys, block=block, keep=keep, causal=causal, mask=case.mask
    )
    assert torch.equal(got, slow_blocks(case, block, keep, causal))


MASKS = {
    "causal": ab.causal_mask(10),
    "a causal window": ab.window_mask(10, 10, 4, causal=True),
    "any": torch.rand(3, 10, 10, generator=torch.Generator().manual_seed(0)) < 0.4,
    "keys": ab.length_mask([10, 6, 1], 10),
    "both": ab.length_mask([10, 6, 1], 10) & ab.causal_mask(10),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block", [1, 3, 4, 10])
def test_a_key_that_a_query_may_not_see_has_no_say_in_its_choice(mask, causal, block):
    """Whatever the mask, a score has no slope in a key outside, and no other choice follows."""
    queries, keys, _ = drawn(3, 10, 2)
    open_ = (mask & ab.causal_mask(10) if causal else mask).expand(3, 10, 10)
    options = {"block": block, "causal": causal, "mask": mask}

    def scores(keys):
        return ab.mean_key_scores(queries, keys, **options)

    slopes = torch.autograd.functional.jacobian(scores, keys)  # (b, q, blocks, b, k, d)
    own = torch.stack([slopes[b, :, :, b] for b in range(3)])
    assert not own.abs().sum((2, 4))[~open_].any()
    kept = ab.mean_key_blocks(queries, keys, keep=2, **options)
    assert not (kept & ~open_).any() and kept.any()
    for place in range(10):
        others = keys.clone()
        others[:, place] += 9
        changed = ab.mean_key_blocks(queries, others, keep=2, **options)
        assert torch.equal(changed[~open_[..., place]], kept[~open_[..., place]])


@few
@given(AXES, st.integers(1, 11), SIZES, KEEPS, BOOLS, BOOLS, st.integers(0, 9))
def test_block_attention_is_masked_dense_attention(axes, n, block, keep, causal, padded, seed):
    inputs = [x.requires_grad_() for x in drawn(*axes, n, 4, seed=seed)]
    chance = torch.Generator().manual_seed(seed)
    mask = torch.rand(*axes, 1, n, generator=chance) < 0.5 if padded else None
    options = {"block": block, "causal": causal, "mask": mask}
    kept = ab.mean_key_blocks(*inputs[:2], keep=keep, **options)
    chosen = ab.best_blocks(ab.mean_key_scores(*inputs[:2], **options), keep)
    got, wanted = ab.block_attention(*inputs, chosen, **options), dense(*inputs, kept)
    close(got, wanted, 1e-9)
    into = torch.randn(got.shape, dtype=got.dtype, generator=chance)
    pairs = zip(*(torch.autograd.grad(x, inputs, into) for x in (got, wanted)), strict=True)
    assert all(torch.allclose(a, b, atol=1e-9) for a, b in pairs)


def test_block_attention_with_more_keys_than_queries_and_values_of_another_size():
    queries, keys, values = (torch.randn(2, n, d).double() for n, d in ((3, 4), (10, 4), (10, 5)))
    chosen = torch.tensor([[3, 0], [1, 2], [0, 1]]).expand(2, 3, 2)
    kept = torch.zeros(2, 3, 4, dtype=torch.bool).scatter(-1, chosen, True)
    kept = kept.repeat_interleave(3, -1)[..., :10]
    close(ab.block_attention(queries, keys, values, chosen, 3), dense(queries, keys, values, kept))
    nothing = ab.block_attention(queries, keys[:, :0], values[:, :0], chosen[..., :0], 3)
    assert torch.equal(nothing, torch.zeros(2, 3, 5).double())
    assert ab.block_attention(queries[:, :0], keys, values, chosen[:, :0], 3).shape == (2, 0, 5)


def test_block_attention_scores_what_it_keeps(monkeypatch):
    """No more pairs than the chosen blocks hold, and none of a block after the query."""
    scored = []

    def watched(scores):
        scored.append(scores.numel())
        return ab.masked_softmax(scores)

    monkeypatch.setattr(key_blocks, "masked_softmax", watched)
    n, block, keep = 64, 8, 2
    queries, keys, values = drawn(n, 4)
    scores = ab.mean_key_scores(queries, keys, block=block, causal=True)
    ab.block_attention(
        queries, keys, values, ab.best_blocks(scores, keep), block=block, causal=True
    )
    assert sum(scored[:-1]) == (n * keep - block) * block  # the first block has one to choose


@few
@given(AXES, st.integers(1, 9), st.integers(0, 9))
def test_each_is_dense_attention_where_it_keeps_everything(axes, n, seed):
    queries, keys, values = drawn(*axes, n, 4, seed=seed)
    wanted, causal = dense(queries, keys, values), ab.causal_mask(n)
    one_bucket = torch.zeros(2, 4, 3, dtype=torch.float64)
    centres = ab.k_means(keys.reshape(-1, 4), min(3, n), steps=2)
    scores = ab.Indexer(4, 4, 2, 3).double()(queries, keys)
    for kept in (
        ab.mean_key_blocks(queries, keys, block=2, keep=n),
        ab.mean_key_blocks(queries, keys, block=n, keep=1),
        ab.same_bucket(*(ab.hash_codes(x, one_bucket) for x in (queries, keys))),
        ab.same_cluster(queries, keys, centres, nearest=3),
        ab.keep_best(scores, n),
    ):
        close(dense(queries, keys, values, kept), wanted)
    kept = ab.mean_key_blocks(queries, keys, block=2, keep=n, causal=True)
    assert torch.equal(kept, causal.expand_as(kept))
    close(dense(queries, *ab.BlockPool(4, 1).double()(keys, values)), wanted)


@pytest.mark.parametrize("branch", [0, 1, 2])
@pytest.mark.parametrize("padded", [False, True])
def test_one_branch_alone(branch, padded):
    """The gates open one branch: blocks of one are all keys, and so are all blocks, a window."""
    queries, keys, values = drawn(2, 7, 4)
    mask = ab.length_mask([7, 4], 7) if padded else None
    node = ab.ThreeBranches(
        4,
        block=1 if branch == 0 else 3,
        keep=9 if branch == 1 else 1,
        width=7 if branch == 2 else 1,
    ).double()
    with torch.no_grad():
        node.gate.weight.zero_()
        node.gate.bias.fill_(-1e4)[branch] = 1e4
    found = node(queries, keys, values, mask=mask)
    before = ab.causal_mask(7)[None] if mask is None else ab.causal_mask(7) & mask
    close(found.output, dense(queries, keys, values, before))
    assert torch.equal(found.gates, torch.eye(3).double()[branch].expand(2, 7, 3))
    if branch:
        assert torch.equal(found.kept, before.expand_as(found.kept))
    else:  # one's own place, and nothing else, was looked at by itself
        assert torch.equal(found.kept[0], torch.eye(7, dtype=torch.bool))


def test_three_branches_by_hand():
    """Blocks of two, one selected beside one's own, a window of two, as loops say it."""
    torch.manual_seed(0)
    n, queries, keys, values = 7, *drawn(7, 4, seed=1)
    node = ab.ThreeBranches(4, block=2, keep=2, width=2).double()
    with torch.no_grad():
        node.pool.query.normal_()
        node.pool.place.normal_()
    found = node(queries, keys, values)
    logits = keys @ node.pool.query / 2
    blocks = []
    for start in range(0, n - 1, 2):
        share = (logits[start : start + 2] + node.pool.place).softmax(0)
        blocks.append((share @ keys[start : start + 2], share @ values[start : start + 2]))
    for i in range(n):
        whole = [b for b in range(3) if 2 * b + 1 <= i]
        fits = torch.stack([queries[i] @ blocks[b][0] for b in whole]) if whole else torch.zeros(0)
        coarse = sum(w * blocks[b][1] for w, b in zip((fits / 2).softmax(0), whole, strict=True))
        others = {b: f for b, f in zip(whole, fits, strict=True) if b != i // 2}
        chosen = {i // 2, max(others, key=others.get)} if others else {i // 2}
        selected = torch.tensor([j // 2 in chosen and j <= i for j in range(n)])
        near = torch.tensor([i - 1 <= j <= i for j in range(n)])
        assert torch.equal(found.kept[i], selected | near)
        gates = (node.gate.weight @ queries[i] + node.gate.bias).sigmoid()
        fine, local = (
            dense(queries[i : i + 1], keys, values, m[None])[0] for m in (selected, near)
        )
        close(found.gates[i], gates)
        close(found.output[i], gates[0] * coarse + gates[1] * fine + gates[2] * local)


def test_three_branches_see_nothing_later_and_train_every_part():
    queries, keys, values = drawn(2, 9, 4)
    node = ab.ThreeBranches(4, block=2, keep=2, width=2).double()
    first = node(queries, keys, values).output
    first.square().sum().backward()
    assert all(p.grad.abs().max() > 0 for p in node.parameters())
    later = [x.clone() for x in (queries, keys, values)]
    for x in later:
        x[:, 5:] = torch.randn(2, 4, 4).double()
    close(node(*later).output[:, :5], first[:, :5])


def test_what_is_masked_does_not_matter():
    """Padding holds NaN: no mean, no choice and no gradient knows it, and it takes no place."""
    queries, keys, values = drawn(2, 8, 4)
    mask = ab.length_mask([8, 5], 8)
    node = ab.ThreeBranches(4, block=3, keep=2, width=2).double()

    def all_of_them():
        kept = ab.mean_key_blocks(queries, keys, block=3, keep=1, mask=mask)
        scores = ab.mean_key_scores(queries, keys, block=3, mask=mask)
        chosen = ab.best_blocks(scores, 1)
        best = ab.keep_best(ab.scaled_dot(queries, keys), 2, mask)
        out = ab.block_attention(queries, keys, values, chosen, 3, mask=mask)
        return [kept, best, out, *node(queries, keys, values, mask=mask)]

    clean = all_of_them()
    for x in (keys, values):
        x[1, 5:] = torch.nan
    assert all(map(torch.equal, clean, all_of_them()))
    assert (ab.mean_key_scores(queries, keys, block=3, mask=mask)[1, :, 2] == -torch.inf).all()
    assert (clean[1].sum(-1) == 2).all() and not (clean[0] & ~mask).any()
    short = ab.mean_key_blocks(queries[1:], keys[1:, :5], block=3, keep=1)
    assert torch.equal(clean[0][1:, :, :5], short)
    nobody = torch.zeros(2, 1, 8, dtype=torch.bool)
    queries[:], keys[:] = torch.nan, torch.nan
    assert node(queries, keys, values, mask=nobody).output.eq(0).all()
    out = ab.block_attention(queries, keys, values, clean[0].long()[..., :1], 3, mask=nobody)
    assert out.eq(0).all()


def test_block_means_and_ties_by_hand():
    keys = torch.tensor([[1.0, 0], [3, 2], [0, 4], [2, 2], [5, 5]])
    close(ab.block_means(keys, 2), torch.tensor([[2.0, 1], [1, 3], [5, 5]]))
    used = torch.tensor([True, False, False, False, True])
    close(ab.block_means(keys, 2, used), torch.tensor([[1.0, 0], [0, 0], [5, 5]]))
    assert ab.best_blocks(torch.tensor([[1.0, 2, 2, 2, 0]]), 2).tolist() == [[1, 2]]
    kept = ab.keep_blocks(torch.tensor([[1.0, 1, 1]]), 2, 2, 5)
    assert kept.tolist() == [[True, True, True, True, False]]
    seen = torch.tensor([[False, False, True, False, True]])  # the first block takes no place
    assert torch.equal(ab.keep_blocks(torch.tensor([[1.0, 1, 1]]), 2, 2, 5, seen), seen)


@few
@given(AXES, st.integers(0, 6), SIZES, st.integers(1, 3), st.integers(0, 9))
def test_codes_are_the_nearest_of_the_rotated_axes(axes, n, rounds, half, seed):
    (x, _, _), chance = drawn(*axes, n, 4, seed=seed), torch.Generator().manual_seed(seed)
    rotations = torch.randn(rounds, 4, half, generator=chance, dtype=torch.float64)
    codes = ab.hash_codes(x, rotations)
    assert codes.shape == (*axes, n, rounds) and torch.equal(codes, ab.hash_codes(5 * x, rotations))
    directions = torch.cat((rotations, -rotations), -1)  # (rounds, d, buckets)
    for r in range(rounds):
        assert torch.equal(codes[..., r], (x @ directions[r]).argmax(-1))
    opposite = ab.hash_codes(-x, rotations)
    assert ((codes - opposite).abs() == half).all()
    kept = ab.same_bucket(codes, codes)
    pairs = [codes[..., r, None] == codes[..., None, :, r] for r in range(rounds)]
    assert torch.equal(kept, torch.stack(pairs).any(0))
    assert not (ab.same_bucket(codes[..., :1], codes[..., :1]) & ~kept).any()  # a round more


def test_k_means_finds_what_is_apart_and_moves_downhill():
    chance = torch.Generator().manual_seed(3)
    middles = torch.tensor([[0.0, 0], [9, 0], [0, 9]])
    x = middles.repeat(20, 1) + 0.1 * torch.randn(60, 2, generator=chance)
    losses = []
    for steps in (0, 1, 2, 5):
        centres = ab.k_means(x, 3, steps=steps, generator=torch.Generator().manual_seed(1))
        losses.append(torch.cdist(x, centres).amin(-1).square().sum())
    assert losses == sorted(losses, reverse=True)
    order = torch.cdist(middles, centres).argmin(-1)
    close(centres[order], x.unflatten(0, (20, 3)).mean(0), 1e-5)
    kept = ab.same_cluster(middles, x, centres)
    assert torch.equal(kept, torch.arange(60) % 3 == torch.arange(3)[:, None])
    again = ab.k_means(x, 60, generator=torch.Generator().manual_seed(2))
    assert torch.equal(again.sort(0).values, x.sort(0).values)
    same = ab.k_means(torch.ones(4, 2), 3)  # two of them are nearest to nothing
    assert torch.equal(same, torch.ones(3, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_clusters_are_found_in_short_numbers_and_far_from_the_origin(dtype):
    """Two crowds whose sums are beyond half precision; moved far away they stay what they are."""
    chance = torch.Generator().manual_seed(0)
    home = torch.arange(4000) % 2
    x = (64.0 * home[:, None] + 8 * torch.rand(4000, 3, generator=chance)).to(dtype)
    far = 0.25 / torch.finfo(dtype).eps  # a quarter is the least step there
    for moved in (x, (x + far).to(dtype)):
        centres = ab.k_means(moved, 2, generator=torch.Generator().manual_seed(1))
        order = centres[:, 0].argsort()
        wanted = torch.stack([moved[home == c].double().mean(0) for c in (0, 1)])
        torch.testing.assert_close(centres[order], wanted.to(dtype))
        kept = ab.same_cluster(moved[:2], moved, centres)
        assert torch.equal(kept, home == torch.arange(2)[:, None])


@few
@given(AXES, st.integers(1, 4), st.integers(0, 9))
def test_clusters_are_those_of_the_nearest_centre(axes, nearest, seed):
    queries, keys, _ = drawn(*axes, 6, 3, seed=seed)
    centres = drawn(4, 3, seed=seed + 1)[0]
    home = torch.cdist(keys, centres).argmin(-1)
    order = torch.cdist(queries, centres).argsort(-1)[..., :nearest]
    wanted = (order[..., :, None, :] == home[..., None, :, None]).any(-1)
    assert torch.equal(ab.same_cluster(queries, keys, centres, nearest=nearest), wanted)


@pytest.mark.parametrize("activation", [torch.relu, torch.tanh])
@pytest.mark.parametrize("bias", [False, True])
def test_the_indexer_is_its_sum(activation, bias):
    torch.manual_seed(0)
    indexer = ab.Indexer(4, 5, heads=3, size=2, activation=activation, bias=bias)
    queries, keys = torch.randn(2, 3, 4), torch.randn(2, 6, 5)
    got = indexer(queries, keys)
    wanted = torch.zeros(2, 3, 6)
    weights, small = indexer.W_w(queries), indexer.W_k(keys)
    for h in range(3):
        asked = queries @ indexer.W_q.weight[2 * h : 2 * h + 2].T
        wanted += weights[..., h : h + 1] * activation(asked @ small.mT / 2**0.5)
    close(got, wanted, 1e-5)
    assert (indexer.W_w.bias is not None) == bias
    assert not bias or indexer.W_w.bias.eq(1).all()
    node = ab.SelectiveNode(indexer, keep=2, score=ab.constant)
    found = node(queries, keys, torch.randn(2, 6, 3))
    assert torch.equal(found.kept, ab.keep_best(got, 2)) and (found.kept.sum(-1) == 2).all()


@few
@given(cases(least=1), KEEPS)
def test_keep_best_keeps_the_best_that_are_allowed(case, keep):
    kept = ab.keep_best(case.scores, keep, case.mask)
    plain = ab.masked_softmax(case.scores, case.mask)
    assert torch.equal(kept, ab.top_k_softmax(case.scores, case.mask, k=keep) > 0)
    assert torch.equal(kept.sum(-1), (plain > 0).sum(-1).clamp(max=keep))


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_every_precision(dtype):
    wide = drawn(2, 8, 4)
    queries, keys, values = (x.to(dtype) for x in wide)
    chosen = ab.best_blocks(ab.mean_key_scores(*wide[:2], block=3, causal=True), 2)
    outputs = [
        ab.block_attention(queries, keys, values, chosen, 3, causal=True),
        ab.block_means(keys, 3),
        *ab.BlockPool(4, 3).to(dtype)(keys, values),
    ]
    wanted = [
        ab.block_attention(*wide, chosen, 3, causal=True),
        *(ab.block_means(wide[i], 3) for i in (1, 1, 2)),
    ]
    for one, two in zip(outputs, wanted, strict=True):
        assert one.dtype == dtype
        close(one.double(), two, 4 * tolerance(dtype))
    node = ab.ThreeBranches(4, block=3, keep=2, width=2).to(dtype)
    rotations = torch.randn(2, 4, 3, dtype=dtype)
    assert node(queries, keys, values).output.dtype == dtype
    assert ab.hash_codes(queries, rotations).dtype == torch.int64
    centres = ab.k_means(keys[0], 3)
    assert centres.dtype == dtype
    assert ab.same_cluster(queries, keys, centres).shape == (2, 8, 8)
    many = torch.full((3000, 1), 30.0, dtype=dtype)  # their sum is beyond half precision
    close(ab.block_means(many, 3000).double(), torch.full((1, 1), 30.0).double(), 1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_product_beyond_half_precision_is_scaled_before_it_is_taken(dtype):
    large = torch.full((1, 100), 30.0, dtype=dtype)  # 90,000, and 9,000 when scaled
    indexer, relevance = ab.Indexer(100, 100, 1, 100).to(dtype), ab.Relevance(100, 100, 100)
    relevance, pool = relevance.to(dtype), ab.BlockPool(100, 1).to(dtype)
    with torch.no_grad():
        for linear in (indexer.W_q, indexer.W_k, relevance.W_q, relevance.W_k):
            torch.nn.init.eye_(linear.weight)
        indexer.W_w.weight.zero_()
        pool.query.fill_(30.0)
        for scores in (indexer(large, large), relevance(large, large)):
            assert scores.item() == pytest.approx(9000, rel=0.01)
        assert torch.equal(pool(large, large)[0], large)


def test_nothing_changes_its_arguments():
    queries, keys, _ = given_ = drawn(2, 8, 4)
    mask, scores = ab.length_mask([8, 5], 8), torch.randn(2, 8, 3)
    chosen = ab.best_blocks(scores, 2)
    before = [x.clone() for x in (*given_, mask, scores, chosen)]
    ab.mean_key_blocks(queries, keys, block=3, keep=2, causal=True, mask=mask)
    ab.block_attention(*given_, chosen, 3, causal=True, mask=mask)
    ab.ThreeBranches(4, block=3, keep=2, width=2).double()(*given_, mask=mask)
    ab.keep_blocks(scores, 1, 3, 8, mask)
    ab.same_cluster(queries, keys, ab.k_means(keys[0], 2))
    assert all(map(torch.equal, before, (*given_, mask, scores, chosen)))


def test_what_does_not_fit_is_refused():
    queries, keys, values = drawn(2, 6, 4)
    chosen = torch.zeros(2, 6, 1, dtype=torch.int64)
    rows = torch.ones(6, 6, dtype=torch.bool)

    def run(chosen=chosen, keys=keys, values=values, **options):
        return ab.block_attention(queries, keys, values, chosen, 3, **options)

    refuses(ValueError, "block must be at least 1, got 0", ab.block_means, keys, 0)
    refuses(ValueError, r"keys must be \(\.\.\., k, d\)", ab.block_means, keys[0, 0], 2)
    refuses(TypeError, "keys must be floating", ab.block_means, keys.long(), 2)
    refuses(ValueError, r"used must be boolean \(2, 6\)", ab.block_means, keys, 2, rows)
    refuses(ValueError, "keep must be at least 1", ab.best_blocks, queries, 0)
    refuses(ValueError, r"block_scores must be \(\.\.\., q, 3\)", ab.keep_blocks, queries, 1, 2, 6)
    refuses(ValueError, "keep must be at least 1", ab.keep_best, queries, 0)
    refuses(TypeError, "scores must be floating", ab.keep_best, chosen, 1)
    refuses(
        ValueError,
        "keys must be as many as queries if causal, 6, got 5",
        *(ab.mean_key_scores, queries, keys[:, :5]),
        **{"block": 2, "causal": True},
    )
    refuses(TypeError, "chosen must be an int64.*float64", run, queries)
    refuses(ValueError, r"chosen must be \(2, 6, 'keep'\), got \(6, 1\)", run, chosen[0])
    refuses(ValueError, "different numbers from 0 to 1", run, chosen + 2)
    refuses(ValueError, "different numbers from 0 to 1", run, chosen - 1)
    refuses(ValueError, "different numbers from 0 to 1", run, chosen.repeat(1, 1, 2))
    refuses(ValueError, r"mask must have one row for all queries", run, mask=rows)
    refuses(ValueError, "as many as queries", run, keys=keys[:, :5], values=values[:, :5], causal=1)
    refuses(ValueError, r"rotations \(rounds, d, half\)", ab.hash_codes, queries, keys[..., :3])
    refuses(ValueError, r"key_codes \(\.\.\., k, rounds\)", ab.same_bucket, chosen, chosen[..., :0])
    refuses(ValueError, r"x must be \(n, d\)", ab.k_means, keys, 2)
    refuses(ValueError, "clusters must be 1 to 6, got 7", ab.k_means, keys[0], 7)
    refuses(ValueError, r"centres must be \(clusters, 4\)", ab.same_cluster, queries, keys, keys)
    centres = keys[0, :2]
    refuses(ValueError, "nearest must be at", ab.same_cluster, queries, keys, centres, nearest=0)
    refuses(ValueError, "heads must be at least 1", ab.Indexer, 4, 4, 0, 2)
    refuses(ValueError, "task must be None", ab.Indexer(4, 4, 1, 2), queries, keys, keys)
    refuses(ValueError, "block must be at least 1", ab.BlockPool, 4, 0)
    refuses(ValueError, "width must be at", ab.ThreeBranches, 4, block=2, keep=1, width=0)
    node = ab.ThreeBranches(4, block=2, keep=1, width=1).double()
    refuses(ValueError, "as many as queries", node, queries, keys[:, :5], values[:, :5])
    refuses(ValueError, "mask must have one row", node, queries, keys, values, mask=rows)
