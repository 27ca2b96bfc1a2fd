"""Make panels of what is handed to a static heat map."""

from __future__ import annotations

import numpy as np

from .._checks import as_array, as_labels, as_marks, as_weights
from .panel import Panel

#: Weights are mostly float32: a smaller difference says nothing, and is drawn as none.
ROUNDING = 1e-7


def _weights(name: str, value) -> np.ndarray:
    return as_weights(name, value, 2, most=np.inf, empty=True)


def _gold(value, shape: tuple[int, int]) -> np.ndarray | None:
    gold = None if value is None else as_array("gold", value, 2)
    if gold is not None and (gold.dtype != bool or gold.shape != shape):
        raise ValueError(f"gold must be boolean of shape {shape}, got {gold.dtype} {gold.shape}")
    return gold


def _is_one_matrix(value) -> bool:
    return value is None or (hasattr(value, "ndim") and value.ndim == 2)


def _is_one_list(value) -> bool:
    return value is None or all(isinstance(text, str) for text in value)


def as_panels(
    weights, compare, mask, gold, query_labels, key_labels, title
) -> tuple[list[Panel], float]:
    """Panels of one matrix or of several, and the largest size of what they show."""
    many = np.ndim(weights[0]) == 2 if isinstance(weights, (list, tuple)) else np.ndim(weights) == 3
    n = len(weights) if many else 1

    def each(name, value, is_one):
        values = [value] * n if is_one(value) else list(value) if many else [value]
        if len(values) != n:
            raise ValueError(
                f"{name} must hold one entry for each of {n} panels, got {len(values)}"
            )
        return values

    shown = [_weights("weights", w) for w in (weights if many else [weights])]
    if compare is not None:
        others = [_weights("compare", w) for w in each("compare", compare, lambda _: not many)]
        for first, second in zip(shown, others, strict=True):
            if first.shape != second.shape:
                raise ValueError(f"compare of shape {second.shape} does not fit {first.shape}")
        shown = [second - first for first, second in zip(shown, others, strict=True)]
        shown = [np.where(np.abs(w) < ROUNDING, 0.0, w) for w in shown]
    panels = [
        Panel(
            w,
            np.ones(w.shape, dtype=bool) if m is None else as_marks("mask", m, w.shape),
            _gold(g, w.shape),
            as_labels("query_labels", q, w.shape[0])[0],
            as_labels("key_labels", k, w.shape[1])[0],
            text,
        )
        for w, m, g, q, k, text in zip(
            shown,
            each("mask", mask, _is_one_matrix),
            each("gold", gold, _is_one_matrix),
            each("query_labels", query_labels, _is_one_list),
            each("key_labels", key_labels, _is_one_list),
            each("title", title, lambda text: isinstance(text, str)),
            strict=True,
        )
    ]
    return panels, max((np.abs(w).max(initial=0.0) for w in shown), default=0.0)
