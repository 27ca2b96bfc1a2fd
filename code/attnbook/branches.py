"""Causal attention in three branches: compressed blocks, selected blocks, a window.

Shape letters: `n` queries and as many keys, `d` features. A block is `block` neighbouring keys; the
last one may have fewer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ._checks import check_sizes
from .attention import _checked, _without_unused, attention
from .key_blocks import _check_one_row, _cut, _members, _same_length, keep_blocks
from .masks import causal_mask, window_mask
from .normalize import masked_softmax


class BlockPool(nn.Module):
    """Compress each block to one key and one value, by learned weights within the block.

    The weights are the softmax of key . query / sqrt(size) + place, with a learned query and a
    learned number for each place. Both start at 0: then it is the mean.

    Shapes: keys (..., k, size), values (..., k, d_v), used (..., k) as in `block_means`
    -> compressed keys (..., blocks, size) and values (..., blocks, d_v).

    Args:
        size: features of a key.
        block: keys in a block.

    Source: after Yuan et al. 2025 (NSA), section 3.3.1, whose compression is a small network.
    """

    def __init__(self, size: int, block: int):
        super().__init__()
        self.block, size = check_sizes(block=block, size=size)
        self.query = nn.Parameter(torch.zeros(size))
        self.place = nn.Parameter(torch.zeros(block))

    def forward(
        self, keys: Tensor, values: Tensor, used: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        inside = _members(keys, self.block, used)  # (..., blocks, block)
        open_ = inside.unsqueeze(-1)
        keys, values = (torch.where(open_, _cut(x, self.block), 0.0) for x in (keys, values))
        logits = keys @ (self.query / math.sqrt(len(self.query))) + self.place
        weights = masked_softmax(torch.where(inside, logits, -torch.inf)).unsqueeze(-2)
        return (weights @ keys).squeeze(-2), (weights @ values).squeeze(-2)


class Branches(NamedTuple):
    """What `ThreeBranches` gives.

    `output` (..., n, d_v). `kept` (..., n, n), boolean: pairs that were attended to one by one, in
    a selected block or in the window; beside them the output depends on the compressed blocks
    before the query. `gates` (..., n, 3): compressed, selected, window.
    """

    output: Tensor
    kept: Tensor
    gates: Tensor


class ThreeBranches(nn.Module):
    """Causal attention in three ways at once: compressed blocks, selected blocks, a window.

    Each query weighs the three outputs by gates of its own. The blocks to select are those with
    the largest weights in the compressed branch, and the query's own.

    Shapes: queries, keys (..., n, size), values (..., n, d_v), mask of keys alone (..., 1, n)
    -> `Branches`.

    Args:
        size: features of a query, and of a key.
        block: keys in a block.
        keep: how many blocks are selected, one's own included.
        width: keys in the window, one's own included.

    Source: Yuan et al. 2025 (NSA), sections 3.2 and 3.3. There each branch has keys and
    values of its own, and heads of a group select together.
    """

    def __init__(self, size: int, *, block: int, keep: int, width: int):
        super().__init__()
        self.pool = BlockPool(size, block)
        self.gate = nn.Linear(size, 3)
        self.keep, self.width = check_sizes(keep=keep, width=width)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, *, mask: Tensor | None = None
    ) -> Branches:
        allowed = _checked(queries, keys, values, mask, 0.0)
        n, block = queries.shape[-2], self.pool.block
        _same_length(n, keys.shape[-2])
        before, used = causal_mask(n, device=keys.device), None
        if allowed is not None:
            _check_one_row(allowed, mask, n)  # a block's key and value are the same for all queries
            queries, keys, values = _without_unused(queries, keys, values, allowed)
            used = allowed.squeeze(-2).expand(keys.shape[:-1])
            before = before & allowed
        place = torch.arange(n, device=keys.device).unsqueeze(-1)
        ends = torch.arange(block - 1, -(-n // block) * block, block, device=keys.device)
        seen = ends <= place  # whole blocks, (n, blocks)
        if used is not None:
            seen = seen & _members(keys, block, used).any(-1).unsqueeze(-2)
        coarse, shares = attention(queries, *self.pool(keys, values, used), mask=seen)
        own = (place // block).expand(*shares.shape[:-1], 1)
        scores = shares.detach().scatter(-1, own, torch.inf)
        selected = keep_blocks(scores, self.keep, block, n, before)
        near = window_mask(n, n, self.width, device=keys.device) & before
        fine, local = (
            attention(queries, keys, values, mask=m, need_weights=False)[0]
            for m in (selected, near)
        )
        gates = self.gate(queries).sigmoid()  # (..., n, 3)
        output = (gates.unsqueeze(-2) @ torch.stack((coarse, fine, local), dim=-2)).squeeze(-2)
        return Branches(output, selected | near, gates)
