"""Frames between grader and box: four bytes of length, then JSON. Data only: no pickle, no code.

Both sides use this file. The grader trusts nothing that `decode` returns beyond its type.
"""

from __future__ import annotations

import base64
import ctypes
import json
import numbers
import struct
from collections.abc import Mapping, Sequence

import torch

MAX_FRAME = 8 << 20  # bytes, either way
MAX_DEPTH = 8
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.complex64, torch.complex128),
        *(torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool),
    )
}


def encode(value, other=None, known=lambda value: None, depth=0):
    """Turn data into JSON's types; `other(value)` refers to what is not data, or raises TypeError.

    A reference is ``{"object": ...}`` to what stays in the box, ``{"outside": ...}`` to what stays
    with the tests, or ``{"part": ...}`` to a part of an earlier answer, which `known(value)` finds.
    """
    if depth > MAX_DEPTH:
        raise TypeError("too deeply nested")

    def inside(part):
        return encode(part, other, known, depth + 1)

    if value is None or type(value) is bool:
        return value
    if isinstance(value, str):
        return str(value)
    if (part := known(value)) is not None:
        return {"part": part}
    if isinstance(value, numbers.Integral) and abs(value) < 2**63:
        return int(value)
    if isinstance(value, numbers.Real):
        return {"float": float(value).hex()}
    if isinstance(value, torch.Tensor):
        return {"tensor": _encode_tensor(value)}
    if hasattr(value, "__array__"):  # numpy's, and what becomes one
        array = value.__array__()
        try:
            return {"tensor": _encode_tensor(torch.tensor(array))}
        except TypeError:  # numbers of a kind that torch lacks, or no numbers
            return inside(array.tolist())
    if isinstance(value, Mapping):
        return {"dict": [[inside(part) for part in pair] for pair in value.items()]}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        name = "tuple" if isinstance(value, tuple) else "list"
        return {name: [inside(item) for item in value]}
    if other is None:
        raise TypeError(f"cannot send a {type(value).__name__}")
    return other(value)


def _encode_tensor(tensor):
    plain = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    plain = plain.cpu().contiguous()
    name = str(plain.dtype).removeprefix("torch.")
    size = plain.numel() * plain.element_size()
    if name not in DTYPES:
        raise TypeError(f"cannot send a tensor of type {name}")
    if size > MAX_FRAME // 2:
        raise TypeError(f"a tensor of {size >> 20} MiB is too large to send")
    plain = plain.resolve_conj().resolve_neg()
    raw = ctypes.string_at(plain.data_ptr(), size) if size else b""
    return [name, list(plain.shape), base64.b64encode(raw).decode()]


def decode(value, handle=None, depth=0):
    """Read what `encode` wrote; raises ValueError, TypeError or KeyError at anything else."""
    if depth > MAX_DEPTH + 1:
        raise ValueError("too deeply nested")
    if value is None or type(value) in (bool, str) or _is_small(value):
        return value
    if type(value) is not dict or len(value) != 1:
        raise ValueError("not a value")
    [(kind, content)] = value.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "tensor":
        return _decode_tensor(*content)
    if kind in ("object", "outside", "part") and handle is not None:
        return handle(kind, content)
    if kind in ("list", "tuple"):
        items = [decode(item, handle, depth + 1) for item in content]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        if not all(type(key) is str or _is_small(key) for key, _ in content):
            raise ValueError("not a key")  # of large numbers and of tuples many can have one hash
        return {key: decode(item, handle, depth + 1) for key, item in content}
    raise ValueError("not a value")


def _is_small(value):
    return type(value) is int and abs(value) < 2**63


def _decode_tensor(name, shape, text):
    dtype = DTYPES[name]
    if len(shape) > 8 or not all(type(n) is int and 0 <= n < 2**31 for n in shape):
        raise ValueError("not a shape")
    raw, numbers = bytearray(base64.b64decode(text, validate=True)), 1
    for n in shape:
        numbers *= n or 1  # without numbers, too: what is computed from it may have as many
    if numbers > MAX_FRAME:
        raise ValueError("not a shape")
    numbers *= 0 not in shape
    if numbers * dtype.itemsize != len(raw):
        raise ValueError("shape and size of a tensor differ")
    if dtype is torch.bool and max(raw, default=0) > 1:
        raise ValueError("not a boolean tensor")  # undefined behaviour in torch
    if not numbers:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(raw, dtype=dtype).reshape(shape)


def pack(message) -> bytes:
    """One frame."""
    body = json.dumps(message).encode()
    if len(body) > MAX_FRAME:
        raise TypeError(f"an answer of {len(body) >> 20} MiB is too large to send")
    return struct.pack(">I", len(body)) + body
