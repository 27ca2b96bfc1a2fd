"""Scores: how well a query fits a key, before any normalisation.

A score is a callable ``score(queries, keys) -> scores``: queries (..., q, d_q) and keys
(..., k, d_k) in, scores (..., q, k) out. Plain functions have no parameters; the classes do.
Fix a function's options with `functools.partial`: ``partial(gaussian, width=0.5)``.

The classes that learn a map of the keys also split it off, for a source that is asked many times:
``from_projected(queries, project_keys(keys))`` equals ``score(queries, keys)``.

Kernels come as their logarithm, so that a softmax over them is the kernel's own normalisation:
softmax(log K)_j = K_j / sum_i K_i. Outside its support a kernel scores minus infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._checks import check_choice, check_pair, check_positive, check_sizes, shape

Score = Callable[[Tensor, Tensor], Tensor]

BLOCK = 2**20  # hidden features that `AdditiveScore` holds at once: 4 MB in single precision


def constant(queries: Tensor, keys: Tensor) -> Tensor:
    """Score every pair alike: attention becomes average pooling.

    Shapes: queries (..., q, d_q), keys (..., k, d_k) -> (..., q, k), all zero.
    """
    check_pair(queries, keys, same_features=False)
    return queries.new_zeros((*queries.shape[:-1], keys.shape[-2]))


def dot(queries: Tensor, keys: Tensor) -> Tensor:
    """Score by the dot product q . k.

    Shapes: queries (..., q, d), keys (..., k, d) -> (..., q, k).

    Source: Luong et al. 2015, section 3.1, "dot".
    """
    check_pair(queries, keys)
    return queries @ keys.mT


def scaled_dot(queries: Tensor, keys: Tensor) -> Tensor:
    """Score by q . k / sqrt(d), whose variance does not grow with d.

    Shapes: queries (..., q, d), keys (..., k, d) -> (..., q, k).

    Source: Vaswani et al. 2017, equation 1.
    """
    check_pair(queries, keys)
    return _scaled_dot_of_checked(queries, keys)


def _scaled_dot_of_checked(queries: Tensor, keys: Tensor) -> Tensor:
    # dividing before the product keeps half precision in range
    return queries / math.sqrt(max(queries.shape[-1], 1)) @ keys.mT


def cosine(queries: Tensor, keys: Tensor) -> Tensor:
    """Score by the cosine of the angle between q and k; 0 where either is the zero vector.

    Shapes: queries (..., q, d), keys (..., k, d) -> (..., q, k), from -1 to 1.

    Source: Graves et al. 2014 (Neural Turing Machines), equation 6.
    """
    check_pair(queries, keys)
    return _unit(queries) @ _unit(keys).mT


def gaussian(queries: Tensor, keys: Tensor, *, width: float | Tensor = 1.0) -> Tensor:
    """Score by the log Gaussian kernel, -|q - k|^2 / (2 width^2).

    Shapes: queries (..., q, d), keys (..., k, d) -> (..., q, k). `width` is in the units of the
    features; a scalar tensor may be learned.

    Source: Nadaraya 1964; Watson 1964.
    """
    return -_squared_distances(queries, keys, width) / 2


def boxcar(queries: Tensor, keys: Tensor, *, width: float | Tensor = 1.0) -> Tensor:
    """Score by the log boxcar kernel: 0 within `width` of the query, else minus infinity.

    Shapes and `width` as in `gaussian`.
    """
    squares = _squared_distances(queries, keys, width)
    return (squares * 0.0).masked_fill(squares > 1, -torch.inf)  # times 0: NaN stays NaN


def epanechnikov(queries: Tensor, keys: Tensor, *, width: float | Tensor = 1.0) -> Tensor:
    """Score by the log Epanechnikov kernel, log(1 - |q - k|^2 / width^2), minus infinity beyond.

    Shapes and `width` as in `gaussian`.

    Source: Epanechnikov 1969.
    """
    return _log_positive(1 - _squared_distances(queries, keys, width))


def triangular(queries: Tensor, keys: Tensor, *, width: float | Tensor = 1.0) -> Tensor:
    """Score by the log triangular kernel, log(1 - |q - k| / width), minus infinity beyond.

    Shapes and `width` as in `gaussian`.
    """
    squares = _squared_distances(queries, keys, width)
    # the square root has an infinite slope at 0, where query and key coincide
    same = squares == 0
    distances = squares.masked_fill(same, 1.0).sqrt().masked_fill(same, 0.0)
    return _log_positive(1 - distances)


class _LearnedScore(nn.Module):
    """What the learned scores share: queries (..., q, query_size), keys (..., k, key_size)."""

    def __init__(self, query_size: int, key_size: int):
        super().__init__()
        sizes = check_sizes(query_size=query_size, key_size=key_size)
        self.query_size, self.key_size = sizes

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores (..., q, k)."""
        self.check(queries, keys)
        return self.from_projected(queries, self.project_keys(keys))

    def check(self, queries: Tensor, keys: Tensor) -> None:
        """Raise unless both have the sizes that this score was made for."""
        check_pair(queries, keys, same_features=False)
        sizes = (("queries", queries, self.query_size), ("keys", keys, self.key_size))
        for name, tensor, size in sizes:
            if tensor.shape[-1] != size:
                raise ValueError(f"{name} must have {size} features, got shape {shape(tensor)}")


class GeneralScore(_LearnedScore):
    """Score by q^T W k, a learned bilinear form that joins queries and keys of unequal sizes.

    Shapes: queries (..., q, query_size), keys (..., k, key_size) -> (..., q, k).

    Source: Luong et al. 2015, section 3.1, "general".
    """

    def __init__(self, query_size: int, key_size: int):
        super().__init__(query_size, key_size)
        self.W = nn.Linear(key_size, query_size, bias=False)  # k -> W k

    def project_keys(self, keys: Tensor) -> Tensor:
        """W k for every key: (..., k, key_size) -> (..., k, query_size)."""
        return self.W(keys)

    def from_projected(self, queries: Tensor, projected: Tensor) -> Tensor:
        """Scores (..., q, k) from queries and keys that `project_keys` has projected."""
        return queries @ projected.mT


class AdditiveScore(_LearnedScore):
    """Score by w^T tanh(W_q q + W_k k), a network with one hidden layer.

    Shapes: queries (..., q, query_size), keys (..., k, key_size) -> (..., q, k).

    Source: Bahdanau et al. 2015, appendix A.1.2.
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__(query_size, key_size)
        check_sizes(hidden_size=hidden_size)
        self.W_q = nn.Linear(query_size, hidden_size, bias=False)
        self.W_k = nn.Linear(key_size, hidden_size, bias=False)
        self.w = nn.Linear(hidden_size, 1, bias=False)

    def project_keys(self, keys: Tensor) -> Tensor:
        """W_k k for every key: (..., k, key_size) -> (..., k, hidden_size)."""
        return self.W_k(keys)

    def from_projected(self, queries: Tensor, projected: Tensor) -> Tensor:
        """Scores (..., q, k) from queries and keys that `project_keys` has projected."""
        return _hidden_layer(self.W_q(queries), projected, self.w)


class ConcatScore(_LearnedScore):
    """Score by v^T tanh(W [q; k]), one layer over the pair laid end to end.

    Splitting W = [W_q W_k] shows that this is `AdditiveScore` under another name.

    Shapes: queries (..., q, query_size), keys (..., k, key_size) -> (..., q, k).

    Source: Luong et al. 2015, section 3.1, "concat".
    """

    def __init__(self, query_size: int, key_size: int, hidden_size: int):
        super().__init__(query_size, key_size)
        check_sizes(hidden_size=hidden_size)
        self.W = nn.Linear(query_size + key_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, 1, bias=False)

    def project_keys(self, keys: Tensor) -> Tensor:
        """W_k k, the keys' share of W [q; k]: (..., k, key_size) -> (..., k, hidden_size)."""
        return F.linear(keys, self.W.weight[:, self.query_size :])

    def from_projected(self, queries: Tensor, projected: Tensor) -> Tensor:
        """Scores (..., q, k) from queries and keys that `project_keys` has projected."""
        queries = F.linear(queries, self.W.weight[:, : self.query_size])
        return _hidden_layer(queries, projected, self.v)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        self.check(queries, keys)
        q, k = queries.shape[-2], keys.shape[-2]
        left = queries.unsqueeze(-2).expand(*queries.shape[:-1], k, -1)  # (..., q, k, query_size)
        right = keys.unsqueeze(-3).expand(*keys.shape[:-2], q, k, -1)  # (..., q, k, key_size)
        return self.v(self.W(torch.cat((left, right), dim=-1)).tanh()).squeeze(-1)


def _make_score(
    score: str | Score, query_size: int, key_size: int, hidden_size: int | None = None
) -> Score:
    """The score of that name for queries and keys of these sizes; a callable is returned as it is.

    Raises:
        ValueError: an unknown name, or "dot" and "scaled_dot" for unequal sizes.
    """
    if callable(score):
        return score
    check_choice("score", score, ("additive", "concat", "dot", "general", "scaled_dot"))
    if score == "general":
        return GeneralScore(query_size, key_size)
    if score in ("additive", "concat"):
        make = AdditiveScore if score == "additive" else ConcatScore
        return make(query_size, key_size, query_size if hidden_size is None else hidden_size)
    if query_size != key_size:
        raise ValueError(
            f"score {score!r} needs states of the encoder and of the decoder of one size, got "
            f'{key_size} and {query_size}; "general" and "additive" take unequal ones'
        )
    return dot if score == "dot" else scaled_dot


def _hidden_layer(queries: Tensor, keys: Tensor, readout: nn.Linear) -> Tensor:
    """readout(tanh(q + k)) of every pair: (..., q, hidden), (..., k, hidden) -> (..., q, k)."""
    queries, keys = queries.unsqueeze(-2), keys.unsqueeze(-3)
    few = max(1, BLOCK // max(1, keys.numel()))  # queries at a time
    if few >= queries.shape[-3]:
        return readout((queries + keys).tanh_()).squeeze(-1)
    blocks = queries.split(few, dim=-3)  # each (..., few, 1, hidden)
    # of all pairs' features (..., q, k, hidden), only a block's are held
    return torch.cat([readout((block + keys).tanh_()) for block in blocks], dim=-3).squeeze(-1)


def _squared_distances(queries: Tensor, keys: Tensor, width: float | Tensor) -> Tensor:
    """|q - k|^2 / width^2 for every pair: (..., q, d), (..., k, d) -> (..., q, k).

    By differences, not by |q|^2 + |k|^2 - 2 q.k: that form cancels for near pairs.
    """
    check_pair(queries, keys)
    check_positive("width", width)
    differences = (queries.unsqueeze(-2) - keys.unsqueeze(-3)) / width  # (..., q, k, d)
    return differences.square().sum(dim=-1)


def _log_positive(kernel: Tensor) -> Tensor:
    """log where the kernel is positive, else minus infinity, whose gradient is 0 and not NaN."""
    outside = kernel <= 0
    return kernel.masked_fill(outside, 1.0).log().masked_fill(outside, -torch.inf)


def _unit(vectors: Tensor) -> Tensor:
    """Vectors of length one, zero vectors as they are.

    `F.normalize` adds 1e-12 to the length, which float16 rounds to 0: 0 / 0 for a zero vector.
    """
    length = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / length.masked_fill(length == 0, 1.0)
