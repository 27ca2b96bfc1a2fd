"""A translator as bytes: weights in eight bits, vocabularies, and what is said of it.

A matrix is stored as int8, row by row, after the float16 scales of its rows: row r is its integers
times scale r. Everything else is stored as float16.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnbook._checks import check_count
from attnbook.data import Vocabulary
from attnbook.transformer import Transformer

from .script import unpack

LEVELS = 127  # integers on either side of zero


class Packed(NamedTuple):
    """What a file holds: `head`, and tensors as `restore` gives them."""

    head: dict
    tensors: dict[str, Tensor]


def quantise(matrix: Tensor, levels: int = LEVELS) -> tuple[np.ndarray, np.ndarray]:
    """Round a matrix to integers of -`levels` to `levels`, each row with a scale of its own.

    Shapes: matrix (r, c) -> int8 (r, c), float16 (r,). The scale is rounded first and the row by
    the rounded one, so that rounding it costs nothing.
    """
    levels = check_count("levels", levels, least=1)
    if levels > LEVELS:
        raise ValueError(f"levels must be at most {LEVELS}, to fit in eight bits, got {levels}")
    values = matrix.detach().cpu().double().numpy()
    scales = (np.abs(values).max(axis=1) / levels).astype("<f2")
    # a row too small for float16 is a row of zeros
    divisors = np.where(scales > 0, scales, 1).astype("f8")[:, None]
    integers = np.clip(np.rint(values / divisors), -levels, levels) * (scales > 0)[:, None]
    return integers.astype("i1"), scales


def pack(
    model: Transformer,
    source_vocab: Vocabulary,
    target_vocab: Vocabulary,
    *,
    levels: int = LEVELS,
    **more,
) -> tuple[dict, bytes]:
    """Head and bytes of a model.

    Args:
        levels: as in `quantise`; fewer make the file smaller and the weights coarser.
        more: further entries of the head: examples, what is said of the model.

    Raises:
        ValueError: the browser cannot run such a model.
    """
    config = asdict(model.config)
    heads = config["num_kv_heads"]
    if heads not in (None, config["num_heads"]):
        raise ValueError(f"num_kv_heads must be num_heads or None for the browser, got {heads}")
    if config["positions"] not in ("sinusoidal", "learned", None):
        raise ValueError(
            "positions must be 'sinusoidal', 'learned' or None for the browser, got "
            f"{config['positions']!r}"
        )
    tensors, parts, start = [], [], 0
    for name, tensor in _distinct(model).items():
        content = _content(name, tensor, levels)
        tensors.append({"name": name, "shape": list(tensor.shape), "start": start})
        parts.append(content)
        start += len(content)
    head = {
        "config": config,
        "parameters": sum(p.numel() for p in model.parameters()),
        "tied": _tied(model),
        "source": list(source_vocab.tokens),
        "target": list(target_vocab.tokens),
        "tensors": tensors,
        **more,
    }
    return head, b"".join(parts)


def restore(head: dict, content: bytes) -> dict[str, Tensor]:
    """The tensors as the browser computes with them, float32, for `load_state_dict`."""
    tensors = {}
    for entry in head["tensors"]:
        tensors[entry["name"]] = torch.from_numpy(_restore(content, entry))
    if head["tied"]:
        tensors["output.weight"] = tensors["embedding.tokens.weight"]
    if head["tied"] == "all":
        tensors["encoder.embedding.tokens.weight"] = tensors["embedding.tokens.weight"]
    return tensors


def read(path: Path) -> Packed:
    """What the browser makes of a file."""
    head, content = unpack(path)
    return Packed(head, restore(head, content))


def _tied(model: Transformer) -> str:
    """Which matrices are one, "output" or "all" as in `Transformer`, or "" for none."""
    if model.output.weight is not model.embedding.tokens.weight:
        return ""
    shared = model.encoder.embedding.tokens.weight is model.embedding.tokens.weight
    return "all" if shared else "output"


def _distinct(model: Transformer) -> dict[str, Tensor]:
    """The state dictionary, with a tensor of several names under one of them."""
    left_out = {
        "": set(),
        "output": {"output.weight"},
        "all": {"output.weight", "encoder.embedding.tokens.weight"},
    }[_tied(model)]
    return {name: t for name, t in model.state_dict().items() if name not in left_out}


def _content(name: str, tensor: Tensor, levels: int) -> bytes:
    if not tensor.isfinite().all():
        raise ValueError(f"model must have finite weights, and {name} has not")
    if tensor.dim() == 2:
        integers, scales = quantise(tensor, levels)
        return scales.tobytes() + integers.tobytes()
    return tensor.detach().cpu().numpy().astype("<f2").tobytes()


def _restore(content: bytes, entry: dict) -> np.ndarray:
    shape, start = entry["shape"], entry["start"]
    scales = np.frombuffer(content, "<f2", shape[0], start).astype("f4")
    if len(shape) == 1:
        return scales
    integers = np.frombuffer(content, "i1", int(np.prod(shape)), start + 2 * shape[0])
    return integers.reshape(shape).astype("f4") * scales[:, None]
