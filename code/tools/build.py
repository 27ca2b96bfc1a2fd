"""Build the site to _build/html and say where to open it.

    python code/tools/build.py [--out FOLDER]

Every warning is an error. The whole log goes to FOLDER/build.log; warnings come to the screen.
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("-W", "-n", "--keep-going", "--all")


def build(out: Path, source: Path = ROOT) -> subprocess.CompletedProcess:
    """Run jupyter-book on `source`; the site is out/_build/html."""
    shutil.rmtree(out / "_build" / "html", ignore_errors=True)  # no page of an older book stays
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", str(source)]
    return subprocess.run(
        [*command, "--path-output", str(out), *OPTIONS],
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
    out = parser.parse_args().out.resolve()
    start = time.perf_counter()
    print("Building the book", flush=True)
    done = build(out)
    folder = out / "_build"
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
