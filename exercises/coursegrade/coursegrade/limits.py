"""How much a hand-in may use, and what bounds a process so.

The limits are one record, so that a test can make each of them small.
"""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of one hand-in: seconds unless said otherwise, memory and files in bytes."""

    read: float = 30  # reading it, in a process of its own, before a box is there
    read_memory: int = 1 << 30  # more than that process has before
    start: float = 60  # until the box answers: importing torch on a busy machine
    cell: float = 20  # one cell of the notebook
    call: float = 5  # one call of a student's function
    run: float = 120  # the whole hand-in
    strikes: int = 2  # hangs or deaths of one function before it is not tried again
    restarts: int = 8  # boxes for one hand-in
    whole: float = 400  # reading, boxes, comparing: the worker itself is ended then
    memory: int = 4 << 30  # address space of the box's process, and of the worker
    cpu: int = 150  # processor seconds of one box
    processes: int = 64  # threads count, too
    files: int = 128  # open at once
    file_size: int = 16 << 20
    tmp: int = 64 << 20  # the only writable folder, in memory


KILLED = -signal.SIGALRM if hasattr(signal, "SIGALRM") else None  # how too long a reading ends


def bound(memory: int) -> None:
    """Bound this process for good; what can't have a box is in a machine of its own."""
    _address_space(memory, memory)


def _address_space(soft: int, hard: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    except (ImportError, ValueError, OSError):
        print("no memory limit here", file=sys.stderr)


@contextmanager
def reading(limits: Limits):
    """Bound what is done in this context: too long, and the kernel ends the process.

    Raises:
        MemoryError: it takes more memory than it may.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):  # a system that doesn't tell
        yield
        return
    before, most = resource.getrlimit(resource.RLIMIT_AS)
    after = pages * resource.getpagesize() + limits.read_memory
    after = after if before == resource.RLIM_INFINITY else min(before, after)
    _address_space(after, most)
    signal.setitimer(signal.ITIMER_REAL, limits.read)  # without a handler it ends C code, too
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _address_space(before, most)


def too_much(limits: Limits) -> tuple[str, str]:
    """What is said of a hand-in whose reading took too long, or too much memory."""
    memory = min(limits.read_memory, limits.memory) >> 20
    return (
        f"to read it takes more than {limits.read:g} s",
        f"to read it takes more than {memory} MB of memory",
    )
