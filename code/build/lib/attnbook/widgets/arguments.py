"""Check what a chapter hands to a heat map, and bring it into the form the browser reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: What a control asks of the other arguments.
NEEDS = {
    "scale": "scale must be the feature size d",
    "head": "scores must have a head axis, (b, h, q, k), or (h, q, k) with heads=True,",
    "grid": "scores must have a head axis, (b, h, q, k), or (h, q, k) with heads=True,",
    "view": "compare must hold second scores",
}
VIEWS = ("first", "second", "difference")


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


def as_finite(name: str, value, rank: int) -> np.ndarray:
    """Finite float32 of this rank, no axis empty."""
    array = as_array(name, value, (rank,))
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be real numbers, got {array.dtype}")
    if not array.size:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return np.ascontiguousarray(array, dtype="<f4")


def as_scores(scores, heads: bool = False, name: str = "scores") -> np.ndarray:
    """Scores as float32: (b, q, k), or (b, h, q, k) where they have a head axis."""
    array = as_array(name, scores, (3, 4) if heads else (2, 3, 4))
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be real numbers, got {array.dtype}")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype="<f4")
    return array[None] if array.ndim == (3 if heads else 2) else array


def as_compare(compare, given: tuple[int, ...], heads: bool) -> np.ndarray | None:
    """Second scores in the form of the first, whose shape as `given` they must have."""
    if compare is None:
        return None
    if tuple(np.shape(compare)) != given:
        raise ValueError(
            f"compare must have the shape of the scores, {given}, got {tuple(np.shape(compare))}"
        )
    return as_scores(compare, heads, "compare")


def as_mask(mask, shape: tuple[int, ...], one_sequence: bool = False) -> np.ndarray | None:
    """A mask as boolean `shape`, (b, q, k) or (b, h, q, k); None when everything is allowed.

    3-D is (b, q, k); only beside scores of `one_sequence`, (h, q, k), it is (h, q, k) too.
    """
    if mask is None:
        return None
    array = as_array("mask", mask, (2, 3) if len(shape) == 3 else (2, 3, 4))
    if array.dtype != bool:
        raise ValueError(f"mask must be boolean, True = may attend, got {array.dtype}")
    return _fit("mask", _with_all_axes(array, len(shape), one_sequence), shape, array.shape)


def _with_all_axes(array: np.ndarray, rank: int, one_sequence: bool) -> np.ndarray:
    """`array` with axes of size 1 where it lacks that of sequences or of heads."""
    if array.ndim == 3 and rank == 4:
        return array[None] if one_sequence else array[:, None]
    return array[(None,) * (rank - array.ndim)]


def _fit(name: str, full: np.ndarray, shape: tuple, given: tuple) -> np.ndarray:
    if any(m not in (1, n) for m, n in zip(full.shape, shape, strict=True)):
        raise ValueError(
            f"{name} of shape {given} does not fit scores of shape {shape}: each axis must "
            "be 1 or equal"
        )
    return np.broadcast_to(full, shape)


def as_gold(gold, shape: tuple[int, ...]) -> np.ndarray | None:
    """Gold marks as boolean (b, q, k), the same for all heads."""
    if gold is None:
        return None
    array = as_array("gold", gold, (2, 3))
    if array.dtype != bool:
        raise ValueError(f"gold must be boolean, True = a gold mark, got {array.dtype}")
    shape = (shape[0], *shape[-2:])
    return _fit("gold", _with_all_axes(array, 3, False), shape, array.shape)


def check_allowed(scores: np.ndarray, mask: np.ndarray | None, name: str = "scores") -> None:
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


def as_values(values, shape: tuple[int, ...], one_sequence: bool = False) -> np.ndarray | None:
    """Values as float32, (b, k, d) or (b, h, k, d) as the scores' `shape`; (k, d) serves all."""
    if values is None:
        return None
    *lead, _, keys = shape
    array = as_array("values", values, (2, 3) if len(shape) == 3 else (2, 3, 4)).astype("<f4")
    third = lead[1] if one_sequence else lead[0]
    wanted = {2: (keys,), 3: (third, keys), 4: (*lead, keys)}
    if array.shape[:-1] != wanted[array.ndim]:
        forms = [f"({', '.join(map(str, wanted[n]))}, d)" for n in range(2, len(shape) + 1)]
        raise ValueError(
            f"values must be {' or '.join(forms)} to fit the scores, got {array.shape}"
        )
    full = _with_all_axes(array, len(shape), one_sequence)
    return np.ascontiguousarray(np.broadcast_to(full, (*lead, keys, array.shape[-1])))


def as_head_labels(labels, heads: int) -> list[str]:
    """One label for each of `heads` heads, positions when None; none without a head axis."""
    if labels is None:
        return [str(n) for n in range(heads)]
    if not heads:
        raise ValueError("head_labels need scores with a head axis: (b, h, q, k), or heads=True")
    return as_labels("head_labels", labels, 1, heads)[0]


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


def as_controls(
    controls: Sequence[str], known: tuple[str, ...], given: dict[str, object] | None = None
) -> list[str]:
    """The names of the controls to show; those in `given` need their argument to be true."""
    names = [controls] if isinstance(controls, str) else list(controls)
    for name in names:
        if name not in known:
            raise ValueError(f"controls must be any of {', '.join(known)}; got {name!r}")
        if not (given or {}).get(name, True):
            raise ValueError(f"{NEEDS[name]} when controls hold {name!r}")
    return names


def as_positive(name: str, value) -> float:
    """A positive, finite number."""
    number = float(value)
    if not (0 < number < float("inf")):
        raise ValueError(f"{name} must be positive and finite, got {value}")
    return number


def as_position(name: str, value, count: int, what: str) -> int:
    """The position of one of `count` things, which are called `what`."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value < count:
        raise ValueError(f"{name} must be 0 to {count - 1} for {count} {what}, got {value}")
    return int(value)


def as_batch(batch: int, batches: int) -> int:
    """The position of one of `batches` sequences."""
    return as_position("batch", batch, batches, "sequences")


def as_view(view: str, compared: bool) -> str:
    """Which of two compared matrices is shown; only "first" where there is one."""
    if view not in VIEWS:
        raise ValueError(f"view must be any of {', '.join(VIEWS)}; got {view!r}")
    if view != "first" and not compared:
        raise ValueError(f"view {view!r} needs second scores: compare")
    return view


def as_pair(name: str, labels) -> list[str]:
    """Two labels."""
    pair = [labels] if isinstance(labels, str) else [str(text) for text in labels]
    if len(pair) != 2:
        raise ValueError(f"{name} must hold 2 labels, got {len(pair)}")
    return pair
