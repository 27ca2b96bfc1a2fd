"""What `make train` has stored: tables and weights, and how the code behaved that made them.

A notebook trains one seed; what it says of many, or of a longer run, comes from here. The tests
train briefly and read the weights again, and fail on a record where today's code behaves otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

FOLDER = Path(__file__).resolve().parent
LARGEST = 3_000_000  # bytes of a file of weights


def load_table(name: str) -> list[dict]:
    """Rows of the stored table `name`, one dictionary each.

    Raises:
        ValueError: no such table is stored.
    """
    return load_record(name)["rows"]


def load_record(name: str) -> dict:
    """The whole record of the stored table `name`.

    Returns:
        `rows`; what made them: `command`, `torch`, and where there are any `corpus` (hash of the
        data) and `weights` (SHA-256 of each file, by name); and what that code did then: `trace`
        (losses of brief trainings) and `reread` (what the stored weights do on a few test pairs).
    """
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        stored = sorted(p.stem for p in FOLDER.glob("*.json"))
        raise ValueError(f"name must be one of {stored}, got {name!r}; `make train` stores tables")
    return json.loads(path.read_text(encoding="utf-8"))


def save_weights(name: str, tensors: Mapping[str, Tensor], *, note: Mapping[str, str]) -> str:
    """Store the tensors of a trained model in half precision, as ``name.safetensors``.

    Args:
        tensors: a state dictionary; floating-point tensors are stored as float16.
        note: metadata that goes into the file's head: command, corpus, licence. A tensor that is
            tied to an earlier one is named there and stored once.

    Returns:
        The SHA-256 of the file.

    Raises:
        ValueError: a tensor is not finite in half precision, or the file would be too large.
    """
    from safetensors.torch import save

    half, shared, places = {}, {}, {}
    for key, tensor in tensors.items():
        place = tensor.data_ptr(), tensor.shape, tensor.stride()
        if tensor.numel() and place in places:  # tied, as an embedding and an output layer are
            shared[key] = places[place]
            continue
        places[place] = key
        kept = tensor.detach().cpu()
        kept = kept.half() if kept.is_floating_point() else kept
        if kept.is_floating_point() and not kept.isfinite().all():
            raise ValueError(f"tensors[{key!r}] must be finite in half precision, and is not")
        half[key] = kept.contiguous()
    head = json.dumps({**note, "shared": shared} if shared else dict(note), sort_keys=True)
    data = save(half, metadata={"note": head})  # one entry: several come in no fixed order
    if len(data) > LARGEST:
        raise ValueError(f"tensors must fit in {LARGEST:,} bytes, {name} takes {len(data):,}")
    (FOLDER / f"{name}.safetensors").write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def load_weights(name: str) -> dict[str, Tensor]:
    """The stored tensors of `name` as float32, ready for `load_state_dict`.

    Raises:
        ValueError: no such weights are stored.
    """
    from safetensors.torch import load

    path = FOLDER / f"{name}.safetensors"
    if not path.is_file():
        stored = sorted(p.stem for p in FOLDER.glob("*.safetensors"))
        raise ValueError(f"name must be one of {stored}, got {name!r}; `make train` stores weights")
    data = path.read_bytes()
    tensors = load(data)
    tensors |= {key: tensors[of] for key, of in _note(data).get("shared", {}).items()}
    return {key: t.float() if t.dtype == torch.float16 else t for key, t in tensors.items()}


def load_into(model: nn.Module, name: str) -> nn.Module:
    """The model with the stored weights of `name`, in evaluation mode."""
    model.load_state_dict(load_weights(name))
    return model.eval()


def _note(data: bytes) -> dict:
    """What `save_weights` wrote into the head of a file."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + size]).get("__metadata__", {}).get("note", "{}"))
