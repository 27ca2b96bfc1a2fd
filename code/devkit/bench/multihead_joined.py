"""Multi-head self-attention against torch's kernel, torch's module, and d2l.

All have the same sizes and the same weights.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnbook as ab
from devkit.bench.harness import Case
from devkit.bench.inputs import normal, padding

D_MODEL, HEADS = 256, 8
KEPT = {"time": 1.05, "memory": 1.05}  # of nn.MultiheadAttention, when both keep the weights
SIZES = {128: 32, 512: 8, 2048: 1}  # n: b


def cases():
    """For each length: the fused path, and the one with weights against those that keep them."""
    torch.manual_seed(0)
    ours = ab.MultiHeadAttention(D_MODEL, HEADS).eval()
    kernel, module, d2l = partial(_kernel, ours), _module(ours), _d2l(ours)
    keeping = _module(ours, need_weights=True, average_attn_weights=False)
    for n, b in SIZES.items():
        x, (lengths, mask) = normal(b, n, D_MODEL), padding(b, n)
        plain = "multi-head without weights", partial(ours, x), partial(ours, x, mask=mask)
        whole = (
            "multi-head with weights",
            partial(ours, x, need_weights=True),
            partial(ours, x, mask=mask, need_weights=True),
        )
        case = partial(_case, ours, x)
        yield case(*plain, kernel, "torch scaled_dot_product_attention", goals={"time": 1.1})
        yield case(
            *plain,
            kernel,
            "torch scaled_dot_product_attention",
            mask=mask[:, None],
            goals={"time": 1.1},
        )
        yield case(*plain, module, "torch nn.MultiheadAttention")
        if n == 512:  # d2l's temporaries cost most where they are large
            yield from _large(ours, d2l)
        else:
            yield case(*plain, d2l, "d2l MultiHeadAttention", lengths=lengths)
        yield case(*whole, d2l, "d2l MultiHeadAttention", lengths=lengths, goals={"time": 1.0})
        if n >= 512:
            name, goals = "torch nn.MultiheadAttention", {"goals": KEPT, "backward_goals": KEPT}
            yield case(*whole, keeping, name, **goals)
            yield case(*whole, keeping, name, mask=~mask[:, 0], **goals)
            one = {"time": 1.0}
            yield case(*whole, d2l, "d2l MultiHeadAttention", goals=one, backward_goals=one)


def _large(ours, d2l, n=512, b=32):
    """A batch of usual size against d2l, without weights."""
    x, (lengths, mask) = normal(b, n, D_MODEL), padding(b, n)
    plain = "multi-head without weights", partial(ours, x), partial(ours, x, mask=mask)
    goal = {"time": 0.4}
    yield _case(
        ours, x, *plain, d2l, "d2l MultiHeadAttention", lengths=lengths, backward_goals=goal
    )


def _case(ours, x, subject, bare, padded, peer, peer_name, *, mask=None, lengths=None, **goals):
    """One case; `mask` or `lengths` is what the peer takes for the padding, in its own form."""
    given = mask if lengths is None else lengths
    b, n, _ = x.shape
    parameters = peer.parameters() if isinstance(peer, nn.Module) else ours.parameters()
    return Case(
        subject,
        f"n={n}, b={b}, d={D_MODEL}, h={HEADS}, {'no mask' if given is None else 'padding'}",
        peer_name,
        bare if given is None else padded,
        partial(peer, x) if given is None else partial(peer, x, given),
        [x],
        parameters=([*ours.parameters()], [*parameters]),
        **goals,
    )


def _kernel(ours, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """The same four projections around torch's own call."""
    heads = (
        W(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for W in (ours.W_q, ours.W_k, ours.W_v)
    )
    output = F.scaled_dot_product_attention(*heads, attn_mask=mask)
    return ours.W_o(output.transpose(1, 2).flatten(2))


class Itself(nn.Module):
    """A peer that takes queries, keys and values, asked about one sequence."""

    def __init__(self, peer, **options):
        super().__init__()
        self.peer, self.options = peer.eval(), options

    def forward(self, x, *given):
        return self.peer(x, x, x, *given, **self.options)


def _module(ours, **options) -> nn.Module:
    peer = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    projections = (ours.W_q, ours.W_k, ours.W_v)
    with torch.no_grad():
        peer.in_proj_weight.copy_(torch.cat([W.weight for W in projections]))
        peer.in_proj_bias.copy_(torch.cat([W.bias for W in projections]))
    peer.out_proj.load_state_dict(ours.W_o.state_dict())
    return Itself(peer, **({"need_weights": False} | options))


class KeptLengths(Itself):
    """d2l wants lengths, None too."""

    def forward(self, x, lengths=None):
        return self.peer(x, x, x, lengths)


def _d2l(ours) -> nn.Module:
    peer = ab.import_d2l().MultiHeadAttention(
        D_MODEL, D_MODEL, D_MODEL, D_MODEL, HEADS, 0.0, bias=True
    )
    peer.load_state_dict(ours.state_dict())
    return KeptLengths(peer)
