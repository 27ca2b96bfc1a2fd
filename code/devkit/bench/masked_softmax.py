"""The masked softmax by itself, against d2l's and against the two lines one writes with torch.

Everyone is given a copy of the scores, which counts for all alike: d2l writes into its argument.
"""

from __future__ import annotations

import torch

import attnbook as ab
from devkit.bench.harness import Case
from devkit.bench.inputs import normal, padding

SIZES = {128: 32, 512: 8}  # n: b


def cases():
    """No goals. torch's two lines give NaN for a row in which nothing is allowed."""
    d2l = ab.import_d2l()
    for n, b in SIZES.items():
        scores = normal(b, n, n)
        lengths, mask = padding(b, n)

        def ours(scores=scores, mask=mask):
            return ab.masked_softmax(scores.clone(), mask)

        def plain(scores=scores, mask=mask):
            return scores.clone().masked_fill(~mask, -torch.inf).softmax(dim=-1)

        def theirs(scores=scores, lengths=lengths):
            return d2l.masked_softmax(scores.clone(), lengths)

        for name, peer in (("d2l masked_softmax", theirs), ("torch masked_fill, softmax", plain)):
            yield Case("masked softmax", f"n={n}, b={b}, padding", name, ours, peer, [scores])
