"""Question answering by attention: the question is the query, and it may look more than once.

Shape letters: `b` stories, `n` facts, `w` words of a sentence, `d` features, `h` hops.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ._checks import check_ids, check_sizes, shape
from .attention import attention
from .scores import dot


class Read(NamedTuple):
    """What a memory network answers, and what it read for that."""

    logits: Tensor  # (b, words)
    weights: Tensor  # (b, h, n), those of each hop, 0 where there is no fact


def word_order(ids: Tensor, d: int) -> Tensor:
    """Weights (..., w, d) of the words of sentences (..., w), so that their sum knows the order.

    The first features weigh early words more, the last ones late words. A sentence's weights
    depend on its own words alone: id 0 is padding, and has the weight 0.

    Source: Sukhbaatar et al. 2015, section 4.1, position encoding.
    """
    words = ids != 0
    length = words.sum(-1, keepdim=True).clamp(min=1)  # (..., 1)
    j = torch.arange(1, ids.shape[-1] + 1, device=ids.device) / length  # (..., w)
    k = torch.arange(1, d + 1, device=ids.device) / d
    weights = (1 - j).unsqueeze(-1) - k * (1 - 2 * j).unsqueeze(-1)
    return weights * words.unsqueeze(-1)


class MemoryNetwork(nn.Module):
    """A question looks at the facts of a story, hop by hop, and names a word.

    Each hop scores the facts by their dot product with the state u, which begins as the question,
    and adds what it read: u + sum of weights times values. The values of a hop are the keys of
    the next one.

    Args:
        words: size of the vocabulary; id 0 is padding.
        d: features of a sentence.
        hops: how often it looks, at least once.
        longest: most facts of a story.
        order: whether a sentence is more than a bag of words (`word_order`).
        time: whether a fact has a learned code for its age, the last one being 0.

    Raises:
        TypeError, ValueError: a size is no int or below 1.

    Source: Sukhbaatar et al. 2015, sections 2 and 4.1, adjacent weights; the question and the
    answer keep embeddings of their own.
    """

    def __init__(
        self,
        words: int,
        d: int = 32,
        *,
        hops: int = 2,
        longest: int = 12,
        order: bool = True,
        time: bool = True,
    ):
        super().__init__()
        words, d, hops, longest = check_sizes(words=words, d=d, hops=hops, longest=longest)
        self.order, self.time = order, time
        self.E = nn.ModuleList(nn.Embedding(words, d) for _ in range(hops + 1))
        self.T = nn.ModuleList(nn.Embedding(longest, d) for _ in range(hops + 1))
        self.B = nn.Embedding(words, d)
        self.W = nn.Linear(d, words)
        for table in (*self.E, *self.T, self.B):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, facts: Tensor, questions: Tensor, mask: Tensor) -> Read:
        """Answer questions (b, w) about facts (b, n, w), of which `mask` (b, n) are there.

        The facts of a story stand before its padding; a story without any is answered by its
        question alone.

        Raises:
            TypeError: ids are no integers, or the mask is not boolean.
            ValueError: shapes do not fit, an id is outside the vocabulary, or there are more facts
                than `longest`.
        """
        self._check(facts, questions, mask)
        order = self._weights(facts)
        age = mask.sum(-1, keepdim=True) - 1 - torch.arange(mask.shape[1], device=mask.device)
        memory = [(table(facts) * order).sum(-2) for table in self.E]  # (b, n, d) each
        if self.time:
            age = age.clamp(min=0)
            memory = [m + table(age) for m, table in zip(memory, self.T, strict=True)]
        u = (self.B(questions) * self._weights(questions)).sum(-2, keepdim=True)  # (b, 1, d)
        weights = []
        for keys, values in pairwise(memory):
            read, alpha = attention(u, keys, values, score=dot, mask=mask.unsqueeze(1))
            u = u + read
            weights.append(alpha)
        return Read(self.W(u.squeeze(1)), torch.cat(weights, dim=1))

    def _weights(self, ids: Tensor) -> Tensor:
        """Of words: their order's, or 1 for each that is there."""
        if self.order:
            return word_order(ids, self.B.embedding_dim)
        return (ids != 0).unsqueeze(-1).to(self.B.weight.dtype)

    def _check(self, facts: Tensor, questions: Tensor, mask: Tensor) -> None:
        check_ids("questions", questions, self.B.num_embeddings)
        if not isinstance(facts, Tensor) or facts.dim() != 3:
            got = shape(facts) if isinstance(facts, Tensor) else type(facts).__name__
            raise ValueError(f"facts must be (b, n, w), got {got}")
        check_ids("facts", facts.flatten(1), self.B.num_embeddings)
        if mask.shape != facts.shape[:2] or len(questions) != len(facts):
            raise ValueError(
                "facts (b, n, w), questions (b, w) and mask (b, n) must agree in b and n, got "
                f"{shape(facts)}, {shape(questions)} and {shape(mask)}"
            )
        if mask.shape[1] > len(self.T[0].weight):
            raise ValueError(
                f"facts must be at most longest = {len(self.T[0].weight)} a story, "
                f"got {mask.shape[1]}; pack_stories keeps the last ones"
            )
