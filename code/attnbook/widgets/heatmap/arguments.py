"""What a heat map alone takes: scores, values, lengths, head labels, and its controls."""

from __future__ import annotations

import numpy as np

from ..._checks import as_array, as_labels, with_axes

VIEWS = ("first", "second", "difference")
CONTROLS = (
    *("batch", "head", "grid", "view", "lengths"),
    *("temperature", "causal", "scale", "step", "copy"),
)
_HEADS = "scores must have a head axis, (b, h, q, k), or (h, q, k) with heads=True,"
#: What a control asks of the other arguments.
NEEDS = {
    "scale": "scale must be the feature size d",
    "head": _HEADS,
    "grid": _HEADS,
    "view": "compare must hold second scores",
}


def as_scores(name: str, scores, heads: bool) -> np.ndarray:
    """Scores as float32: (b, q, k), or (b, h, q, k) where they have a head axis."""
    array = as_array(name, scores, *((3, 4) if heads else (2, 3, 4)), real=True)
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype="<f4")
    return array[None] if array.ndim == (3 if heads else 2) else array


def check_shape(name: str, value, scores) -> None:
    """Raise ValueError unless `value` has the shape of the scores, as both were given."""
    shape, wanted = tuple(np.shape(value)), tuple(np.shape(scores))
    if shape != wanted:
        raise ValueError(f"{name} must have the shape of the scores, {wanted}, got {shape}")


def check_allowed(name: str, scores: np.ndarray, mask: np.ndarray | None) -> None:
    """Raise ValueError for NaN or plus infinity where attention is allowed."""
    bad = np.isnan(scores) | (scores == np.inf)
    bad = bad if mask is None else bad & mask
    if bad.any():
        place = tuple(int(n) for n in np.argwhere(bad)[0])
        axes = "(b, q, k)" if scores.ndim == 3 else "(b, h, q, k)"
        raise ValueError(
            f"{name} hold {scores[place]} at {axes} = {place}, where the mask allows "
            "attention: only masked places may hold NaN or plus infinity"
        )


def as_values(values, shape: tuple[int, ...], one_sequence: bool) -> np.ndarray | None:
    """Values as float32, (b, k, d) or (b, h, k, d) as the scores' `shape`; (k, d) serves all."""
    if values is None:
        return None
    *lead, _, keys = shape
    array = as_array("values", values, *range(2, len(shape) + 1)).astype("<f4")
    wanted = {2: (keys,), 3: (lead[1] if one_sequence else lead[0], keys), 4: (*lead, keys)}
    if array.shape[:-1] != wanted[array.ndim]:
        forms = [f"({', '.join(map(str, wanted[n]))}, d)" for n in range(2, len(shape) + 1)]
        raise ValueError(
            f"values must be {' or '.join(forms)} to fit the scores, got {array.shape}"
        )
    full = with_axes(array, len(shape), one_sequence)
    return np.broadcast_to(full, (*lead, keys, array.shape[-1]))


def as_head_labels(labels, heads: int = 0) -> list[str]:
    """One label for each of `heads` heads, positions when None; none without a head axis."""
    if labels is not None and not heads:
        raise ValueError("head_labels need scores with a head axis: (b, h, q, k), or heads=True")
    return as_labels("head_labels", labels, heads)[0]


def as_lengths(lengths, batches: int, keys: int) -> list[int]:
    """Valid lengths as one int for each sequence, at most `keys`."""
    array = as_array("lengths", lengths, 1)
    if array.shape != (batches,):
        raise ValueError(
            f"lengths must hold one length for each of {batches} sequences, got shape {array.shape}"
        )
    if array.dtype.kind not in "iu" or (array < 0).any():
        raise ValueError(
            f"lengths must be integers of at least 0, got {array.tolist()} of type {array.dtype}"
        )
    return [min(int(n), keys) for n in array]


def check_controls(controls, **given) -> None:
    """Raise ValueError for a control in `given` whose need is not given there."""
    for name in controls:
        if not given.get(name, True):
            raise ValueError(f"{NEEDS[name]} when controls hold {name!r}")
