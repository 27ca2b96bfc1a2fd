"""Decoding: a model's own translation, greedy, sampled or by beam search.

All three ask any model that keeps the protocol of two moves:

    state = model.start(source, source_lens)
    output = model.step(inputs, state, need_weights=...)  # inputs (b, 1)

A state is nested tuples of tensors with the batch axis first. Where it has a field `memory`, that
field depends on the source alone. `output` has `logits` (b, 1, vocabulary), `weights` with the
queries on the last axis but one, (b, ..., 1, k), or None, and the next `state`.

Decoding takes no gradient and leaves the model in the mode it is in: call ``model.eval()`` first,
or dropout is at work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from ._checks import as_divisor, check_count, check_positive
from ._tree import map_tensors


class Decoded(NamedTuple):
    """Translations of b sources, padded to the longest, t tokens.

    `tokens` (b, t), int64: the end token is kept, padding follows it. `lengths` (b,): tokens with
    the end token, where there is one. `log_probs` (b,): of the whole translation, in nats.
    `weights` (b, ..., t, k), zero beyond a translation's length, or None.
    """

    tokens: Tensor
    lengths: Tensor
    log_probs: Tensor
    weights: Tensor | None


def branch(state, rows: Tensor):
    """The state of the chosen rows: `rows` (n,) may repeat a row, reorder or leave out.

    Every tensor of the nested tuples is indexed on its first axis; the given state stays as it is.
    """
    return map_tensors(lambda tensor: tensor.index_select(0, rows), state)


@torch.no_grad()
def greedy(
    model,
    source: Tensor,
    source_lens: Tensor,
    *,
    max_len: int,
    bos: int = 1,
    eos: int = 2,
    pad: int = 0,
    need_weights: bool = False,
) -> Decoded:
    """Take the likeliest token at every step.

    Args:
        model: keeps the protocol above.
        source: ids (b, k), of which the first `source_lens` (b,) of each row count.
        max_len: most tokens, the end token included; a translation may be cut there.
        bos, eos, pad: ids of the first input, of the end, and of what stands after it.
        need_weights: also return the attention weights of every step.
    """

    def likeliest(logits: Tensor) -> tuple[Tensor, Tensor]:
        return logits.log_softmax(dim=-1).max(dim=-1)  # (b, v) -> (b,), (b,)

    options = {"max_len": max_len, "bos": bos, "eos": eos, "pad": pad}
    return walk(model, source, source_lens, likeliest, need_weights=need_weights, **options)


def truncate(
    log_probs: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    min_p: float = 0.0,
) -> Tensor:
    """Sharpen a distribution and cut its tail off: log-probabilities (..., v) to the same shape.

    Args:
        log_probs: normalised or not, in nats.
        temperature: divides them, above 0; below 1 the likely tokens gain.
        top_k: keep so many of the likeliest tokens, None keeps all.
        top_p: then keep the fewest of the likeliest that have this share together, in (0, 1].
        min_p: keep of them those with at least this part of the likeliest's probability, in
            [0, 1]; 0 keeps all, 1 the likeliest and its equals.

    A token that is cut off has minus infinity; the likeliest always stays. Of equals at the edge
    top-k and top-p keep the one with the smaller id; min-p keeps all or none of them.

    Raises:
        ValueError: a setting is outside its range.

    Source: top-k, Fan et al. 2018, section 5; top-p (nucleus), Holtzman et al. 2020, section 3.1;
    min-p, Nguyen et al. 2025, section 3.
    """
    check_positive("temperature", temperature)
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    if not 0 <= min_p <= 1:
        raise ValueError(f"min_p must be from 0 to 1, got {min_p}")
    v = log_probs.shape[-1]
    k = v if top_k is None else min(check_count("top_k", top_k, least=1), v)
    # less the best, a low temperature overflows to minus infinity only
    sharp = log_probs - log_probs.amax(dim=-1, keepdim=True)
    sharp = sharp / as_divisor(temperature, sharp.dtype)
    ordered, ids = sharp.sort(dim=-1, descending=True, stable=True)
    ordered, ids = ordered[..., :k], ids[..., :k]
    shares = ordered.softmax(dim=-1)
    most = top_p if top_p < 1 else torch.inf  # sums are rounded, and 1 keeps all
    cut = shares.cumsum(dim=-1) - shares >= most  # never the first: 0
    cut = cut | (shares < min_p * shares[..., :1])  # never the first: it is its own measure
    ordered = ordered.masked_fill(cut, -torch.inf).log_softmax(dim=-1)
    return torch.full_like(log_probs, -torch.inf).scatter(-1, ids, ordered)


@torch.no_grad()
def sample(
    model,
    source: Tensor,
    source_lens: Tensor,
    *,
    max_len: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    min_p: float = 0.0,
    generator: torch.Generator | None = None,
    bos: int = 1,
    eos: int = 2,
    pad: int = 0,
    need_weights: bool = False,
) -> Decoded:
    """Draw every token from the model's distribution, sharpened and cut as in `truncate`.

    `log_probs` of the result are the model's own, whatever was cut. The same generator state
    draws the same tokens.

    Args:
        generator: where the chance comes from, on the device of `source`; None: torch's own.
        others: as in `greedy` and in `truncate`.
    """

    settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}

    def draw(logits: Tensor) -> tuple[Tensor, Tensor]:
        expected = logits.log_softmax(dim=-1)  # (b, v)
        cut = truncate(expected, **settings)
        token = cut.exp().multinomial(1, generator=generator)  # (b, 1)
        return expected.gather(1, token).squeeze(1), token.squeeze(1)

    options = {"max_len": max_len, "bos": bos, "eos": eos, "pad": pad}
    return walk(model, source, source_lens, draw, need_weights=need_weights, **options)


def walk(
    model,
    source: Tensor,
    source_lens: Tensor,
    choose: Callable[[Tensor], tuple[Tensor, Tensor]],
    *,
    max_len: int,
    bos: int,
    eos: int,
    pad: int,
    need_weights: bool,
) -> Decoded:
    """Go token by token until every translation has ended: what `greedy` and `sample` share.

    Args:
        choose: from logits (b, v), log-probabilities and ids of the next tokens, each (b,).
        others: as in `greedy`.
    """
    check_count("max_len", max_len, least=1)
    state = model.start(source, source_lens)
    token = torch.full((len(source),), bos, device=source.device)
    done = torch.zeros_like(token, dtype=torch.bool)
    tokens, steps, weights = [], [], []
    for _ in range(max_len):  # what a finished row says further is cut off at the end
        output = model.step(token.unsqueeze(1), state, need_weights=need_weights)
        state = output.state
        log_prob, token = choose(output.logits.squeeze(1))
        tokens.append(token)
        steps.append(log_prob)
        weights.append(output.weights)
        done |= token == eos
        if done.all():
            break
    tokens, steps = torch.stack(tokens, dim=1), torch.stack(steps, dim=1)  # (b, t)
    lengths = _lengths(tokens, eos)
    beyond = _beyond(lengths, tokens.shape[1])
    return Decoded(
        tokens.masked_fill(beyond, pad),
        lengths,
        steps.masked_fill(beyond, 0.0).sum(dim=1),
        _join(weights, beyond),
    )


@torch.no_grad()
def beam(
    model,
    source: Tensor,
    source_lens: Tensor,
    *,
    width: int,
    max_len: int,
    length_penalty: float = 0.6,
    bos: int = 1,
    eos: int = 2,
    pad: int = 0,
    need_weights: bool = False,
) -> Decoded:
    """Keep the `width` likeliest beginnings at every step, and at the end the best translation.

    A finished translation keeps its place, so that the search goes on with fewer beginnings and
    ends by itself; width 1 is `greedy`, and a width no smaller than the number of translations
    of up to `max_len` tokens is exhaustive. Beginnings of one length compete by log-probability;
    at the end all compete by log P / lp, with lp = ((5 + length) / 6)^length_penalty.

    Args:
        width: beginnings kept, at least 1.
        length_penalty: 0 ranks by log-probability alone, which favours the short.
        others: as in `greedy`.

    Source: Sutskever et al. 2014, section 3.2 (beam search); Wu et al. 2016, equation 14 (lp,
    without the coverage penalty).
    """
    w = check_count("width", width, least=1)
    check_count("max_len", max_len, least=1)
    b, device = len(source), source.device
    sentence = torch.arange(b, device=device).unsqueeze(1)  # (b, 1)
    state = branch(model.start(source, source_lens), sentence.expand(b, w).flatten())
    scores = torch.full((b, w), -torch.inf, device=device)
    scores[:, 0] = 0.0  # w equal beginnings would stay equal: all but one are dead
    token = torch.full((b, w), bos, device=device)
    done = torch.zeros(b, w, dtype=torch.bool, device=device)
    trail = []  # of every step: tokens (b, w), the places they came from (b, w), weights
    for _ in range(max_len):
        output = model.step(token.view(b * w, 1), state, need_weights=need_weights)
        after = output.logits[:, -1].log_softmax(dim=-1).view(b, w, -1)  # (b, w, vocabulary)
        size = after.shape[-1]
        after = scores.unsqueeze(-1) + after
        rank = after.masked_fill(done.unsqueeze(-1), -torch.inf)
        rank[..., pad].masked_fill_(done, torch.inf)  # what is finished stays, once, before all
        chosen = rank.flatten(1).topk(w, dim=-1).indices  # (b, w) of w x vocabulary
        parent, token = chosen // size, chosen % size
        was_done = done.gather(1, parent)
        scores = torch.where(was_done, scores.gather(1, parent), after.flatten(1).gather(1, chosen))
        trail.append((token, parent, output.weights))
        done = was_done | ((token == eos) & (scores > -torch.inf))
        if (done | (scores == -torch.inf)).all():
            break
        state = _reorder(output.state, (sentence * w + parent).flatten())
    return _best(trail, scores, length_penalty, eos, pad)


def _reorder(state, rows: Tensor):
    """`branch` among the beginnings of the same source: what depends on it alone can stay."""
    if getattr(state, "memory", None) is None:
        return branch(state, rows)
    return branch(state._replace(memory=None), rows)._replace(memory=state.memory)


def _best(trail, scores: Tensor, length_penalty: float, eos: int, pad: int) -> Decoded:
    """Walk back along every place's parents, (b, w) at a time, and keep the best translation."""
    b, w = scores.shape
    rows = torch.arange(b, device=scores.device)
    place = torch.arange(w, device=scores.device).expand(b, w)
    places, tokens = [], []
    for token, parent, _ in reversed(trail):
        tokens.append(token.gather(1, place))
        place = parent.gather(1, place)
        places.append(place)  # where the weights of this step stand
    tokens = torch.stack(tokens[::-1], dim=-1)  # (b, w, t)
    lengths = _lengths(tokens, eos)
    best = (scores / ((5 + lengths) / 6) ** length_penalty).argmax(dim=-1)  # (b,)
    tokens, lengths = tokens[rows, best], lengths[rows, best]
    t = int(lengths.max())
    beyond = _beyond(lengths, t)
    weights = [None]
    if trail[0][2] is not None:
        origins = [rows * w + place[rows, best] for place in reversed(places)]
        steps = zip(trail[:t], origins[:t], strict=True)
        weights = [step.index_select(0, origin) for (_, _, step), origin in steps]
    return Decoded(tokens[:, :t], lengths, scores[rows, best], _join(weights, beyond))


def _lengths(tokens: Tensor, eos: int) -> Tensor:
    """Tokens up to the first end token and with it, or all: (..., t) -> (...)."""
    ended = (tokens == eos).cumsum(dim=-1)
    return ((ended == 0).sum(dim=-1) + 1).clamp(max=tokens.shape[-1])


def _beyond(lengths: Tensor, t: int) -> Tensor:
    """Places after a translation's end, (b, t)."""
    return torch.arange(t, device=lengths.device) >= lengths.unsqueeze(1)


def _join(steps: list, beyond: Tensor) -> Tensor | None:
    """Weights of t steps, each (b, ..., 1, k), as (b, ..., t, k) with zeros `beyond` (b, t)."""
    if steps[0] is None:
        return None
    weights = torch.cat(steps, dim=-2)
    b, t = beyond.shape
    return weights.masked_fill(beyond.view(b, *[1] * (weights.dim() - 3), t, 1), 0.0)
