"""Build the site to _build/html and say where to open it.

    python -m devkit.build [--out FOLDER]

Every build reads and writes all pages: titles, numbers, terms and names stand on many of them, and
half a minute is less than what it takes to know which. Beside them lies course.zip (course.py).
Every warning is an error. The whole log goes to FOLDER/_build/build.log; warnings come to the
screen.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from devkit import ROOT, course

OPTIONS = ("-W", "-n", "--keep-going")
# What a build does for nothing: it compiles 38 grammars of addresses for jsonschema, reads the list
# of what is installed for each citation of pybtex (together 5 s of processor time), and looks for
# garbage among trees that live to its end (8 s; without that it needs 0.9 GB).
START = """
import functools, gc, importlib.metadata, sys
gc.disable()
sys.modules["rfc3987_syntax"] = None
importlib.metadata.entry_points = functools.cache(importlib.metadata.entry_points)
from jupyter_book.cli.main import main
main()
"""
MADE = ("html", ".doctrees", "jupyter_execute")  # nothing of an older book stays


def build(out: Path, source: Path = ROOT) -> subprocess.CompletedProcess:
    """Run jupyter-book on `source`; the site is out/_build/html."""
    for name in MADE:
        shutil.rmtree(out / "_build" / name, ignore_errors=True)
    command = [sys.executable, "-c", START, "build", str(source), "--path-output", str(out)]
    return subprocess.run(
        [*command, *OPTIONS],
        cwd=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT, help="where _build goes")
    out, start = parser.parse_args().out.resolve(), time.perf_counter()
    folder = out / "_build"
    print("Building the book", flush=True)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(1) as beside:
        wheels = beside.submit(course.build_wheels, Path(scratch))
        done = build(out)
        if done.returncode == 0:
            course.write(folder / "html", wheels.result())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "build.log").write_text(done.stdout, encoding="utf-8")
    if done.returncode:
        loud = [line for line in done.stdout.splitlines() if "WARNING" in line or "ERROR" in line]
        print("\n".join(loud or done.stdout.splitlines()[-30:]), file=sys.stderr)
        print(f"The build failed; the whole log: {folder / 'build.log'}", file=sys.stderr)
        return done.returncode
    page = folder / "html" / "index.html"
    print(f"Built in {time.perf_counter() - start:.0f} s. Open {page.as_uri()}")
    print("or run `make serve`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
