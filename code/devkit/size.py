"""Lines of product and of tests, by area: `make size`.

Counted are the lines of .py, .js and .css that git tracks, without what .gitattributes calls
generated. Tests are what is in a folder `tests`, and the hidden tests of the assignments.
"""

import subprocess
from collections import Counter
from pathlib import PurePath

from devkit import ROOT

KINDS = (".py", ".js", ".css")


def tracked() -> list[str]:
    """The counted files, as paths from the root."""
    names = _git("ls-files", *(f"*{kind}" for kind in KINDS)).splitlines()
    marks = _git("check-attr", "linguist-generated", "--", *names).splitlines()
    pairs = zip(names, marks, strict=True)
    return [name for name, mark in pairs if not mark.endswith((": set", ": true"))]


def is_test(name: str) -> bool:
    """Whether a file is a test or helps one."""
    path = PurePath(name)
    listed = path.match("exercises/*/mutants.py")
    return listed or "tests" in path.parts or path.name.startswith("test_")


def area(name: str) -> str:
    """Where a file belongs: its two upper folders, or three in the package."""
    folders = PurePath(name).parts[:-1]
    return "/".join(folders[: 3 if folders[:2] == ("code", "attnbook") else 2]) or "."


def main() -> None:
    """Print the table."""
    lines = {True: Counter(), False: Counter()}
    for name in tracked():
        text = (ROOT / name).read_text(encoding="utf-8")
        lines[is_test(name)][area(name)] += text.count("\n")
    print(f"{'product':>8} {'tests':>8}")
    for place in sorted(lines[True] | lines[False]):
        print(f"{lines[False][place]:8,} {lines[True][place]:8,}  {place}")
    print(f"{lines[False].total():8,} {lines[True].total():8,}  all")


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
