"""Keys and values that grow token by token. Room 0: imports nothing of ours."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class KeyValues(NamedTuple):
    """Keys and values as heads, projected once and asked often: (b, h_kv, k, d) each.

    A value: nothing that is appended, here or to a copy, changes it. `room` belongs to `append`
    and may always be None.
    """

    keys: Tensor
    values: Tensor
    room: Room | None = None

    def append(self, later: KeyValues) -> KeyValues:
        """Both parts as one, (b, h_kv, k + later k, d); neither is changed.

        Where no gradient is taken, the memory is kept with room to spare, and what comes later is
        written behind what is there, so that n tokens cost n writes and not n copies.
        """
        if self.keys.shape[2] == 0:
            return later
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            pairs = zip(self[:2], later[:2], strict=True)
            return KeyValues(*(torch.cat((x, y.to(x.dtype)), dim=2) for x, y in pairs))
        n = self.keys.shape[2] + later.keys.shape[2]
        room = self.room
        if room is None or not room.fits(self, n):
            room = Room(self, 2 * n)
        room.write(later, n)
        return KeyValues(room.keys[:, :, :n], room.values[:, :, :n], room)


class Room:
    """Memory for keys and values to come, of which the first `used` places are taken.

    A place is written once. States that look at the first n places, for different n, share the
    memory; of two that would write the same place, the first does, and the other moves out.
    """

    def __init__(self, start: KeyValues, size: int):
        b, h, self.used, _ = start.keys.shape
        self.keys = start.keys.new_empty((b, h, size, start.keys.shape[3]))
        self.values = start.values.new_empty((b, h, size, start.values.shape[3]))
        self.keys[:, :, : self.used] = start.keys
        self.values[:, :, : self.used] = start.values

    def fits(self, held: KeyValues, n: int) -> bool:
        """Whether `held` is what is here, up to the first free place, and `n` places are enough.

        A copy of some rows of a state, a branch, lies elsewhere: its address tells.
        """
        b, h, used, d = held.keys.shape
        return (
            self.used == used
            and n <= self.keys.shape[2]
            and held.keys.data_ptr() == self.keys.data_ptr()
            and held.values.data_ptr() == self.values.data_ptr()
            and (b, h, d) == (*self.keys.shape[:2], self.keys.shape[3])
            and held.keys.stride() == self.keys.stride()
            and held.values.stride() == self.values.stride()
            and self.keys.is_inference() == torch.is_inference_mode_enabled()
        )

    def write(self, later: KeyValues, n: int) -> None:
        """Put `later` at the free places before place `n`."""
        self.keys[:, :, self.used : n] = later.keys
        self.values[:, :, self.used : n] = later.values
        self.used = n
