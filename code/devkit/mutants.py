"""Break the package on purpose, one edit at a time, and see whether the tests notice.

    python -m devkit.mutants [NAME ...] [--jobs 2]

The edits are in code/tests/mutants/*.toml: a table for each file of attnbook with the `tests`
(files of code/tests) of which one must fail, and `mutants` (devkit/edits.py). The working tree is
never touched. NAME chooses lists (`core`) or files (`masks.py`). Exits with 1 if fewer than 95% are
killed.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis  # noqa: F401  (imported once: every mutant is tried in a fork)
import pytest
import torch  # noqa: F401

from devkit import ROOT
from devkit.edits import apart, edited, rows

TESTS = ROOT / "code" / "tests"
GOAL = 0.95


def load(names=()) -> list[dict]:
    """The mutants of all lists and files, or of those named."""
    return [
        mutant
        for path in sorted((TESTS / "mutants").glob("*.toml"))
        for mutant in rows(path, "mutants")
        if not names or path.stem in names or mutant["file"] in names
    ]


def killed(mutant: dict | None, tests: list[str]) -> bool:
    """Whether the tests fail on the package with this edit (None: as it is)."""
    if mutant:
        mutant = mutant | {"file": f"attnbook/{mutant['file']}"}
    with edited(mutant, "attnbook") as folder:
        status = apart(_status, folder, [str(TESTS / test) for test in tests])
    # None: an endless loop, or a crash. 2: the edited package could not even be imported
    if status not in (None, 0, 1, 2):
        raise RuntimeError(f"pytest ended with {status} on {mutant}")
    return status != 0


def _status(folder: str, paths: list[str]) -> int:
    sys.dont_write_bytecode = True
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]
    copy = f"pythonpath={folder} {TESTS}"  # in place of what pyproject.toml names
    return int(pytest.main([*options, "-o", copy, *paths]))


def main(argv=None) -> int:
    """Run, print a line for each mutant, and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="lists or files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(argv)
    mutants = load(options.names)
    sound = sorted({test for mutant in mutants for test in mutant["tests"]})
    if not mutants or killed(None, sound):
        print("no such mutants" if not mutants else f"fail without any mutant: {sound}")
        return 1
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda m: killed(m, m["tests"]), mutants)
        dead = 0
        for mutant, died in zip(mutants, results, strict=True):
            dead += died
            state = "killed  " if died else "SURVIVED"
            print(f"{state} {mutant['file']}: {mutant['what']}", flush=True)
    print(f"{dead} of {len(mutants)} killed, {dead / len(mutants):.1%}")
    return int(dead < GOAL * len(mutants))


if __name__ == "__main__":
    sys.exit(main())
