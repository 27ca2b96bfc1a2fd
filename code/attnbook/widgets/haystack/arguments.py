"""What the haystack explorer takes: checked, and rounded to whole steps that the browser shares."""

from __future__ import annotations

import math

import numpy as np
import torch

from ..._checks import as_finite, as_place, check_count
from ...cheap import Indexer

MOST = {"keys": 256, "queries": 32, "features": 32}
HEADS, SIZE = 8, 16  # of an indexer: its scores are then exact in double precision
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


def as_small(indexer, keys: np.ndarray, queries: np.ndarray) -> dict[str, np.ndarray]:
    """An indexer's vectors: asked (q, h, size) and shares (q, h) of queries, small (n, size)."""
    if not isinstance(indexer, Indexer):
        raise TypeError(f"indexer must be an Indexer, got {type(indexer).__name__}")
    sizes = indexer.W_q.in_features, indexer.W_k.in_features
    if sizes != (keys.shape[1], keys.shape[1]):
        raise ValueError(
            f"indexer must take queries and keys of {keys.shape[1]} features, got {sizes}"
        )
    check_count("the indexer's heads", indexer.heads, 1, HEADS)
    check_count("the indexer's size", indexer.size, 1, SIZE)
    if indexer.activation(torch.tensor([-1.0, 2.0])).tolist() != [0.0, 2.0]:
        raise ValueError("indexer must have the activation torch.relu")
    with torch.no_grad():
        q, k = (torch.tensor(x).to(indexer.W_k.weight) for x in (queries, keys))
        asked = indexer.W_q(q).unflatten(-1, (indexer.heads, indexer.size))
        found = {"asked": asked, "small": indexer.W_k(k), "shares": indexer.W_w(q)}
    return {name: as_finite(f"the indexer's {name}", x) for name, x in found.items()}


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
