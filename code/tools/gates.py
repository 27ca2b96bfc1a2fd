"""What this machine lacks for a tagged cell: one answer for the runner and for the tests."""

import functools
import os

# Kernels run on one thread, so that sums are split alike everywhere and runs do not fight over
# cores; the fixed hash seed keeps the order of a printed set.
KERNEL_ENV = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@functools.cache
def has_cuda() -> bool:
    """Whether torch sees a CUDA device; torch is imported only when a cell asks."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def why_skipped(tags) -> str | None:
    """The reason to skip a cell with these tags on this machine, or None to run it."""
    if "gpu" in tags and not has_cuda():
        return "cell tagged `gpu`: torch.cuda.is_available() is false here"
    if "data" in tags and not os.environ.get("ATTNBOOK_DATA"):
        return "cell tagged `data`: its corpus is not here; ATTNBOOK_DATA can name a folder with it"
    return None
