"""What this machine lacks for a tagged cell: one answer for the runner and for the tests."""

import functools
import os

# Kernels run on one thread, so that sums are split alike everywhere and runs do not fight over
# cores; the fixed hash seed keeps the order of a printed set.
KERNEL_ENV = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
KERNEL_ENV["ATTNBOOK_PROGRESS"] = "0"  # no bars in what is saved or compared
# Kernels start in the notebook's folder, where a relative path would mean another place.
KERNEL_ENV |= {
    name: os.path.abspath(os.path.expanduser(os.environ[name]))
    for name in ("ATTNBOOK_DATA", "ATTNBOOK_CACHE")
    if os.environ.get(name)
}


@functools.cache
def has_cuda() -> bool:
    """Whether torch sees a CUDA device; torch is imported only when a cell asks."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@functools.cache
def why_no_corpora() -> str | None:
    """Why the corpora of others cannot be had here, or None; asked once, answered in seconds.

    They can be had if all are in the folder of ATTNBOOK_DATA or in the cache, or can be fetched.
    """
    from attnbook.data import why_missing  # not before a cell asks

    return why_missing()


def why_skipped(tags) -> str | None:
    """The reason to skip a cell with these tags on this machine, or None to run it."""
    if "gpu" in tags and not has_cuda():
        return "cell tagged `gpu`: torch.cuda.is_available() is false here"
    if "data" in tags and (reason := why_no_corpora()):
        return f"cell tagged `data`: {reason}; ATTNBOOK_DATA can name a folder with the corpora"
    return None
