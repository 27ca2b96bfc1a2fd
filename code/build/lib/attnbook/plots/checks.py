"""Check what is handed to a static heat map, and make panels of it."""

from __future__ import annotations

import numpy as np

from .panel import Panel

#: Weights are mostly float32: a smaller difference says nothing, and is drawn as none.
ROUNDING = 1e-7


def _matrix(name: str, value, dtype=None) -> np.ndarray:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if value.dtype.is_floating_point else value).numpy()
    matrix = np.asarray(value)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be 2-D, (q, k), got shape {matrix.shape}")
    if dtype is bool and matrix.dtype != bool:
        raise ValueError(f"{name} must be boolean, True = may attend, got {matrix.dtype}")
    return matrix


def _weights(value) -> np.ndarray:
    weights = _matrix("weights", value).astype(float)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights must be finite and at least 0: scores are not weights")
    return weights


def _mask(value, shape: tuple[int, int]) -> np.ndarray:
    if value is None:
        return np.ones(shape, dtype=bool)
    mask = _matrix("mask", value, bool)
    if any(m not in (1, n) for m, n in zip(mask.shape, shape, strict=True)):
        raise ValueError(f"mask of shape {mask.shape} does not fit weights of shape {shape}")
    return np.broadcast_to(mask, shape)


def _labels(name: str, labels, count: int) -> list[str]:
    labels = [str(n) for n in range(count)] if labels is None else [str(text) for text in labels]
    if len(labels) != count:
        raise ValueError(f"{name} must hold {count} labels to fit the weights, got {len(labels)}")
    return labels


def _gold(value, shape: tuple[int, int]) -> np.ndarray | None:
    if value is None:
        return None
    gold = _matrix("gold", value)
    if gold.dtype != bool or gold.shape != shape:
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

    values = [_weights(w) for w in (weights if many else [weights])]
    if compare is not None:
        seconds = [_weights(w) for w in (each("compare", compare, lambda _: not many))]
        for first, second in zip(values, seconds, strict=True):
            if first.shape != second.shape:
                raise ValueError(f"compare of shape {second.shape} does not fit {first.shape}")
        values = [second - first for first, second in zip(values, seconds, strict=True)]
        values = [np.where(np.abs(w) < ROUNDING, 0.0, w) for w in values]
    parts = zip(
        values,
        each("mask", mask, _is_one_matrix),
        each("gold", gold, _is_one_matrix),
        each("query_labels", query_labels, _is_one_list),
        each("key_labels", key_labels, _is_one_list),
        each("title", title, lambda text: isinstance(text, str)),
        strict=True,
    )
    panels = [
        Panel(
            w,
            _mask(m, w.shape),
            _gold(g, w.shape),
            _labels("query_labels", q, w.shape[0]),
            _labels("key_labels", k, w.shape[1]),
            text,
        )
        for w, m, g, q, k, text in parts
    ]
    return panels, max((np.abs(w).max(initial=0.0) for w in values), default=0.0)
