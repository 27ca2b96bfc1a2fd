"""The self-checks that travel in the students' notebook. This file's functions are inlined there:

nothing but torch may be imported, and every message is for a student.
"""

import hashlib
from pathlib import Path
from types import SimpleNamespace

import torch

STUDENT = ""  # the notebook's own cell sets it


def points(n, question):
    """Say how many points a test is worth."""

    def mark(test):
        test.points = n
        return test

    return mark


def cases(**named):
    """Run a test once for each value of an argument."""
    [(name, values)] = named.items()

    def mark(test):
        test.cases = [{name: value} for value in values]
        return test

    return mark


def check(*tests):
    """Run self-checks on numbers that are yours alone, and say what is probably wrong."""
    for test in tests:
        for case in getattr(test, "cases", [{}]):
            name = test.__name__ + "".join(f"[{value}]" for value in case.values())
            digest = hashlib.sha256(f"{STUDENT}/{name}".encode()).digest()
            rng = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
            try:
                test(SimpleNamespace(**globals()), rng, **case)
            except NotImplementedError:
                print("NOT YET ", name, "- not answered yet")
            except Exception as problem:
                words = str(problem).strip().split("\n")[0] or "the result is not right yet"
                if not isinstance(problem, AssertionError):
                    words = f"{type(problem).__name__}: {words}"
                print("NOT YET ", name, "-", words)
            else:
                print("ok      ", name)


def size(most=64):
    """Say how many MB the notebook has: with large outputs it may be too large to hand in."""
    for path in sorted(Path().glob("*.ipynb")):
        print(f"size      {path.name}: {path.stat().st_size / 2**20:.1f} MB of {most} MB at most")
    print(f"size      hand in at most {most} MB; clearing the outputs makes a notebook smaller")
