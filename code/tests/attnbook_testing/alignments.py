"""Sentence pairs with made-up weights, for the alignment viewer's tests; hits counted apart."""

from __future__ import annotations

import numpy as np

BEFORE, AFTER = "query before the step", "query after the step"
# source, target, the source position of each target token (None: no link), more possible links
PAIRS = [
    (
        "she did not see the red car that you bought yesterday .",
        "elle n' a pas vu la voiture rouge que tu as achetée hier .",
        [0, 2, 1, 2, 3, 4, 6, 5, 7, 8, 9, 9, 10, 11],
        {10: [8], 2: [3]},
    ),
    ("i am going to the market .", "je vais au marché .", [0, 2, 4, 5, 6], {1: [1], 2: [3]}),
    ("do you know him ?", "le connaissez - vous ?", [3, 2, None, 1, 4], {2: [1, 2]}),
    (
        "the children who play in the garden near the big church are waiting for their tired "
        "mother and their young uncle .",
        "les enfants qui jouent dans le jardin près de la grande église attendent leur mère "
        "fatiguée et leur jeune oncle .",
        [0, 1, 2, 3, 4, 5, 6, 7, None, 8, 9, 10, 12, 14, 16, 15, 17, 18, 19, 20, 21],
        {12: [11, 13], 8: [7]},
    ),
]


def examples(count=4, *, seed=0, padding=2, candidates=True) -> list[dict]:
    """Examples for `AlignmentViewer`: weights drawn by `seed`, sharper for the second model."""
    rng = np.random.default_rng(seed)
    made = []
    for source, target, links, more in PAIRS[:count]:
        source = [*source.split(), "<eos>"]
        target = [*target.split(), "<eos>"]
        sure = {(i, j) for i, j in enumerate(links) if j is not None}
        possible = {(i, j) for i, columns in more.items() for j in columns}
        q, k = len(target), len(source)
        weights = {}
        for model, sharpness in ((BEFORE, 1.6), (AFTER, 4.0)):
            scores = rng.normal(size=(q, k))
            for link in sure:
                scores[link] += sharpness
            row = np.exp(scores - scores.max(axis=1, keepdims=True))
            full = np.zeros((q, k + padding))
            full[:, :k] = row / row.sum(axis=1, keepdims=True)
            weights[model] = full
        steps = [
            [(token, 0.6), ("autre", 0.21), ("mot", 0.0832), ("peu", 0.01)] for token in target
        ]
        made.append(
            {
                "source": [*source, *["<pad>"] * padding],
                "target": target,
                "weights": weights,
                "sure": sure,
                "possible": possible,
                "source_len": k,
                "candidates": {BEFORE: steps, AFTER: steps[::-1]} if candidates else None,
            }
        )
    return made


def verdict(example: dict, model: str, i: int) -> str:
    """What the largest weight of target token `i` is on, by a plain loop over its row."""
    row = np.asarray(example["weights"][model])[i].tolist()
    best = max(range(len(row)), key=row.__getitem__)  # the first of the largest
    sure = {j for q, j in example["sure"] if q == i}
    possible = sure | {j for q, j in example["possible"] if q == i}
    if row[best] == 0:
        return "nothing"
    if not possible:
        return "none"
    return "sure" if best in sure else "possible" if best in possible else "miss"


def score(example: dict, model: str, step: int, links: str) -> tuple[int, int]:
    """Hits, and tokens with such a link, of the tokens up to `step`."""
    marks = set(example["sure"]) | (set(example["possible"]) if links == "possible" else set())
    counted = [i for i in range(step + 1) if any(q == i for q, _ in marks)]
    good = {"sure"} if links == "sure" else {"sure", "possible"}
    return sum(verdict(example, model, i) in good for i in counted), len(counted)
