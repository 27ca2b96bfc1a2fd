"""The table "Other people's conventions" of book/notation.md, for torch and d2l, row by row."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import attnbook as ab


@pytest.fixture
def case():
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(2, 3, 8, generator=generator)
    keys = torch.randn(2, 5, 8, generator=generator)
    mask = ab.length_mask([2, 4], 5).expand(2, 3, 5)
    return queries, keys, mask


def test_scaled_dot_product_attention_takes_our_mask(case):
    queries, keys, mask = case
    ours, _ = ab.attention(queries, keys, keys, mask=mask)
    torch.testing.assert_close(
        F.scaled_dot_product_attention(queries, keys, keys, attn_mask=mask), ours
    )
    heads = [x.unsqueeze(1).expand(-1, 2, -1, -1) for x in (queries, keys)]  # (b, h, n, d)
    over_heads = F.scaled_dot_product_attention(*heads, heads[1], attn_mask=mask.unsqueeze(1))
    torch.testing.assert_close(over_heads[:, 1], ours)


def test_float_mask_is_added(case):
    queries, keys, mask = case
    added = torch.where(mask, 0.0, -torch.inf)
    ours, _ = ab.attention(queries, keys, keys, mask=mask)
    torch.testing.assert_close(
        F.scaled_dot_product_attention(queries, keys, keys, attn_mask=added), ours
    )


@pytest.mark.parametrize("argument", ["attn_mask", "key_padding_mask"])
def test_multihead_attention_wants_the_opposite(case, argument):
    queries, keys, mask = case
    peer = nn.MultiheadAttention(8, 1, bias=False, batch_first=True).eval()
    with torch.no_grad():
        peer.in_proj_weight.copy_(torch.eye(8).repeat(3, 1))
        peer.out_proj.weight.copy_(torch.eye(8))
    given = ~mask if argument == "attn_mask" else ~mask[:, 0]
    output, weights = peer(queries, keys, keys, **{argument: given})
    ours, our_weights = ab.attention(queries, keys, keys, mask=mask)
    torch.testing.assert_close(output, ours)
    torch.testing.assert_close(weights, our_weights)


def test_multihead_attention_gives_nan_where_nothing_is_allowed(case):
    queries, keys, _ = case
    peer = nn.MultiheadAttention(8, 1, batch_first=True)
    output, _ = peer(queries, keys, keys, key_padding_mask=torch.ones(2, 5, dtype=torch.bool))
    assert output.isnan().all()
