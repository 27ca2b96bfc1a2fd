"""Normalisers: scores and a mask in, weights out.

Every normaliser has the signature ``normalize(scores, mask=None) -> weights``: scores (..., q, k),
a boolean mask with True = may attend, weights of the scores' shape and dtype. Each row of weights
is non-negative and sums to one, or is all zero where the query may attend to nothing. One of them,
`sink_softmax`, may keep a part of a row back: it sums to less.

A valid score of minus infinity means the same as a masked one: no weight. What stands at masked
places, NaN and infinities included, reaches neither a weight nor a gradient.

None of these functions branches on values, so all compile and vmap; none changes its arguments.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ._checks import align_mask, as_divisor, check_count, check_floating, check_positive, shape


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys a query may attend to.

    Args:
        scores: (..., q, k), floating point.
        mask: boolean, True = may attend: (q, k), (b, q, k) or (b, h, q, k), or None.

    Returns:
        Weights, shape and dtype of `scores`.

    Raises:
        TypeError: scores are not floating point, the mask is not boolean.
        ValueError: the mask's rank or sizes do not fit the scores.

    Source: Vaswani et al. 2017, section 3.2.3 (masking with minus infinity); the empty row is ours.
    """
    return _softmax_of_checked(*_checked(scores, mask))


def _softmax_of_checked(scores: Tensor, mask: Tensor | None) -> Tensor:
    """`masked_softmax` of what has been checked; the mask is aligned with the scores."""
    filled, empty = _fill_checked(scores, mask)
    return torch.where(empty, 0.0, filled.softmax(dim=-1))


def sparsemax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Project the scores onto the simplex: like softmax, but small weights become exactly zero.

    Args, returns and errors as in `masked_softmax`.

    Source: Martins and Astudillo 2016, algorithm 1.
    """
    filled, empty = _fill(scores, mask)
    if filled.shape[-1] == 0:
        return filled
    z = _below_best(filled)
    ordered = z.sort(dim=-1, descending=True).values
    rank = _ranks(z)
    support = 1 + rank * ordered > ordered.cumsum(dim=-1)  # true for a prefix of the order
    size = support.sum(dim=-1, keepdim=True)
    total = torch.where(support, ordered, 0.0).sum(dim=-1, keepdim=True)
    threshold = (total - 1) / size
    return (z - threshold).clamp(min=0.0).masked_fill(empty, 0.0).to(scores.dtype)


def entmax15(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Entmax with alpha = 1.5: between softmax (alpha = 1) and sparsemax (alpha = 2).

    Args, returns and errors as in `masked_softmax`.

    Source: Peters, Niculae and Martins 2019, section 3 and algorithm 2 (exact, by sorting).
    """
    filled, empty = _fill(scores, mask)
    if filled.shape[-1] == 0:
        return filled
    z = _below_best(filled) / 2
    ordered = z.sort(dim=-1, descending=True).values
    ordered = ordered.clamp(min=-2.0)  # never in the support, and minus infinity has no mean
    rank = _ranks(z)
    mean = ordered.cumsum(dim=-1) / rank
    mean_square = ordered.square().cumsum(dim=-1) / rank
    spread = rank * (mean_square - mean.square())
    inside = (1 - spread) / rank
    # sqrt has an infinite slope at 0: keep its argument away from 0 where it is clipped
    root = torch.where(inside > 0, inside, 1.0).sqrt().where(inside > 0, 0.0)
    candidates = mean - root
    size = (candidates <= ordered).sum(dim=-1, keepdim=True).clamp(min=1)  # 0 if a score is NaN
    threshold = candidates.gather(-1, size - 1)
    return (z - threshold).clamp(min=0.0).square().masked_fill(empty, 0.0).to(scores.dtype)


def entmax(scores: Tensor, mask: Tensor | None = None, *, alpha: float) -> Tensor:
    """Entmax with any alpha from 1 (softmax) to 2 (sparsemax): the larger, the more zeros.

    A weight is max(0, (alpha - 1) s - t)^(1 / (alpha - 1)). The threshold t of a row, at which
    its weights sum to one, is found by bisection; the gradient is exact all the same.

    Args:
        scores: as in `masked_softmax`, which says the rest, too.
        mask: as in `masked_softmax`.
        alpha: from 1 to 2. Above 2 the gradient is infinite at the edge of the support.

    Source: Peters, Niculae and Martins 2019, section 3, algorithm 1 and proposition 1.
    """
    if not 1 <= alpha <= 2:
        raise ValueError(f"alpha must be from 1 to 2, got {alpha}")
    filled, empty = _fill(scores, mask)
    if filled.shape[-1] == 0:
        return filled
    z = _below_best(filled)
    if (alpha - 1) ** 2 < torch.finfo(z.dtype).eps:  # nearer to the softmax than rounding allows
        return masked_softmax(scores, mask)
    function = _EntmaxForward if _forward_mode() else _Entmax
    weights = function.apply(z, float(alpha))
    return weights.masked_fill(empty, 0.0).to(scores.dtype)


def sink_softmax(scores: Tensor, mask: Tensor | None = None, *, sink: float | Tensor) -> Tensor:
    """Softmax beside one more score, the sink, whose share goes to no key.

    weight_j = exp(s_j) / (sum_i exp(s_i) + exp(sink)): a softmax over the keys, times the gate
    sigmoid(logsumexp(s) - sink). A row sums to less than one.

    Args:
        scores: (..., q, k); as in `masked_softmax`, which says the rest, too.
        mask: as in `masked_softmax`.
        sink: a number, or a tensor that broadcasts to (..., q, 1), such as (h, 1, 1): learned, one
            for each head. At minus infinity it is no sink.

    Source: OpenAI 2025, gpt-oss model card: a learned bias in the denominator of each head.
    """
    filled, empty = _fill(scores, mask)
    wide = _wide(filled)
    share = (wide.logsumexp(dim=-1, keepdim=True) - sink).sigmoid()  # (..., q, 1)
    return torch.where(empty, 0.0, (wide.softmax(dim=-1) * share).to(scores.dtype))


def top_k_softmax(scores: Tensor, mask: Tensor | None = None, *, k: int) -> Tensor:
    """Softmax over the `k` best allowed keys of each query; the others get exactly zero.

    Args:
        scores: as in `masked_softmax`, which says the rest, too.
        mask: as in `masked_softmax`.
        k: how many keys to keep, at least 1. Fewer allowed keys are all kept. Ties are broken by
            `torch.topk`, so that never more than `k` are kept.

    Source: Gupta et al. 2021 (Memory-efficient Transformers via top-k attention), section 2.
    """
    k = check_count("k", k, least=1)
    filled, empty = _fill(scores, mask)
    return masked_softmax(filled.masked_fill(~_best(filled, k) | empty, -torch.inf))


def gumbel_softmax(
    scores: Tensor,
    mask: Tensor | None = None,
    *,
    temperature: float = 1.0,
    hard: bool = False,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw one key per query as a soft, differentiable sample.

    Args:
        scores: as in `masked_softmax`, which says the rest, too.
        mask: as in `masked_softmax`.
        temperature: towards 0 the sample nears a one-hot pick, positive.
        hard: return the one-hot pick itself and pass the soft sample's gradient straight through.
        generator: source of the noise.

    Source: Jang, Gu and Poole 2017, equations 1 and 2; straight-through in section 2.2.
    """
    check_positive("temperature", temperature)
    filled, empty = _fill(scores, mask)
    uniform = torch.empty(scores.shape, device=scores.device).uniform_(generator=generator)
    tiny = torch.finfo(uniform.dtype).tiny
    exponential = -uniform.clamp(min=tiny).log()
    noise = -exponential.clamp(min=tiny).log()
    if scores.shape[-1] == 0:
        return filled
    # in single precision or better, and less the best: a low temperature overflows to minus
    # infinity only
    z = _below_best(filled + noise)
    z = z / as_divisor(temperature, z.dtype)
    soft = masked_softmax(z.masked_fill(empty, -torch.inf)).to(scores.dtype)
    if not hard:
        return soft
    best = soft.argmax(dim=-1, keepdim=True)
    picked = torch.zeros_like(soft).scatter(-1, best, 1.0)
    picked = torch.where(soft.sum(dim=-1, keepdim=True) > 0, picked, 0.0)  # nothing allowed
    return straight_through(picked, soft)


def straight_through(hard: Tensor, soft: Tensor) -> Tensor:
    """Use `hard` forward and the gradient of `soft` backward.

    Shapes: hard and soft (..., q, k), alike -> (..., q, k), the numbers of `hard`.

    Source: Bengio, Leonard and Courville 2013, section 4, "straight-through".
    """
    return hard + (soft - soft.detach())


def _checked(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """The scores, and the mask aligned with them, or raise."""
    check_floating("scores", scores)
    if scores.dim() < 2:
        raise ValueError(f"scores must be (..., q, k), got shape {shape(scores)}")
    return scores, None if mask is None else align_mask(mask, scores.shape)


def _fill(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """`_fill_checked` of scores and a mask that are looked at here."""
    return _fill_checked(*_checked(scores, mask))


def _fill_checked(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Scores with minus infinity at masked places, and which rows are empty, (..., q, 1).

    The exponential of minus infinity is exactly zero in every dtype, where a finite stand-in such
    as -1e6 leaks or overflows. A row with nothing left would be 0 / 0: it gets scores of 0, and
    the caller takes its weights away.
    """
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    if scores.shape[-1] == 0:
        return scores.clone(), scores.new_ones((*scores.shape[:-1], 1), dtype=torch.bool)
    empty = scores.detach().amax(dim=-1, keepdim=True) == -torch.inf
    return torch.where(empty, 0.0, scores), empty


def _best(scores: Tensor, k: int) -> Tensor:
    """Where the `k` best of each row stand, a boolean mask of the scores' shape."""
    chosen = scores.topk(min(k, scores.shape[-1]), dim=-1).indices  # (..., q, k)
    return torch.zeros_like(scores, dtype=torch.bool).scatter(-1, chosen, True)


def _masked_softmax_over(scores: Tensor, mask: Tensor | None) -> Tensor:
    """`masked_softmax`, written over finite scores that nobody else holds; the mask is aligned.

    One (q, k) buffer in place of four, and a row is known to be empty by the mask: a third of the
    time. torch's transforms and its compiler want tensors that stay as they are: they get the
    plain path.
    """
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        return _softmax_of_checked(scores, mask)
    return _SoftmaxOver.apply(scores, mask)


def _masked_softmax_of_few(scores: Tensor, mask: Tensor) -> Tensor:
    """`masked_softmax` of what has been checked in two calls of torch instead of six.

    For a step's few scores: it passes over them more often than the plain path.
    """
    filled = scores.where(mask, -torch.inf)
    return torch.ops.aten._safe_softmax(filled, -1)  # its empty rows are zeros


class _SoftmaxOver(torch.autograd.Function):
    """Softmax in place. Where the mask forbids, the weight is 0, and so is the gradient."""

    @staticmethod
    def forward(ctx, scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            torch.softmax(scores, dim=-1, out=scores)
        else:
            mask = mask.expand(*mask.shape[:-1], scores.shape[-1])
            empty = ~mask.any(dim=-1, keepdim=True)  # (..., q, 1)
            bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill_(~mask, -torch.inf)
            bias[..., :1].masked_fill_(empty, 0.0)  # an empty row gives its first key everything,
            torch.softmax(scores.add_(bias), dim=-1, out=scores)
            scores[..., :1].masked_fill_(empty, 0.0)  # which is taken away again
        ctx.mark_dirty(scores)
        ctx.save_for_backward(scores)
        return scores

    @staticmethod
    def backward(ctx, upstream: Tensor):
        (weights,) = ctx.saved_tensors
        return torch._softmax_backward_data(upstream, weights, -1, weights.dtype), None


class _Entmax(torch.autograd.Function):
    """Weights (..., k) from scores less the best of their row, in single precision or better."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, alpha: float) -> Tensor:
        z, power = (alpha - 1) * z, 1 / (alpha - 1)
        low = z.new_full((*z.shape[:-1], 1), -1.0)  # there the best alone has weight 1,
        width = 1.0  # and at 0 there is none left
        for _ in range(2 - int(math.log2(torch.finfo(z.dtype).eps))):
            width /= 2
            total = (z - low - width).clamp(min=0.0).pow(power).sum(dim=-1, keepdim=True)
            low = torch.where(total >= 1, low + width, low)
        weights = (z - low).clamp(min=0.0).pow(power)
        return weights / weights.sum(dim=-1, keepdim=True)

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        ctx.alpha = inputs[1]
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, upstream: Tensor):
        """Each weight of the support has a slope, weight^(2 - alpha); all others none."""
        (weights,) = ctx.saved_tensors
        inside = weights > 0
        slope = torch.where(inside, torch.where(inside, weights, 1.0).pow(2 - ctx.alpha), 0.0)
        mean = (slope * upstream).sum(dim=-1, keepdim=True) / slope.sum(dim=-1, keepdim=True)
        return slope * (upstream - mean), None


class _EntmaxForward(_Entmax):
    """The same with a rule for jvp, which torch.compile does not take."""

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        _Entmax.setup_context(ctx, inputs, output)
        ctx.save_for_forward(output)

    @staticmethod
    def jvp(ctx, change: Tensor, _) -> Tensor:
        return _Entmax.backward(ctx, change)[0]  # the Jacobian is symmetric


def _forward_mode() -> bool:
    """Whether derivatives are taken forward (jvp): for that the fast paths have no rule."""
    return torch.autograd.forward_ad._current_level >= 0


def _below_best(filled: Tensor) -> Tensor:
    """Scores less the best of their row, in single precision or better.

    Sums over the keys follow, and half precision cannot even count to 2049.
    """
    wide = _wide(filled)
    return wide - wide.amax(dim=-1, keepdim=True).detach()


def _wide(tensor: Tensor) -> Tensor:
    """The tensor in single precision or better."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _ranks(z: Tensor) -> Tensor:
    """1, 2, ..., k along the last axis, in the dtype of `z`."""
    return torch.arange(1, z.shape[-1] + 1, device=z.device, dtype=z.dtype)
