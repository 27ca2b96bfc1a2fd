"""Keys and values that grow token by token; imports nothing of ours."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class KeyValues(NamedTuple):
    """Keys and values as heads, projected once and asked often: (b, h_kv, k, d) each.

    A value: nothing that is appended, here or to a copy, changes it.
    """

    keys: Tensor
    values: Tensor

    def append(self, later: KeyValues) -> KeyValues:
        """Both parts as one, (b, h_kv, k + later k, d); neither is changed."""
        if self.keys.shape[2] == 0:
            return later
        pairs = zip(self, later, strict=True)
        return KeyValues(*(torch.cat((x, y.to(x.dtype)), dim=2) for x, y in pairs))
