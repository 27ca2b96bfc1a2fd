"""What a piece of work costs on a device: for cells of the book that need a GPU.

It has no run: times belong to one card, so nothing of them is stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import torch


class Cost(NamedTuple):
    """The time of a run, and the memory it holds at most beside what was held before."""

    ms: float
    megabytes: float


def cost(work: Callable[[], object], device: str, times: int = 5) -> Cost:
    """The least time of several runs, after one that compiles and warms up.

    Memory is that of CUDA's allocator in one run; nan on another device.
    """
    cuda = torch.device(device).type == "cuda"
    work()
    taken, held = [], float("nan")
    if cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    for _ in range(times):
        began = time.perf_counter()
        work()
        if cuda:  # the call comes back before the card has done its work
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    most = torch.cuda.max_memory_allocated() - held if cuda else held
    return Cost(1e3 * min(taken), most / 1e6)


def name(device: str) -> str:
    """What the device is called, to stand beside its times."""
    if torch.device(device).type == "cuda":
        return torch.cuda.get_device_name()
    return f"{device}: no GPU"
