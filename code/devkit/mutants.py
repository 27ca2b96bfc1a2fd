"""Break the package on purpose, one edit at a time, and see whether the tests notice.

    python -m devkit.mutants [NAME ...] [--jobs 2]

The edits are in code/tests/mutants/*.toml: a table for each file of attnbook with the `tests`
(files of code/tests) of which one must fail, and `mutants`, each what it is, the old text, which
stands in the file once, and the new one. The package is copied to a temporary folder for each; the
working tree is never touched. NAME chooses lists (`core`) or files (`masks.py`). Exits with 1 if
fewer than 95% are killed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import tomllib

from devkit import ROOT

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis  # noqa: F401  (imported once: every mutant is tried in a fork)
import pytest
import torch  # noqa: F401

LISTS = ROOT / "code" / "tests" / "mutants"
GOAL = 0.95
SECONDS = 600  # for one mutant
FORK = multiprocessing.get_context("fork")


def load(names=()) -> list[dict]:
    """The mutants of all lists and files, or of those named."""
    found = []
    for path in sorted(LISTS.glob("*.toml")):
        for file, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if not names or path.stem in names or file in names:
                common = {"file": file, "tests": entry["tests"]}
                found += [
                    common | dict(zip(("what", "old", "new"), edit, strict=True))
                    for edit in entry["mutants"]
                ]
    return found


def replaced(text: str, mutant: dict) -> str:
    """The text with one edit, or ValueError if the edit fits not exactly once."""
    if text.count(mutant["old"]) != 1 or mutant["old"] == mutant["new"]:
        times = text.count(mutant["old"])
        raise ValueError(f"{mutant['file']}: {mutant['old']!r} must stand there once, not {times}x")
    return text.replace(mutant["old"], mutant["new"])


@contextmanager
def edited(mutant: dict | None, *packages: str):
    """A temporary folder with copies of these packages, and in it one edit (None: none)."""
    with tempfile.TemporaryDirectory() as folder:
        for name in packages:
            source = ROOT / "code" / name
            shutil.copytree(source, Path(folder) / name, ignore=_unneeded, copy_function=_copy)
        if mutant:
            path = Path(folder) / mutant["file"]
            path.write_text(replaced(path.read_text(encoding="utf-8"), mutant), encoding="utf-8")
        yield folder


def killed(mutant: dict | None, tests: list[str]) -> bool:
    """Whether the tests fail on the package with this edit (None: as it is)."""
    if mutant:
        mutant = mutant | {"file": f"attnbook/{mutant['file']}"}
    with edited(mutant, "attnbook") as folder:
        paths = [str(ROOT / "code" / "tests" / test) for test in tests]
        child = FORK.Process(target=_run, args=(folder, paths))
        child.start()
        child.join(SECONDS)
        if child.is_alive():  # an endless loop is noticed, too
            child.kill()
            child.join()
    if child.exitcode not in (-9, 0, 1, 2):  # 2: the edited package could not even be imported
        raise RuntimeError(f"pytest ended with {child.exitcode} on {mutant}")
    return child.exitcode != 0


def _run(folder: str, paths: list[str]) -> None:
    sys.dont_write_bytecode = True
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        options = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]
        copy = f"pythonpath={folder} {ROOT / 'code' / 'tests'}"  # in place of pyproject.toml's
        status = pytest.main([*options, "-o", copy, *paths])
        os._exit(status)


def _unneeded(folder, names):
    return {name for name in names if name == "__pycache__"}


def _copy(source: str, target: str) -> None:
    """Copy a file; weights, which no edit touches, are only linked to."""
    if source.endswith(".safetensors"):
        os.symlink(source, target)
    else:
        shutil.copyfile(source, target)


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
