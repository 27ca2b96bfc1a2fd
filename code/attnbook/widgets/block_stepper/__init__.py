"""Online softmax for one query: its keys read block by block, and what is kept of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import traitlets as t

from ..._checks import as_array, as_labels
from ..base import Widget
from ..settings import Count, Switch


class BlocksRead(NamedTuple):
    """After some blocks: the largest score, the sum, the output; and each key's part of the sum."""

    largest: float
    total: float
    output: float
    parts: np.ndarray  # (k,), of the sum; 0 where the key has not been read


class BlockStepper(Widget):
    """One query's keys in blocks, read one after the other, as fused attention reads them.

    The upper bars are the keys' parts of the sum so far, exp(score - largest score so far). The
    lower bars are their shares of it, beside marks for the weights of dense attention. The reader
    moves on by a block, changes the blocks' size, and forgets to rescale.

    Args:
        scores: k finite scores of one query.
        values: k finite numbers, one value for each key.
        labels: k words, the keys; by default their places.

    Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, section 3.1.
    """

    scores = t.List(t.Float()).tag(sync=True)
    values = t.List(t.Float()).tag(sync=True)
    labels = t.List(t.Unicode()).tag(sync=True)
    block = Count(1, "scores", 1, "how many keys a block has, from 1 to k.", label="Block size")
    step = Count(0, "scores", 0, "how many blocks have been read; from the last on, all of them.",
                 label="Blocks read")  # fmt: skip
    rescale = Switch(True, "whether a larger score rescales the older parts of the sum.")

    def __init__(self, scores, values, labels=None, **settings):
        scores, values = (
            as_array(name, row, 1, real=True).astype(float)
            for name, row in (("scores", scores), ("values", values))
        )
        for name, row in (("scores", scores), ("values", values)):
            if not row.size or len(row) != len(scores) or not np.isfinite(row).all():
                raise ValueError(
                    f"{name} must be one finite number for each key, got {row.tolist()}"
                )
        [labels] = as_labels("labels", labels, len(scores))
        alt = f"The parts and shares of {len(scores)} keys, as bars; the keys are read in blocks."
        rows = {"scores": scores.tolist(), "values": values.tolist(), "labels": labels}
        super().__init__(settings, alt, **rows)

    def read(self) -> BlocksRead:
        """What is kept of the blocks that have been read."""
        scores, parts = np.array(self.scores), np.zeros(len(self.scores))
        largest = -np.inf
        for start in range(0, len(scores), self.block)[: self.step]:
            here = slice(start, start + self.block)
            new = max(largest, scores[here].max())
            if self.rescale:
                parts *= np.exp(largest - new)
            parts[here] = np.exp(scores[here] - new)
            largest = new
        total = parts.sum()
        output = float(parts @ self.values / total) if total else 0.0
        return BlocksRead(float(largest), float(total), output, parts)

    def dense(self) -> np.ndarray:
        """The weights of dense attention: (k,)."""
        e = np.exp(np.array(self.scores) - max(self.scores))
        return e / e.sum()

    def __repr__(self) -> str:
        return self._text(f"{len(self.scores)} keys")
