"""Check what a chapter hands to a heat map, and bring it into the form the browser reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def as_array(name: str, value, ranks: tuple[int, ...]) -> np.ndarray:
    """A numpy array of one of `ranks` from a tensor, an array or nested lists."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if value.dtype.is_floating_point else value).numpy()
    array = np.asarray(value)
    if array.ndim not in ranks:
        wanted = " or ".join(f"{rank}-D" for rank in ranks)
        raise ValueError(f"{name} must be {wanted}, got shape {array.shape}")
    return array


def as_scores(scores) -> np.ndarray:
    """Scores as float32 (b, q, k)."""
    array = as_array("scores", scores, (2, 3))
    if array.dtype.kind not in "fiu":
        raise ValueError(f"scores must be real numbers, got {array.dtype}")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype="<f4")
    return array if array.ndim == 3 else array[None]


def as_mask(mask, shape: tuple[int, int, int]) -> np.ndarray | None:
    """A mask as boolean (b, q, k), or None when everything may be attended to."""
    if mask is None:
        return None
    array = as_array("mask", mask, (2, 3))
    if array.dtype != bool:
        raise ValueError(f"mask must be boolean, True = may attend, got {array.dtype}")
    full = array if array.ndim == 3 else array[None]
    if any(m not in (1, n) for m, n in zip(full.shape, shape, strict=True)):
        raise ValueError(
            f"mask of shape {array.shape} does not fit scores of shape {shape}: each axis must "
            "be 1 or equal"
        )
    return np.broadcast_to(full, shape)


def check_allowed(scores: np.ndarray, mask: np.ndarray | None) -> None:
    """Raise ValueError for NaN or plus infinity where attention is allowed."""
    bad = np.isnan(scores) | (scores == np.inf)
    bad = bad if mask is None else bad & mask
    if bad.any():
        place = tuple(int(n) for n in np.argwhere(bad)[0])
        raise ValueError(
            f"scores hold {scores[place]} at (b, q, k) = {place}, where the mask allows "
            "attention: only masked places may hold NaN or plus infinity"
        )


def as_values(values, batches: int, keys: int) -> np.ndarray | None:
    """Values as float32 (b, k, d); one (k, d) serves every sequence."""
    if values is None:
        return None
    array = as_array("values", values, (2, 3)).astype("<f4")
    full = array if array.ndim == 3 else np.broadcast_to(array, (batches, *array.shape))
    if full.shape[:2] != (batches, keys):
        raise ValueError(
            f"values must be ({keys}, d) or ({batches}, {keys}, d) to fit the scores, "
            f"got {array.shape}"
        )
    return np.ascontiguousarray(full)


def as_labels(name: str, labels, batches: int, count: int) -> list[list[str]]:
    """Labels as one list for all sequences, or one list for each; positions when None."""
    if labels is None:
        return [[str(n) for n in range(count)]]
    rows = list(labels)
    if isinstance(labels, str) or all(isinstance(row, str) for row in rows):
        rows = [rows]
    elif len(rows) != batches:
        raise ValueError(
            f"{name} must be one list, or one for each of {batches} sequences, "
            f"got {len(rows)} lists"
        )
    rows = [[str(text) for text in row] for row in rows]
    for row in rows:
        if len(row) != count:
            raise ValueError(f"{name} must hold {count} labels to fit the scores, got {len(row)}")
    return rows


def as_lengths(lengths, batches: int, keys: int) -> list[int]:
    """Valid lengths as one int for each sequence, at most `keys`."""
    if lengths is None:
        return [keys] * batches
    array = as_array("lengths", lengths, (1,))
    if array.shape != (batches,):
        raise ValueError(
            f"lengths must hold one length for each of {batches} sequences, got shape {array.shape}"
        )
    if array.dtype.kind not in "iu" or (array < 0).any():
        raise ValueError(
            f"lengths must be integers of at least 0, got {array.tolist()} of type {array.dtype}"
        )
    return [min(int(n), keys) for n in array]


def as_controls(controls: Sequence[str], known: tuple[str, ...]) -> list[str]:
    """The names of the controls to show."""
    names = [controls] if isinstance(controls, str) else list(controls)
    for name in names:
        if name not in known:
            raise ValueError(f"controls must be any of {', '.join(known)}; got {name!r}")
    return names


def as_positive(name: str, value) -> float:
    """A positive, finite number."""
    number = float(value)
    if not (0 < number < float("inf")):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def as_batch(batch: int, batches: int) -> int:
    """The position of one of `batches` sequences."""
    if isinstance(batch, bool) or not hasattr(batch, "__index__") or not 0 <= batch < batches:
        raise ValueError(f"batch must be 0 to {batches - 1} for {batches} sequences, got {batch}")
    return int(batch)
