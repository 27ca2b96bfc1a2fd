"""What a heat map shows, computed in Python: the weights and hits of the browser."""

from __future__ import annotations

import math

import numpy as np


def packed(array: np.ndarray | None) -> bytes:
    """An array as the bytes that the browser reads; nothing for None."""
    if array is None:
        return b""
    return array.astype("u1" if array.dtype == bool else "<f4").tobytes()


def in_steps(weights: np.ndarray) -> np.ndarray:
    """Weights in 255 steps, as bytes; a small weight stays above zero."""
    steps = np.rint(255 * np.clip(weights, 0, 1))
    return np.where(weights > 0, np.maximum(steps, 1), 0).astype("u1")


def plane(widget, name: str, dtype: str, batch: int, head: int) -> np.ndarray:
    """One sequence and head of a packed array of the scores' shape: (q, k)."""
    full = np.frombuffer(getattr(widget, name), dtype).reshape(widget._shape)[batch]
    return full[head] if full.ndim == 3 else full


def allowed(widget, batch: int, head: int) -> np.ndarray:
    """Where attention is allowed: boolean (q, k)."""
    q, k = widget._shape[-2:]
    mask = np.ones((q, k), dtype=bool)
    if widget._mask:
        mask = plane(widget, "_mask", "u1", batch, head).astype(bool)
    mask = mask & (np.arange(k) < widget.lengths[batch])
    return mask & (np.arange(k) <= np.arange(q)[:, None]) if widget.causal else mask


def weights(widget, batch: int, head: int, view: str) -> np.ndarray:
    """Weights by `masked_softmax` in float64, or their difference: (q, k)."""
    import torch

    from ..normalize import masked_softmax

    if view == "difference":
        return weights(widget, batch, head, "second") - weights(widget, batch, head, "first")
    scores = plane(widget, "_compare" if view == "second" else "_scores", "<f4", batch, head)
    root = math.sqrt(widget.scale) if widget.scaled and widget.scale else 1.0
    tensor = torch.tensor(scores, dtype=torch.float64) / (root * widget.temperature)
    return masked_softmax(tensor, torch.tensor(allowed(widget, batch, head))).numpy()


def difference_scale(widget) -> float:
    """The least round number that holds every difference of weights now."""
    b, *h, _, _ = widget._shape
    top = max(
        np.abs(weights(widget, batch, head, "difference")).max(initial=0.0)
        for batch in range(b)
        for head in range(h[0] if h else 1)
    )
    return round_up(max(top, 0.05))


def round_up(weight: float) -> float:
    """The top of a scale: the least of 1, 0.5, 0.2, 0.1, 0.05, ... that holds it, at most 1."""
    power = 10.0 ** math.floor(math.log10(weight))
    tops = (round(step * power, 12) for step in (1, 2, 5, 10))
    return min(1.0, next(top for top in tops if top >= weight * (1 - 1e-9)))


def gold(widget) -> np.ndarray | None:
    """The gold marks of the sequence shown: boolean (q, k), or None."""
    if not widget._gold:
        return None
    b, *_, q, k = widget._shape
    return np.frombuffer(widget._gold, "u1").reshape(b, q, k)[widget.batch].astype(bool)


def hits(widget) -> tuple[int, int]:
    """How many queries have their argmax on a gold mark, and how many have gold marks."""
    marks = gold(widget)
    if marks is None:
        raise ValueError("hits need gold marks: gold")
    if widget.dim_later and widget.query is not None:
        marks = marks & (np.arange(len(marks)) <= widget.query)[:, None]
    view = "first" if widget.view == "first" else "second"
    w = weights(widget, widget.batch, widget.head, view)
    rows = marks.any(axis=1)
    if not rows.any():
        return 0, 0
    best = w.argmax(axis=1)
    hit = marks[np.arange(len(w)), best] & (w.max(axis=1) > 0)
    return int(hit[rows].sum()), int(rows.sum())
