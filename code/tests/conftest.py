"""Settings of the tests: one thread, repeatable examples."""

import os
import subprocess
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch wakes: more threads are slower on small tensors

import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)


# The same examples in every run, so that a red test is red for everyone. To look further:
# HYPOTHESIS_PROFILE=explore python -m pytest code/tests
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=40, database=None
)
settings.register_profile("explore", deadline=None, max_examples=1000, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site: `ATTNBOOK_SITE` if set, else built now by `make book`, for all parts once."""
    root = Path(__file__).resolve().parents[2]
    if path := os.environ.get("ATTNBOOK_SITE"):
        folder = Path(path).resolve()
    else:
        import fcntl  # not on Windows, where `make` is not either

        folder = root / "_build" / "html"
        folder.parent.mkdir(exist_ok=True)
        with (folder.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run(["make", "book"], cwd=root, check=True, stdin=subprocess.DEVNULL)
    assert any(folder.rglob("*.html")), f"no page in {folder}: did `make book` run?"
    return folder
