"""Settings of the tests: one thread, repeatable examples."""

import os
import subprocess
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before torch wakes: more threads are slower on small tensors

import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)

# One name for all processes of a run of the tests: what starts them hands it on.
RUN = os.environ.setdefault("ATTNBOOK_RUN", f"{os.getpid()} {time.time()}")

# The same examples in every run, so that a red test is red for everyone. To look further:
# HYPOTHESIS_PROFILE=explore python -m pytest code/tests
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=40, database=None
)
settings.register_profile("explore", deadline=None, max_examples=1000, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site: `ATTNBOOK_SITE` if set, else built now, once for a run."""
    root = Path(__file__).resolve().parents[2]
    if path := os.environ.get("ATTNBOOK_SITE"):
        folder = Path(path).resolve()
    else:
        import fcntl  # not on Windows, where `make` is not either

        folder = root / "_build" / "html"
        folder.parent.mkdir(exist_ok=True)
        with (folder.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            built = folder.parent / "built-for"
            if not built.is_file() or built.read_text() != RUN:
                subprocess.run([sys.executable, "-m", "devkit.build"], cwd=root, check=True)
                built.write_text(RUN)
    assert any(folder.rglob("*.html")), f"no page in {folder}: did `make book` run?"
    return folder
