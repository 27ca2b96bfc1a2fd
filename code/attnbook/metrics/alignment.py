"""Weights as a word alignment: their links against gold ones.

A link is (target index, source index): row q and column k of the weights. Gold comes from pairs
with `source`, `target`, `sure`, `possible` and `classes`, such as `data.AlignedPair`.

Weights may hold more rows and columns than the pair has tokens: rows past the target (its <eos>)
are not read, and a row whose largest weight is on a column past the source (its <eos>, padding)
has no link, as a word that an alignment links to no word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import torch
from torch import Tensor

from .._checks import check_count, check_floating, shape
from .intervals import Interval, bootstrap_sums

Link = tuple[int, int]


def argmax_links(weights: Tensor, q_len: int, k_len: int) -> set[Link]:
    """Link each target token to the source token of its largest weight.

    Args:
        weights: (q, k) of one sentence, with at least `q_len` rows and `k_len` columns.
        q_len: target tokens; rows past them are not read.
        k_len: source tokens; a row whose largest weight is past them gets no link.

    Returns:
        (row, column) pairs, at most one a row; the first of equal weights, none for a zero row.

    Raises:
        TypeError: weights are not floating point.
        ValueError: weights are too small for the lengths, or a row that is read holds NaN.
    """
    best = _best(weights, q_len, k_len)
    first = best.float().argmax(-1).tolist()  # (q, k) -> (q,), the first of the largest
    some = best.any(-1).tolist()
    return {(q, k) for q, k in enumerate(first) if some[q] and k < k_len}


def alignment_error_rate(
    links: AbstractSet[Link] | Sequence[AbstractSet[Link]],
    sure: AbstractSet[Link] | Sequence[AbstractSet[Link]],
    possible: AbstractSet[Link] | Sequence[AbstractSet[Link]],
) -> float:
    """Alignment error rate 1 - (|A & S| + |A & P|) / (|A| + |S|): 0 is best.

    Args:
        links: links A of one sentence, or a sequence of them, one for each sentence.
        sure: gold links S that an alignment must have, in the same form.
        possible: gold links P that it may have; every sure link is among them.

    Returns:
        The rate over the whole corpus, whose four counts are summed before they are divided, so
        that a long sentence weighs more than a short one.

    Raises:
        ValueError: the numbers of sentences differ, a sure link is not possible, or there is
            neither a link nor a sure one.

    Source: Och and Ney 2003, section 5.
    """
    if isinstance(links, AbstractSet):
        links, sure, possible = [links], [sure], [possible]
    if not len(links) == len(sure) == len(possible):
        raise ValueError(
            "links, sure and possible must be of equally many sentences, got "
            f"{len(links)}, {len(sure)} and {len(possible)}"
        )
    rows = []
    for a, s, p in zip(links, sure, possible, strict=True):
        _check_gold(s, p)
        rows.append([len(a & s), len(a & p), len(a), len(s)])
    return _rate(_error_rate, torch.tensor(rows, dtype=torch.float64).reshape(-1, 4))


def expected_error_rate(weights: Sequence[Tensor], pairs: Sequence) -> float:
    """Alignment error rate of weights whose links are those of the largest weight in each row.

    Where each row has one largest weight this is `alignment_error_rate` of `argmax_links`. Equal
    largest weights share the link evenly, and the counts are what one would expect if it were
    drawn among them. So `uniform_weights` score what a blind guess scores, and not what the first
    column happens to.

    Args:
        weights: for each pair (q, k), at least as large as its target and source.
        pairs: AlignedPair, or anything with its fields.

    Raises:
        TypeError, ValueError: as `argmax_links` and `alignment_error_rate`.
    """
    return _rate(_error_rate, _error_counts(weights, pairs))


class ClassRate(NamedTuple):
    """Hit rate of one word class, and how many target tokens it is the rate of."""

    rate: float
    tokens: int


def hit_rate(
    weights: Sequence[Tensor], pairs: Sequence, *, links: str = "sure", by_class: bool = False
) -> float | dict[str, ClassRate]:
    """Share of the target tokens whose largest weight is on a source token that gold links to it.

    A target token without a gold link of that kind is not counted. Equal largest weights count as
    the share of them that gold holds, so `uniform_weights` score the mean share of gold in a row.

    Args:
        weights: for each pair (q, k), at least as large as its target and source.
        pairs: AlignedPair, or anything with its fields.
        links: "sure" or "possible".
        by_class: give one rate for each word class of `pair.classes` instead, by name.

    Raises:
        TypeError: weights are not floating point.
        ValueError: not one weights tensor a pair, or too small for it, or NaN in it; no token to
            count; another word for `links`; classes wanted that a pair has not.
    """
    if not by_class:
        return _rate(_hit_share, _hit_counts(weights, pairs, links))
    totals = defaultdict(lambda: torch.zeros(2, dtype=torch.float64))
    for pair, hits in zip(pairs, _hits(weights, pairs, links), strict=True):
        if len(pair.classes) != len(pair.target):
            raise ValueError(
                "pairs must have a word class for each target token where by_class is wanted, got "
                f"{len(pair.classes)} for the {len(pair.target)} tokens of {' '.join(pair.target)}"
            )
        for row, hit in hits.items():
            totals[pair.classes[row]] += torch.tensor([hit, 1.0], dtype=torch.float64)
    return {name: ClassRate(float(h / n), int(n)) for name, (h, n) in sorted(totals.items())}


def hit_rate_interval(
    weights: Sequence[Tensor], pairs: Sequence, *, links: str = "sure", **options
) -> Interval:
    """`hit_rate` with its bootstrap interval over sentences; options as in `bootstrap`.

    Raises:
        TypeError, ValueError: as `hit_rate` and `bootstrap`.
    """
    return bootstrap_sums(_hit_counts(weights, pairs, links), _hit_share, **options)


def _best(weights: Tensor, q_len: int, k_len: int) -> Tensor:
    """Where each row has its largest weight: boolean (q_len, k), False all over a zero row."""
    check_floating("weights", weights)
    q_len, k_len = check_count("q_len", q_len), check_count("k_len", k_len)
    if weights.dim() != 2 or weights.shape[0] < q_len or weights.shape[1] < max(k_len, 1):
        raise ValueError(
            f"weights must be (q, k) with at least {q_len} rows and {max(k_len, 1)} columns, "
            f"got shape {shape(weights)}"
        )
    rows = weights.detach()[:q_len]  # (q, k) -> (q_len, k)
    if rows.isnan().any():
        raise ValueError(f"weights must not hold NaN in their first {q_len} rows")
    return (rows == rows.amax(-1, keepdim=True)) & (rows > 0)


def _shares(weights: Sequence[Tensor], pairs: Sequence):
    """For each pair, for each of its target tokens: {source index: share of the link}."""
    if len(weights) != len(pairs):
        raise ValueError(
            f"weights must be one tensor for each pair, got {len(weights)} for {len(pairs)} pairs"
        )
    for tensor, pair in zip(weights, pairs, strict=True):
        _check_gold(pair.sure, pair.possible)
        k_len = len(pair.source)
        rows = [{} for _ in pair.target]
        best = _best(tensor, len(pair.target), k_len)
        counts = best.sum(-1).tolist()
        for q, k in best.nonzero().tolist():
            if k < k_len:
                rows[q][k] = 1 / counts[q]
        yield pair, rows


def _error_counts(weights: Sequence[Tensor], pairs: Sequence) -> Tensor:
    """|A & S|, |A & P|, |A| and |S| of each pair, as expected: (n, 4)."""
    table = []
    for pair, rows in _shares(weights, pairs):
        drawn = {(q, k): share for q, row in enumerate(rows) for k, share in row.items()}
        within = [sum(drawn.get(link, 0.0) for link in gold) for gold in (pair.sure, pair.possible)]
        table.append([*within, sum(drawn.values()), len(pair.sure)])
    return torch.tensor(table, dtype=torch.float64).reshape(-1, 4)


def _hits(weights: Sequence[Tensor], pairs: Sequence, links: str):
    """For each pair, {target index: share of the link that gold holds} where gold has a link."""
    if links not in ("sure", "possible"):
        raise ValueError(f'links must be "sure" or "possible", got {links!r}')
    for pair, rows in _shares(weights, pairs):
        hits = dict.fromkeys((q for q, _ in sorted(getattr(pair, links))), 0.0)
        for q, k in getattr(pair, links):
            hits[q] += rows[q].get(k, 0.0)
        yield hits


def _hit_counts(weights: Sequence[Tensor], pairs: Sequence, links: str) -> Tensor:
    """Hits and counted tokens of each pair: (n, 2)."""
    table = [[sum(hits.values()), len(hits)] for hits in _hits(weights, pairs, links)]
    return torch.tensor(table, dtype=torch.float64).reshape(-1, 2)


def _error_rate(sums: Tensor) -> Tensor:
    """(..., 4) -> (...)."""
    return 1 - (sums[..., 0] + sums[..., 1]) / (sums[..., 2] + sums[..., 3])


def _hit_share(sums: Tensor) -> Tensor:
    """(..., 2) -> (...)."""
    return sums[..., 0] / sums[..., 1]


def _rate(statistic, counts: Tensor) -> float:
    value = float(statistic(counts.sum(0)))
    if value != value:  # 0 / 0
        raise ValueError("there must be something to count: no link and no gold link, got none")
    return value


def _check_gold(sure: AbstractSet[Link], possible: AbstractSet[Link]) -> None:
    if not sure <= possible:
        raise ValueError(
            f"possible must hold every sure link, and lacks {sorted(sure - possible)[:5]}"
        )
