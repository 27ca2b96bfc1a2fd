"""What the haystack explorer takes: checked, and rounded to whole steps that the browser shares."""

from __future__ import annotations

import math

import numpy as np
import torch

from ..._checks import as_finite, as_place, check_count

MOST = {"keys": 256, "queries": 32, "features": 32}
LARGEST = 2**15 - 1


def as_pair(keys, queries) -> tuple[np.ndarray, np.ndarray]:
    """Keys (n, d) and queries (q, d) of the same features, not too many."""
    keys, queries = as_finite("keys", keys, 2), as_finite("queries", queries, 2)
    if keys.shape[1] != queries.shape[1]:
        raise ValueError(
            f"queries must have the features of keys, {keys.shape[1]}, got {queries.shape[1]}"
        )
    check_count("the number of keys", len(keys), 2, MOST["keys"])
    check_count("the number of queries", len(queries), 1, MOST["queries"])
    check_count("the number of features", keys.shape[1], 1, MOST["features"])
    return keys, queries


def as_directions(directions, d: int) -> np.ndarray:
    """Directions (d, r) with r at most d."""
    array = as_finite("directions", directions, 2)
    if array.shape[0] != d or array.shape[1] > d:
        raise ValueError(f"directions must be ({d}, r), r at most {d}, got {array.shape}")
    return array


def as_needles(needles, q: int, n: int) -> list[int]:
    """One key for each query."""
    places = [as_place("needles", place, n, "keys") for place in needles]
    if len(places) != q:
        raise ValueError(f"needles must hold a key for each of {q} queries, got {len(places)}")
    return places


def in_whole_steps(array: np.ndarray) -> tuple[bytes, float]:
    """int16, little-endian, and its step, a power of two: products of such numbers are exact."""
    largest = float(np.abs(array).max())
    step = 2.0 ** math.ceil(math.log2(largest / LARGEST)) if largest else 1.0
    return np.rint(array / step).astype("<i2").tobytes(), step


def from_steps(data: bytes, step: float, shape: tuple[int, ...]) -> torch.Tensor:
    """The numbers again, in double precision."""
    return torch.from_numpy(np.frombuffer(data, "<i2").reshape(shape) * step)
