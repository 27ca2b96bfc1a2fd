"""Selection: attention that passes on only what is relevant, and says what it kept.

All ways of choosing have one interface:

    (queries, keys, values, task) -> (output, kept)

The task may be None; `kept` is a boolean mask, True where the output depends on the pair. A
choice has two parts, how relevant a key is (`Relevance`, or any callable) and what follows from
it: a gate, soft or hard, or a place among the best. `SelectiveNode` joins them.

Shape letters: `b` batch, `q` queries, `k` keys, `d` features, `t` features of a task.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._checks import check_choice, check_count, check_floating, check_sizes, shape
from .attention import _checked, _without_unused, attention
from .normalize import _best, masked_softmax, straight_through
from .scores import Score, scaled_dot

__all__ = ["Relevance", "Selected", "SelectiveNode", "gated_attention"]

GATES = ("values", "scores")


class Selected(NamedTuple):
    """What a selective node passes on.

    `output` (..., q, d_v). `kept` (..., q, k), boolean: the output depends on this pair. `weights`
    (..., q, k): with what share. `relevance` (..., q, k): the logits that the choice was made by,
    which a penalty may read; None where the normaliser alone chooses.
    """

    output: Tensor
    kept: Tensor
    weights: Tensor
    relevance: Tensor | None


def gated_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    relevance: Tensor,
    *,
    gate: str = "scores",
    hard: bool = False,
    keep: int | None = None,
    score: Score = scaled_dot,
    normalize: Callable[[Tensor, Tensor | None], Tensor] = masked_softmax,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention with a gate for each pair, g = sigmoid(relevance).

    Args:
        queries, keys, values, score, normalize, mask: as in `attention`.
        relevance: logits (..., q, k).
        gate: "values": the weights, and so the values, are multiplied by the gates; a row sums to
            at most one, and to nearly nothing where nothing is relevant. "scores": log g is added
            to the scores, and a row sums to one.
        hard: gates are 1 where the logit is above 0, otherwise 0, and are trained as if they were
            sigmoids (straight-through).
        keep: attend only to the `keep` keys of the largest logits among those a query may attend
            to (two stages: scan, then attend); None leaves all.

    Returns:
        Output (..., q, d_v) and weights (..., q, k) with the gates in them.

    Raises:
        TypeError: as `attention`, or the relevance is not floating point.
        ValueError: as `attention`; the relevance has another shape than the scores, `keep` is
            below 1, or another word for `gate`.

    Source: straight-through gates, Bengio, Leonard and Courville 2013, section 4.
    """
    check_choice("gate", gate, GATES)
    check_floating("relevance", relevance)
    wanted = (*queries.shape[:-1], keys.shape[-2])
    if tuple(relevance.shape) != wanted:
        raise ValueError(
            f"relevance must be {wanted}, one logit for each pair, got {shape(relevance)}"
        )
    allowed = _checked(queries, keys, values, mask, 0.0)
    if allowed is not None:  # whatever stood there, NaN included
        relevance = torch.where(allowed, relevance, -torch.inf)
    if keep is not None:
        chosen = _best(relevance, check_count("keep", keep, least=1))
        allowed = chosen if allowed is None else chosen & allowed
    if hard and gate == "scores":
        open_ = relevance > 0
        allowed = open_ if allowed is None else open_ & allowed

    def gated(scores: Tensor, mask: Tensor | None) -> Tensor:
        if gate == "values":
            gates = relevance.sigmoid()
            if hard:
                gates = straight_through((relevance > 0).to(gates.dtype), gates)
            return normalize(scores, mask) * gates
        log_gate = F.logsigmoid(relevance)
        if hard:  # 0 where the gate is open, and the others are masked
            log_gate = straight_through(torch.zeros_like(log_gate), log_gate)
        return normalize(scores + log_gate, mask)

    return attention(queries, keys, values, score=score, mask=allowed, normalize=gated)


class Relevance(nn.Module):
    """Predict how relevant each key is to each query: a logit, above 0 for yes.

    The logit is (W_q q + W_t t) . W_k k / sqrt(size) + b. With a small `size` it costs less than
    a score does.

    Shapes: queries (..., q, query_size), keys (..., k, key_size), task (..., task_size) or None
    -> (..., q, k).

    Args:
        query_size, key_size: features of a query, and of a key.
        size: features in which they are compared.
        task_size: features of a task, None if there are no tasks.
    """

    def __init__(self, query_size: int, key_size: int, size: int, task_size: int | None = None):
        super().__init__()
        _, _, self.size = check_sizes(query_size=query_size, key_size=key_size, size=size)
        self.W_q = nn.Linear(query_size, size, bias=False)
        self.W_k = nn.Linear(key_size, size, bias=False)
        self.W_t = None
        if task_size is not None:
            check_sizes(task_size=task_size)
            self.W_t = nn.Linear(task_size, size, bias=False)
        self.b = nn.Parameter(torch.zeros(()))

    def forward(self, queries: Tensor, keys: Tensor, task: Tensor | None = None) -> Tensor:
        if (task is None) != (self.W_t is None):
            needed = "None, there is no task_size" if self.W_t is None else "(..., task_size)"
            given = "None" if task is None else shape(task)
            raise ValueError(f"task must be {needed}, got {given}")
        asked = self.W_q(queries)  # (..., q, size)
        if task is not None:
            asked = asked + self.W_t(task).unsqueeze(-2)  # (..., 1, size) for all queries
        return asked / math.sqrt(self.size) @ self.W_k(keys).mT + self.b  # (..., q, k)


class SelectiveNode(nn.Module):
    """Take inputs and a task, decide what is relevant, pass on only that.

    Shapes: queries (..., q, d), keys (..., k, d), values (..., k, d_v), task as `relevance` takes
    it, mask as in `attention` -> `Selected`.

    Args:
        relevance: callable (queries, keys, task) -> logits (..., q, k), such as `Relevance`; None
            leaves the choice to the normaliser, and no task is looked at.
        normalize: callable (scores, mask) -> weights, as in `attention`.
        options: gate, hard, keep and score, as in `gated_attention`; with no relevance only score.
    """

    def __init__(
        self,
        relevance: Callable[[Tensor, Tensor, Tensor | None], Tensor] | None = None,
        *,
        normalize: Callable[[Tensor, Tensor | None], Tensor] = masked_softmax,
        **options,
    ):
        super().__init__()
        known = {"score"} if relevance is None else {"score", "gate", "hard", "keep"}
        if set(options) - known:
            raise TypeError(f"options must be of {sorted(known)}, got {sorted(options)}")
        self.relevance, self.options = relevance, {"normalize": normalize, **options}

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        task: Tensor | None = None,
        *,
        mask: Tensor | None = None,
    ) -> Selected:
        if self.relevance is None:
            logits = None
            output, weights = attention(queries, keys, values, mask=mask, **self.options)
        else:
            allowed = _checked(queries, keys, values, mask, 0.0)
            if allowed is not None:  # the predictor, too, reads nothing that is masked
                queries, keys, values = _without_unused(queries, keys, values, allowed)
            logits = self.relevance(queries, keys, task)
            options = {"mask": mask, **self.options}
            output, weights = gated_attention(queries, keys, values, logits, **options)
        return Selected(output, weights > 0, weights, logits)
