"""How a learning rate is chosen: by trials, until the best of them has a worse one on each side."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def ladder(
    trial: Callable[[float], dict],
    rates: Sequence[float],
    *,
    key: str = "validation",
    among: Sequence[float] | None = None,
    best: Callable = min,
) -> list[dict]:
    """The rows of a trial at each rate, then at the neighbours of the best until they are worse.

    Args:
        trial: gives the row of a rate, in which `key` is what it is judged by.
        rates: where to begin.
        among: all rates there may be, in order; None: half and double of each, without an end.
        best: min or max, of `key`; the first of equals.
    """
    rows = {}
    while rates:
        rows |= {rate: trial(rate) for rate in rates}
        top = best(rows, key=lambda rate: rows[rate][key])
        near = (top / 2, top * 2) if among is None else _beside(top, among)
        rates = [rate for rate in near if rate not in rows]
    return [rows[rate] for rate in sorted(rows)]


def best_rate(rows: Sequence[dict], key: str = "validation") -> float:
    """The rate of the row with the least loss."""
    return min(rows, key=lambda row: row[key])["rate"]


def _beside(rate: float, rates: Sequence[float]) -> Sequence[float]:
    at = list(rates).index(rate)
    return rates[max(at - 1, 0) : at + 2]
