"""Slow references that share no code with the package: Python floats, loops and bisection.

A mask is read here by its own rule, written out index by index, so that a wrong broadcast in the
package cannot hide behind the same broadcast in its test.
"""

import math
from itertools import product

import torch


def may_attend(mask, b, h, i, j):
    """Look up one pair: (q, k) is for all, (b, q, k) for all heads; size-1 axes hold for all."""
    if mask is None:
        return True
    places = {2: (i, j), 3: (b, i, j), 4: (b, h, i, j)}[mask.dim()]
    return bool(mask[tuple(p if n > 1 else 0 for p, n in zip(places, mask.shape, strict=True))])


def four_axes(tensor):
    """(q, x), (b, q, x) or (b, h, q, x) as (b, h, q, x)."""
    return {2: lambda t: t[None, None], 3: lambda t: t[:, None], 4: lambda t: t}[tensor.dim()](
        tensor
    )


def softmax_row(scores, allowed):
    """Softmax of one row over its allowed places, as a list of floats."""
    kept = [s for s, a in zip(scores, allowed, strict=True) if a]
    best = max(kept, default=0.0)
    if not kept or best == -math.inf:
        return [0.0] * len(scores)
    total = math.fsum(math.exp(s - best) for s in kept)
    return [math.exp(s - best) / total if a else 0.0 for s, a in zip(scores, allowed, strict=True)]


def sparsemax_row(scores, allowed):
    """Projection on the simplex: sum_j max(s_j - t, 0) = 1, solved for t by bisection."""
    return _threshold_row(scores, allowed, lambda s, t: max(s - t, 0.0))


def entmax15_row(scores, allowed):
    """Entmax 1.5 from its defining equation, sum_j max(s_j / 2 - t, 0)^2 = 1, by bisection."""
    return _threshold_row(scores, allowed, lambda s, t: max(s / 2 - t, 0.0) ** 2)


def entmax_row(scores, allowed, alpha):
    """Entmax from its equation, sum_j max((alpha - 1) s_j - t, 0)^(1 / (alpha - 1)) = 1."""

    def weight(s, t):
        return max((alpha - 1) * s - t, 0.0) ** (1 / (alpha - 1))

    return _threshold_row(scores, allowed, weight)


def sink_row(scores, allowed, sink):
    """Softmax of one row and a score more, of which nothing is passed on."""
    return softmax_row([*scores, sink], [*allowed, any(allowed)])[:-1]


def _threshold_row(scores, allowed, weight):
    kept = [s for s, a in zip(scores, allowed, strict=True) if a and s > -math.inf]
    if not kept:
        return [0.0] * len(scores)
    best = max(kept)  # adding a constant to all scores moves t and no weight
    low, high = -1.0, 0.0  # at -1 the best alone has weight 1, at 0 there is none left
    for _ in range(60):
        middle = (low + high) / 2
        above = math.fsum(weight(s - best, middle) for s in kept) > 1
        low, high = (middle, high) if above else (low, middle)
    return [weight(s - best, low) if a else 0.0 for s, a in zip(scores, allowed, strict=True)]


def weights(scores, mask, row=softmax_row):
    """Weights for scores of two, three or four axes, in float64."""
    wide = four_axes(scores.detach().double())
    out = torch.zeros_like(wide)
    for b, h, i in product(*map(range, wide.shape[:3])):
        allowed = [may_attend(mask, b, h, i, j) for j in range(wide.shape[3])]
        out[b, h, i] = torch.tensor(row(wide[b, h, i].tolist(), allowed), dtype=torch.float64)
    return out.reshape(scores.shape)


def scaled_dot(queries, keys):
    """q . k / sqrt(d) pair by pair, in float64."""
    wide_q, wide_k = four_axes(queries.detach().double()), four_axes(keys.detach().double())
    out = wide_q.new_zeros((*wide_q.shape[:3], wide_k.shape[2]))
    for b, h, i, j in product(*map(range, out.shape)):
        pairs = zip(wide_q[b, h, i].tolist(), wide_k[b, h, j].tolist(), strict=True)
        out[b, h, i, j] = math.fsum(x * y for x, y in pairs) / math.sqrt(queries.shape[-1])
    return out.reshape((*queries.shape[:-1], keys.shape[-2]))


def pool(weights_, values):
    """Weighted sums of the values, one float at a time; a zero weight takes nothing."""
    wide_w, wide_v = four_axes(weights_.double()), four_axes(values.detach().double())
    out = wide_w.new_zeros((*wide_w.shape[:3], wide_v.shape[3]))
    for b, h, i, d in product(*map(range, out.shape)):
        rows = zip(wide_w[b, h, i].tolist(), wide_v[b, h, :, d].tolist(), strict=True)
        out[b, h, i, d] = math.fsum(w * v for w, v in rows if w)
    return out.reshape((*weights_.shape[:-1], values.shape[-1]))
