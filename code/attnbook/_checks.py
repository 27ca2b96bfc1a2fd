"""Errors that name the argument, what came and what is needed; imports nothing of ours."""

from __future__ import annotations

import math
import operator

import numpy as np
import torch
from torch import Tensor, nn


def shape(tensor: Tensor) -> str:
    """Write a tensor's shape the way messages quote it, for instance ``(2, 5, 8)``."""
    return str(tuple(tensor.shape))


def check_floating(name: str, tensor: Tensor) -> None:
    """Raise TypeError unless `tensor` is a real floating-point tensor."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(tensor).__name__}")
    if not tensor.dtype.is_floating_point:
        raise TypeError(f"{name} must be floating point, got {tensor.dtype}")


def check_count(name: str, value: int, least: int = 0, most: int | None = None) -> int:
    """Return `value` as an int, or raise unless it is a whole number from `least` to `most`.

    A size that torch.compile or torch.export has left open stays open.
    """
    try:
        plain = type(value) is int or isinstance(value, torch.SymInt)  # index would fix the size
        whole = value if plain else None if isinstance(value, bool) else operator.index(value)
    except TypeError:  # a float, a string; a float tensor has __index__ and refuses to use it
        whole = None
    if whole is None:
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    value = whole
    if value < least or (most is not None and value > most):
        needed = f"at least {least}" if most is None else f"{least} to {most}"
        raise ValueError(f"{name} must be {needed}, got {value}")
    return value


def check_sizes(**sizes: int) -> tuple[int, ...]:
    """Return sizes that a constructor is given, or raise unless each is an int of at least 1."""
    return tuple(check_count(name, size, least=1) for name, size in sizes.items())


def check_positive(name: str, value: float | Tensor) -> None:
    """Raise ValueError unless a number is positive; a tensor (a learned width) is not looked at."""
    if not isinstance(value, Tensor) and not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")


def as_divisor(value: float | Tensor, dtype: torch.dtype) -> float | Tensor:
    """A positive number that `dtype` takes neither for 0 nor for infinity; a tensor as it is."""
    limits = torch.finfo(dtype)
    return value if isinstance(value, Tensor) else min(max(value, limits.tiny), limits.max)


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
    if same_features:
        check_same_features(queries, keys)


def check_same_features(queries: Tensor, keys: Tensor) -> None:
    """Raise unless queries (..., q, d) and keys (..., k, d) agree in `d`."""
    if keys.shape[-1] != queries.shape[-1]:
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
    if size is not None and ids.device.type == "cpu" and ids.numel():
        low, high = (x.item() for x in ids.aminmax())
        if low < 0 or high >= size:
            worst = low if low < 0 else high
            raise ValueError(
                f"{name} must hold ids from 0 to {size - 1}, got {worst}: outside a vocabulary of "
                f"{size}"
            )


def look_up(embedding: nn.Embedding, name: str, ids: Tensor, *, empty: bool = False) -> Tensor:
    """Embeddings of ids, or raise as `check_ids`, which sees values after an error only."""
    check_ids(name, ids, empty=empty)
    if torch.compiler.is_compiling():
        return embedding(ids)
    try:
        return embedding(ids)
    except IndexError:
        check_ids(name, ids, embedding.num_embeddings)
        raise


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


# What pictures take, `as_...`: from tensors, arrays or nested lists, checked and in one form.


def as_array(name: str, value, *ranks: int, real: bool = False) -> np.ndarray:
    """`value` as a numpy array of one of `ranks` (none: of any), of `real` numbers if asked."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = (value.double() if value.dtype.is_floating_point else value).numpy()
    array = np.asarray(value)
    if ranks and array.ndim not in ranks:
        wanted = " or ".join(f"{rank}-D" for rank in ranks)
        raise ValueError(f"{name} must be {wanted}, got shape {array.shape}")
    if real and array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must be real numbers, got {array.dtype}")
    return array


def as_finite(name: str, value, *ranks: int, empty: bool = False) -> np.ndarray:
    """Finite real numbers as a new float64 array, with at least one of them unless `empty`."""
    array = as_array(name, value, *ranks, real=True).astype("f8")
    if not (array.size or empty):
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


def as_weights(name: str, value, *ranks: int, most: float = 1.0, empty=False) -> np.ndarray:
    """Finite numbers from 0 to `most`; a millionth more or less is taken for rounding."""
    array = as_finite(name, value, *ranks, empty=empty)
    needed = "at least 0" if most == math.inf else f"from 0 to {most:g}"
    for extreme in (array.min(initial=0.0), array.max(initial=0.0)):
        if not -1e-6 <= extreme <= most + 1e-6:
            raise ValueError(f"{name} must be {needed}, got {extreme:g}: scores are not weights")
    return array


def check_masked(name: str, weights: np.ndarray, seen: np.ndarray, where: str, axes: str) -> None:
    """Raise ValueError unless weights are 0, but for rounding, `where` they are not `seen`."""
    if (wrong := ~seen & (weights > 1e-6)).any():
        place = tuple(int(n) for n in np.argwhere(wrong)[0])
        raise ValueError(f"{name} must be 0 {where}, got {weights[place]:.4g} at {axes} = {place}")


def as_marks(
    name: str,
    value,
    shape: tuple[int, ...],
    meaning: str = "may attend",
    *,
    one_sequence: bool = False,
) -> np.ndarray | None:
    """Boolean marks on weights of `shape`, (q, k), (b, q, k) or (b, h, q, k); None stays None.

    The rank decides as in `align_mask`; only beside weights of `one_sequence`, (h, q, k), are
    three axes (h, q, k). Axes of size 1 are broadcast. `meaning` says what True is.
    """
    if value is None:
        return None
    rank = len(shape)
    array = as_array(name, value, *range(2, rank + 1))
    if array.dtype != bool:
        raise ValueError(f"{name} must be boolean, True = {meaning}, got {array.dtype}")
    full = with_axes(array, rank, one_sequence)
    if any(m not in (1, n) for m, n in zip(full.shape, shape, strict=True)):
        raise ValueError(
            f"{name} of shape {array.shape} does not fit weights of shape {shape}: each axis must "
            "be 1 or equal"
        )
    return np.broadcast_to(full, shape)


def with_axes(array: np.ndarray, rank: int, one_sequence: bool = False) -> np.ndarray:
    """`array` of `rank` axes, those of size 1 where it lacks that of sequences or of heads."""
    if array.ndim == 3 and rank == 4:
        return array[None] if one_sequence else array[:, None]
    return array[(None,) * (rank - array.ndim)]


def as_labels(name: str, labels, count: int, batches: int = 1) -> list[list[str]]:
    """Labels as one list for all sequences, or one list for each; positions when None."""
    if labels is None:
        return [[str(n) for n in range(count)]]
    rows = list(labels)
    if all(isinstance(row, str) for row in rows):
        rows = [rows]
    elif len(rows) != batches:
        raise ValueError(
            f"{name} must be one list, or one for each of {batches} sequences, "
            f"got {len(rows)} lists"
        )
    for row in rows:
        if len(row) != count:
            raise ValueError(f"{name} must hold {count} labels, got {len(row)}")
    return [[str(text) for text in row] for row in rows]


def as_number(name: str, value, *, positive: bool = False) -> float:
    """A finite number, above 0 if `positive`."""
    number = float(value)
    if not math.isfinite(number) or (positive and number <= 0):
        needed = "positive and finite" if positive else "finite"
        raise ValueError(f"{name} must be {needed}, got {value}")
    return number


def as_place(name: str, value, count: int, what: str) -> int:
    """The position, from 0, of one of `count` things, which are called `what`."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value < count:
        raise ValueError(f"{name} must be 0 to {count - 1} for {count} {what}, got {value}")
    return int(value)


def as_some(name: str, values, known, *, least: int = 0) -> list[str]:
    """Some of the `known` words, `least` or more, each once."""
    names = [values] if isinstance(values, str) else list(values)
    for word in names:
        if word not in known:
            raise ValueError(f"{name} must be any of {', '.join(known)}; got {word!r}")
    if len(names) < least or len(set(names)) < len(names):
        raise ValueError(f"{name} must be {'one or more, ' * least}each once, got {names}")
    return names
