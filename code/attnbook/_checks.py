"""Errors that name the argument, what came and what is needed. Room 0: imports nothing of ours."""

from __future__ import annotations

import operator

import torch
from torch import Tensor


def shape(tensor: Tensor) -> str:
    """Write a tensor's shape the way messages quote it, for instance ``(2, 5, 8)``."""
    return str(tuple(tensor.shape))


def check_floating(name: str, tensor: Tensor) -> None:
    """Raise TypeError unless `tensor` is a real floating-point tensor."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(tensor).__name__}")
    if not tensor.dtype.is_floating_point:
        raise TypeError(f"{name} must be floating point, got {tensor.dtype}")


def check_count(name: str, value: int, least: int = 0) -> int:
    """Return `value` as an int, or raise unless it is a whole number of at least `least`."""
    try:
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:  # a float, a string; a float tensor has __index__ and refuses to use it
        whole = None
    if whole is None:
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    value = whole
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return value


def check_positive(name: str, value: float | Tensor) -> None:
    """Raise ValueError unless a number is positive; a tensor (a learned width) is not looked at."""
    if not isinstance(value, Tensor) and not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")


def check_pair(queries: Tensor, keys: Tensor, *, same_features: bool = True) -> None:
    """Raise unless queries (..., q, d) and keys (..., k, d) agree in batch axes, dtype and `d`."""
    check_floating("queries", queries)
    check_floating("keys", keys)
    if queries.dim() < 2 or keys.dim() != queries.dim() or keys.shape[:-2] != queries.shape[:-2]:
        raise ValueError(
            "queries and keys must have the same rank, at least 2, and equal batch axes: "
            f"(..., q, d) and (..., k, d); got {shape(queries)} and {shape(keys)}"
        )
    if keys.dtype != queries.dtype:
        raise TypeError(f"keys must have the dtype of queries, {queries.dtype}, got {keys.dtype}")
    if same_features and keys.shape[-1] != queries.shape[-1]:
        raise ValueError(
            "queries and keys must have the same number of features for this score, got "
            f"{queries.shape[-1]} and {keys.shape[-1]}; GeneralScore and AdditiveScore "
            "take unequal ones"
        )


def check_choice(name: str, value: str, choices) -> str:
    """Return `value`, or raise ValueError unless it is one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_probability(name: str, value: float) -> float:
    """Return `value`, or raise ValueError unless it is at least 0 and below 1."""
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name} must be at least 0 and below 1, got {value}")
    return value


def check_ids(name: str, ids: Tensor, size: int | None = None, *, empty: bool = False) -> None:
    """Raise unless `ids` are token ids (b, n), n at least 1 or `empty`, from 0 to `size` - 1.

    The range is looked at on the CPU only: elsewhere that would wait for the device.
    """
    if not isinstance(ids, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(ids).__name__}")
    if ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be token ids, int64 or int32, got {ids.dtype}")
    if ids.dim() != 2 or (not empty and 0 in ids.shape):
        least = "" if empty else " with at least one row and one column"
        raise ValueError(f"{name} must be (b, n){least}, got shape {shape(ids)}")
    if size is not None and ids.device.type == "cpu":
        low, high = (x.item() for x in ids.aminmax())
        if low < 0 or high >= size:
            worst = low if low < 0 else high
            raise ValueError(f"{name} must hold ids from 0 to {size - 1}, got {worst}")


def check_lengths(name: str, lengths: Tensor, ids: Tensor) -> Tensor:
    """Return lengths (b,) of the rows of `ids` (b, n) as int64 on the CPU, or raise."""
    if not isinstance(lengths, Tensor):
        lengths = torch.as_tensor(lengths)
    if lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise TypeError(f"{name} must be of an integer type, got {lengths.dtype}")
    if tuple(lengths.shape) != tuple(ids.shape[:1]):
        raise ValueError(
            f"{name} must be ({ids.shape[0]},), one length for each row, got {shape(lengths)}"
        )
    lengths = lengths.to("cpu", torch.int64)
    low, high = (x.item() for x in lengths.aminmax())
    if low < 0 or high > ids.shape[1]:
        worst = low if low < 0 else high
        raise ValueError(f"{name} must be from 0 to {ids.shape[1]}, the columns, got {worst}")
    return lengths


def align_mask(mask: Tensor, target: tuple[int, ...]) -> Tensor:
    """Give `mask` the rank of scores of shape `target` and check its sizes; the rank decides.

    2-D is (q, k), 3-D is (b, q, k), 4-D is (b, h, q, k); an axis of size 1 is broadcast. Over
    scores with heads a 3-D mask gets its head axis here, so that (b, q, k) can never be read
    as (h, q, k).
    """
    if not isinstance(mask, Tensor):
        raise TypeError(f"mask must be a boolean torch.Tensor, got {type(mask).__name__}")
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean, True = may attend, got {mask.dtype}; "
            "length_mask turns lengths into a mask"
        )
    if not 2 <= mask.dim() <= 4 or mask.dim() > len(target):
        raise ValueError(
            f"mask must be (q, k), (b, q, k) or (b, h, q, k) and no deeper than the scores, "
            f"whose shape is {tuple(target)}; got {shape(mask)}"
        )
    if mask.dim() > 2 and len(target) > 4:
        raise ValueError(
            f"mask must be (q, k) over scores of more than four axes, which say nothing of where "
            f"b and h are: scores {tuple(target)}, got {shape(mask)}"
        )
    aligned = mask.unsqueeze(1) if mask.dim() == 3 and len(target) == 4 else mask
    wanted = target[len(target) - aligned.dim() :]
    # two comparisons and no `in`, which torch.compile cannot trace over symbolic sizes
    if any(m != 1 and m != t for m, t in zip(aligned.shape, wanted, strict=True)):
        raise ValueError(
            f"mask of shape {shape(mask)} does not fit scores of shape {tuple(target)}: "
            f"read as {shape(aligned)}, each axis must be 1 or that of {tuple(wanted)}"
        )
    return aligned
