"""How much a hand-in may use. One record, so that a test can make every limit small."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of one hand-in: seconds unless said otherwise, memory and files in bytes."""

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
