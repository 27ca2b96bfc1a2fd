"""multihead: equal to torch and to the loop; the laws of the mask."""

import copy
from functools import partial

import pytest
import torch
from attnbook_testing.refusals import refuses
from attnbook_testing.strategies import DTYPES, masks_for, tolerance
from torch import nn

import attnbook as ab

SIZES = ((8, 1, 1), (8, 2, 2), (8, 4, 1), (8, 4, 2), (9, 3, 3))  # d_model, heads, key-value heads
POSITIONS = [(None, 4), (None, 1), (ab.RotaryPositions(2), 2), (ab.AlibiPositions(4), 2)]
both_paths = pytest.mark.parametrize("need_weights", [True, False], ids=["plain", "fused"])
every_size = pytest.mark.parametrize(("d_model", "h", "kv"), SIZES, ids=str)
close = partial(torch.testing.assert_close, atol=1e-12, rtol=0)
near = partial(torch.testing.assert_close, atol=1e-6, rtol=0)  # angles are in single precision


def normal(*shape, seed=0, dtype=torch.float64):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=random, dtype=torch.float64).to(dtype)


def heads(d_model=8, num_heads=2, *, dtype=torch.float64, seed=0, **options):
    """A module in evaluation, whose biases are not zero."""
    torch.manual_seed(seed)
    module = ab.MultiHeadAttention(d_model, num_heads, **options)
    for name, parameter in module.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(parameter)
    return module.to(dtype).eval()


def all_masks(b, h, q, k, density=0.6):
    """None and a mask of every rank and every choice of size-1 axes."""
    return [None, *masks_for((b, h, q, k), torch.Generator().manual_seed(1), density)]


def by_loop(module, queries, keys, values, mask):
    """Head after head with slices of the matrices: output and weights, no reshape anywhere."""
    d = module.d_model // module.num_heads
    outputs, weights = [], []
    for head in range(module.num_heads):
        shared = head * module.num_kv_heads // module.num_heads
        own, theirs = slice(head * d, head * d + d), slice(shared * d, shared * d + d)
        q, k, v = module.W_q(queries), module.W_k(keys), module.W_v(values)
        four = mask is not None and mask.dim() == 4
        one = mask[:, head if mask.shape[1] > 1 else 0] if four else mask
        output, weight = ab.attention(q[..., own], k[..., theirs], v[..., theirs], mask=one)
        outputs.append(output)
        weights.append(weight)
    return module.W_o(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


def copy_to_torch(module, peer):
    """Give an `nn.MultiheadAttention` our weights, whichever layout it uses."""
    ours = (module.W_q, module.W_k, module.W_v)
    with torch.no_grad():
        if peer.in_proj_weight is not None:
            peer.in_proj_weight.copy_(torch.cat([W.weight for W in ours]))
        for name, W in zip("qkv", ours, strict=True):
            if (weight := getattr(peer, f"{name}_proj_weight")) is not None:
                weight.copy_(W.weight)
        if peer.in_proj_bias is not None:
            peer.in_proj_bias.copy_(torch.cat([W.bias for W in ours]))
    peer.out_proj.load_state_dict(module.W_o.state_dict())
    return peer.eval()


# equality with others


@both_paths
@every_size
def test_equals_the_loop_over_heads(need_weights, d_model, h, kv):
    module = heads(d_model, h, num_kv_heads=kv, key_size=5, value_size=6)
    x = normal(2, 3, d_model), normal(2, 4, 5, seed=1), normal(2, 4, 6, seed=2)
    for mask in all_masks(2, h, 3, 4):
        output, weights = module(*x, mask=mask, need_weights=need_weights)
        wanted, wanted_weights = by_loop(module, *x, mask)
        close(output, wanted)
        assert (weights is not None) == need_weights
        if need_weights:
            close(weights, wanted_weights)


@pytest.mark.parametrize(("bias", "sizes"), [(True, (12, 12)), (False, (5, 6))], ids=str)
def test_equals_torch(bias, sizes):
    module = heads(12, 3, bias=bias, key_size=sizes[0], value_size=sizes[1])
    options = {"kdim": sizes[0], "vdim": sizes[1], "batch_first": True, "dtype": torch.float64}
    peer = copy_to_torch(module, nn.MultiheadAttention(12, 3, bias=bias, **options))
    x = normal(2, 3, 12), normal(2, 4, sizes[0], seed=1), normal(2, 4, sizes[1], seed=2)
    padding, causal = ab.length_mask([2, 4], 4), ab.causal_mask(3, 4)
    found = module(*x, mask=padding & causal, need_weights=True)
    theirs = {"key_padding_mask": ~padding[:, 0], "attn_mask": ~causal}
    close(tuple(found), peer(*x, average_attn_weights=False, **theirs))
    counts = [sum(p.numel() for p in m.parameters()) for m in (module, peer)]
    assert counts[0] == counts[1]


def test_shared_heads_equal_torchs_and_copied_heads():
    q, k, v = normal(2, 6, 3, 4), normal(2, 2, 5, 4, seed=1), normal(2, 2, 5, 4, seed=2)
    wanted = nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    output, _ = ab.grouped_attention(q, k, v)
    close(output, wanted)
    bias = normal(6, 3, 5, seed=3)
    for mask in all_masks(2, 6, 3, 5):
        for need_weights in (True, False):
            options = {"mask": mask, "bias": bias, "need_weights": need_weights}
            grouped = ab.grouped_attention(q, k, v, **options)
            copied = [x.repeat_interleave(3, dim=1) for x in (k, v)]
            whole = ab.grouped_attention(q, *copied, **options)
            close(grouped, whole)


# what it takes


def test_queries_alone_are_self_attention_and_keys_alone_are_their_own_values():
    module, x, y = heads(8, 2), normal(2, 3, 8), normal(2, 4, 8, seed=1)
    assert torch.equal(module(x).output, module(x, x, x).output)
    assert torch.equal(module(x, y).output, module(x, y, y).output)


@both_paths
@every_size
def test_what_is_masked_never_matters_forward_or_backward(need_weights, d_model, h, kv):
    """NaN neither, but for the projections' gradients, which meet every row of the inputs."""
    module = heads(d_model, h, num_kv_heads=kv)
    clean = [normal(2, 3, d_model), normal(2, 4, d_model, seed=1), normal(2, 4, d_model, seed=2)]
    mask = ab.length_mask([2, 3], 4) & ab.causal_mask(3, 4)
    mask[1, 0] = False  # an idle query

    def results(inputs, wanted):
        leaves = [t.clone().requires_grad_() for t in inputs]
        output, weights = module(*leaves, mask=mask, need_weights=need_weights)
        gradients = torch.autograd.grad(output.square().sum(), [*leaves, *wanted])
        with torch.no_grad():
            quiet = module(*inputs, mask=mask, need_weights=need_weights).output
        return [output, quiet, *gradients, *([weights] if need_weights else [])]

    for junk, wanted in ((1e3, [*module.parameters()]), (float("nan"), []), (float("inf"), [])):
        dirty = [x.clone() for x in clean]
        dirty[0][1, 0] = junk
        for x in dirty[1:]:
            x[0, 2:] = x[1, 3:] = junk
        got, right = results(dirty, wanted), results(clean, wanted)
        close(got, right)
        close(right[0], right[1])
        close(got[0][1, 0], module.W_o.bias)  # nothing pooled: the bias alone


@pytest.mark.parametrize("kv", [4, 2])
def test_any_normaliser_serves_and_its_weights_pool_the_values(kv):
    x, mask = 3 * normal(2, 5, 8), ab.length_mask([0, 4], 5)
    for normalize in (ab.sparsemax, partial(ab.top_k_softmax, k=2)):
        module = heads(8, 4, num_kv_heads=kv, normalize=normalize)
        output, weights = module(x, mask=mask, need_weights=True)
        queries = module.W_q(x).unflatten(-1, (4, 2)).transpose(1, 2)  # (b, h, q, d)
        keys, values = (
            W(x).unflatten(-1, (kv, 2)).transpose(1, 2).repeat_interleave(4 // kv, dim=1)
            for W in (module.W_k, module.W_v)
        )
        wanted = normalize(ab.scaled_dot(queries, keys), mask)
        close(weights, wanted)
        close(output, module.W_o((wanted @ values).transpose(1, 2).flatten(2)))
        close(module(x, mask=mask).output, output)


@both_paths
def test_a_head_taken_out_is_a_head_of_zeros(need_weights):
    module, x = heads(8, 4), normal(3, 5, 8)
    whole, weights = module(x, need_weights=need_weights)
    parts = []
    for head in range(4):
        only = torch.eye(4)[head]
        output, kept = module(x, head_mask=only, need_weights=need_weights)
        parts.append(output - module.W_o.bias)
        if need_weights:
            assert torch.equal(kept, weights)
    close(sum(parts) + module.W_o.bias, whole)
    per_row = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], dtype=torch.bool)
    output, _ = module(x, head_mask=per_row, need_weights=need_weights)
    close(output[0], whole[0] - parts[1][0])
    close(output[1], module.W_o.bias.expand(5, 8))
    close(output[2], whole[2])


@pytest.mark.parametrize(("positions", "kv"), POSITIONS, ids=str)
def test_a_cache_of_keys_and_values_equals_the_whole(positions, kv):
    module = heads(8, 4, num_kv_heads=kv, positions=copy.deepcopy(positions))
    x = normal(2, 6, 8)
    wanted = module(x, mask=ab.causal_mask(6), need_weights=True)
    past = module.project(x[:, :0])
    for start, stop in ((0, 1), (1, 2), (2, 5), (5, 6)):
        before = [t.clone() for t in past[:2]]
        grown = past.append(module.project(x[:, start:stop], offset=start))
        assert all(map(torch.equal, past[:2], before))  # a state is a value
        past, mask = grown, ab.causal_mask(stop - start, stop, offset=start)
        for need_weights in (True, False):
            options = {"mask": mask, "offset": start, "need_weights": need_weights}
            output, weights = module.attend(x[:, start:stop], past, **options)
            near(output, wanted.output[:, start:stop])
            if need_weights:
                near(weights, wanted.weights[:, :, start:stop, :stop])


def test_gradients_pass_through_every_step_of_a_cache():
    module = heads(8, 2)
    x = normal(1, 4, 8).requires_grad_()
    whole = module(x, mask=ab.causal_mask(4)).output.sum()
    past, total = module.project(x[:, :1]), 0.0
    for i in range(1, 4):
        total = total + module.attend(x[:, i - 1 : i], past).output.sum()
        past = past.append(module.project(x[:, i : i + 1]))
    total = total + module.attend(x[:, 3:], past).output.sum()
    close(*(torch.autograd.grad(y, x)[0] for y in (total, whole)))


@both_paths
@pytest.mark.parametrize("kv", [2, 4])
def test_rotary_and_alibi_see_distances_only_and_equal_a_slow_loop(need_weights, kv):
    d, x = 4, normal(1, 5, 16)
    rotary = heads(16, 4, num_kv_heads=kv, positions=ab.RotaryPositions(d))
    here = rotary.attend(x, rotary.project(x), need_weights=need_weights)
    near(rotary.attend(x, rotary.project(x, offset=9), offset=9, need_weights=need_weights), here)
    assert not torch.allclose(here.output, heads(16, 4, num_kv_heads=kv)(x).output, atol=1e-3)

    alibi = heads(16, 4, num_kv_heads=kv, positions=ab.AlibiPositions(4))
    output, weights = alibi(x, mask=ab.causal_mask(5), need_weights=need_weights)
    queries, keys = alibi.W_q(x)[0], alibi.W_k(x)[0]
    pooled = torch.zeros(5, 16, dtype=torch.float64)
    for head, slope in enumerate(ab.alibi_slopes(4).tolist()):
        shared, own = head * kv // 4, slice(head * d, head * d + d)
        theirs = slice(shared * d, shared * d + d)
        for i in range(5):
            scores = [queries[i, own] @ keys[j, theirs] / 2 - slope * (i - j) for j in range(i + 1)]
            row = torch.stack(scores).softmax(dim=0)
            pooled[i, own] = row @ alibi.W_v(x)[0, : i + 1, theirs]
            if need_weights:
                near(weights[0, head, i, : i + 1], row)
    near(output[0], alibi.W_o(pooled))


# dtypes and dropout


@pytest.mark.parametrize(("positions", "kv"), POSITIONS[1:], ids=str)
def test_every_dtype_is_kept_and_near_double_and_so_under_autocast(positions, kv):
    x, mask = normal(2, 5, 8) / 2, ab.length_mask([3, 5], 5)
    module = heads(8, 4, num_kv_heads=kv, positions=copy.deepcopy(positions))
    wanted = module(x, mask=mask).output
    for dtype in DTYPES:
        other = copy.deepcopy(module).to(dtype)
        for need_weights in (True, False):
            output, weights = other(x.to(dtype), mask=mask, need_weights=need_weights)
            assert output.dtype == dtype and (weights is None or weights.dtype == dtype)
            slack = max(tolerance(dtype, 16), 1e-6)
            close(output.double(), wanted, atol=slack, rtol=slack)
    module, x = module.float(), x.float()
    older = module.project(x[:, :4])  # made in single precision, outside
    wanted = module(x, mask=ab.causal_mask(5)).output
    with torch.autocast("cpu", dtype=torch.bfloat16):
        memory = older.append(module.project(x[:, 4:], offset=4))
        for need_weights in (True, False):
            whole = module(x, mask=ab.causal_mask(5), need_weights=need_weights).output
            last = module.attend(x[:, 4:], memory, offset=4, need_weights=need_weights).output
            close(whole.float(), wanted, atol=0.05, rtol=0)
            close(last.float(), wanted[:, 4:], atol=0.05, rtol=0)


@both_paths
def test_dropout_drops_weights_in_training_only(need_weights):
    torch.manual_seed(0)
    module, x = heads(4, 1, dropout=0.25), normal(1, 1, 4)
    whole = module(x, need_weights=need_weights).output
    assert torch.equal(module(x, need_weights=need_weights).output, whole)
    module.train()  # one key has all the weight: it comes back 4 / 3 as large, or not at all
    drawn = [module(x, need_weights=need_weights).output for _ in range(400)]
    large = module.W_o.bias + (whole - module.W_o.bias) / 0.75
    kept = [torch.allclose(output, large) for output in drawn]
    assert all(k or torch.allclose(o, module.W_o.bias) for k, o in zip(kept, drawn, strict=True))
    assert abs(sum(kept) / 400 - 0.75) < 0.17  # Hoeffding: p < 1e-9


# numbers of parameters, and errors


@every_size
def test_parameters_are_there_before_the_first_call(d_model, h, kv):
    count = sum(p.numel() for p in heads(d_model, h, num_kv_heads=kv, bias=False).parameters())
    assert count == 2 * d_model**2 + 2 * d_model * (d_model // h * kv)
    whole = [sum(p.numel() for p in heads(12, n).parameters()) for n in (1, 2, 3, 4, 6, 12)]
    assert set(whole) == {4 * 12**2 + 4 * 12}  # however many heads


def test_what_cannot_be_built_says_so():
    named = partial(refuses, ValueError)
    named("num_heads must divide d_model, 10, got 3", heads, 10, 3)
    named("num_heads must be at least 1, got 0", heads, 8, 0)
    refuses(TypeError, "num_heads must be an int, got float", heads, 8, 2.0)
    named("num_kv_heads must divide", heads, 12, 6, num_kv_heads=4)
    named("dropout must be", heads, 8, 2, dropout=1.0)
    named("key_size must be at least 1", heads, 8, 2, key_size=0)
    named("must turn d = 4", heads, 8, 2, positions=ab.RotaryPositions(8))
    named("slope for each of 2", heads, 8, 2, positions=ab.AlibiPositions(4))
    refuses(TypeError, "positions must be", heads, 8, 2, positions=ab.SinusoidalPositions(8))
    refuses(TypeError, "normalize must be callable", heads, 8, 2, normalize="softmax")


@pytest.mark.parametrize("kv", [2, 4])
def test_bad_input_is_named(kv):
    module, x = heads(8, 4, num_kv_heads=kv), normal(2, 3, 8)
    named = partial(refuses, ValueError)
    named(r"queries must be \(b, n, 8\)", module, normal(3, 8))
    named(r"keys must be \(b, n, 8\)", module, x, normal(2, 4, 7))
    named("values must be", module, x, normal(2, 4, 8), normal(2, 4, 7))
    named("values must be", module, x, normal(2, 4, 8), normal(2, 5, 8))
    named("batch axes", module, x, normal(1, 4, 8))
    for shape in ((2, 3), (4, 3, 3)):
        named("does not fit", module, x, mask=torch.ones(shape).bool())
    named("mask must be", module, x, mask=torch.ones(3).bool())
    refuses(TypeError, "mask must be boolean", module, x, mask=torch.ones(3, 3))
    named("head_mask must be", module, x, head_mask=torch.ones(2))
    refuses(TypeError, "head_mask must be", module, x, head_mask=[1, 1, 1, 1])
    refuses(TypeError, "floating point", module, torch.zeros(2, 3, 8, dtype=torch.int64))
