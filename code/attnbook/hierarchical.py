"""Hierarchical attention: words are pooled to sentences, sentences to a document.

Each level has one query, a parameter, which the paper calls a context vector. A level is a module
(x, mask) -> (pooled, weights), so that attention and the plain mean can stand at either level.

Shape letters: `b` documents, `s` sentences of each, `w` words of each, `k` things that are pooled,
`d` features. Masks are boolean, True where there is a word.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ._checks import check_floating, check_sizes, shape
from .normalize import masked_softmax

__all__ = ["HierarchicalAttention", "LearnedQuery", "MeanPooling", "ReadDocument"]


class ReadDocument(NamedTuple):
    """What was read: document vectors (b, d), and the weights of both levels.

    `words` (b, s, w): each sentence that has a word sums to one. `sentences` (b, s): likewise each
    document. `vectors` (b, s, d): what the sentences were pooled to.
    """

    output: Tensor
    words: Tensor
    sentences: Tensor
    vectors: Tensor


class LearnedQuery(nn.Module):
    """Attention with one learned query: scores q . tanh(W x + b), a softmax, a weighted sum.

    Shapes: x (..., k, d), mask (..., k) or None -> pooled (..., d), weights (..., k). Where nothing
    may be attended to, both are zero; what stands at masked places, NaN included, never matters.

    Args:
        size: features d.
        hidden: features of the query, by default as many.

    Raises:
        TypeError: x is not floating point, or the mask not boolean.
        ValueError: another number of features, or a mask of another shape.

    Source: Yang et al. 2016, equations 5 to 7 (words) and 8 to 10 (sentences).
    """

    def __init__(self, size: int, hidden: int | None = None):
        super().__init__()
        self.size, hidden = check_sizes(size=size, hidden=size if hidden is None else hidden)
        self.W = nn.Linear(size, hidden)
        self.query = nn.Parameter(torch.randn(hidden) / hidden**0.5)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        x, mask = _checked(x, mask, self.size)
        scores = torch.tanh(self.W(x)) @ self.query  # (..., k)
        flat = masked_softmax(scores.reshape(-1, x.shape[-2]), mask.reshape(-1, x.shape[-2]))
        return _pooled(flat.reshape(scores.shape), x)


class MeanPooling(nn.Module):
    """The mean of what the mask leaves; shapes and errors as `LearnedQuery`.

    It is attention whose scores are all alike.
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        x, mask = _checked(x, mask, None)
        return _pooled(mask / mask.sum(dim=-1, keepdim=True).clamp(min=1), x)


class HierarchicalAttention(nn.Module):
    """Pool words to sentences by one module, sentences to a document by another.

    Shapes: x (b, s, w, d), mask (b, s, w) or None -> `ReadDocument`. A sentence without a word, as
    padding is one, has the weight zero; a document without a word has the output zero.

    Args:
        words, sentences: modules (x, mask) -> (pooled, weights), such as `LearnedQuery`.

    Raises:
        TypeError, ValueError: as `LearnedQuery`; x is not (b, s, w, d).

    Source: Yang et al. 2016, figure 2, without its recurrent encoders.
    """

    def __init__(self, words: nn.Module, sentences: nn.Module):
        super().__init__()
        self.words, self.sentences = words, sentences

    def forward(self, x: Tensor, mask: Tensor | None = None) -> ReadDocument:
        check_floating("x", x)
        if x.dim() != 4:
            raise ValueError(f"x must be (b, s, w, d), got {shape(x)}")
        x, mask = _checked(x, mask, None)
        vectors, alpha = self.words(x, mask)  # (b, s, d), (b, s, w)
        output, beta = self.sentences(vectors, mask.any(dim=-1))  # (b, d), (b, s)
        return ReadDocument(output, alpha, beta, vectors)


def _checked(x: Tensor, mask: Tensor | None, size: int | None) -> tuple[Tensor, Tensor]:
    """x with zeros at masked places, and a whole mask."""
    check_floating("x", x)
    if x.dim() < 2 or (size is not None and x.shape[-1] != size):
        raise ValueError(f"x must be (..., k, {'d' if size is None else size}), got {shape(x)}")
    if mask is None:
        return x, torch.ones(x.shape[:-1], dtype=torch.bool, device=x.device)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"mask must be a boolean tensor, True where there is a word, got {kind}")
    if mask.shape != x.shape[:-1]:
        raise ValueError(f"mask must be {tuple(x.shape[:-1])}, as x without d, got {shape(mask)}")
    return torch.where(mask.unsqueeze(-1), x, 0.0), mask


def _pooled(weights: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Weighted sum (..., k) and (..., k, d) -> (..., d), and the weights."""
    weights = weights.to(x.dtype)
    return (weights.unsqueeze(-2) @ x).squeeze(-2), weights
