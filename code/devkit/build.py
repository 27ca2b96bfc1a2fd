"""Build the site to _build/html and say where to open it.

    python -m devkit.build [--out FOLDER] [--full]

Every warning is an error. The whole log goes to FOLDER/build.log; warnings come to the screen.
Nothing is done if nothing has changed since the last build, and where pages alone were edited, they
and what shows them are made anew (book/_ext/attn_rebuild.py). All else is a full build, as is
every published one.
"""

import argparse
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from devkit import ROOT

OPTIONS = ("-W", "-n", "--keep-going")
# What a start costs for nothing: 38 grammars of addresses that jsonschema compiles, and the list of
# what is installed, which pybtex reads again for each citation (together 5 s of processor time).
START = """
import functools, importlib.metadata, sys
sys.modules["rfc3987_syntax"] = None
importlib.metadata.entry_points = functools.cache(importlib.metadata.entry_points)
from jupyter_book.cli.main import main
main()
"""
INPUTS = ("_config.yml", "_toc.yml", "requirements.txt", "book", "code", "exercises")
PASSED_OVER = {"__pycache__", "tests", "build"}  # folders that no page is made of
SHARED = {"book/glossary.md"}  # a page that all others show


def build(out: Path, source: Path = ROOT, *, full: bool = True) -> subprocess.CompletedProcess:
    """Run jupyter-book on `source`; the site is out/_build/html."""
    html = out / "_build" / "html"  # no file of an older book stays
    shutil.rmtree(html if full else html / "_static", ignore_errors=True)
    command = [sys.executable, "-c", START, "build", str(source)]
    return subprocess.run(
        [*command, "--path-output", str(out), *OPTIONS, *(["--all"] if full else [])],
        cwd=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def files(folder: Path) -> list[Path]:
    """The files in a folder, in order, without caches and the like."""
    if folder.is_file():
        return [folder]
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    kept = [p for p in inside if p.name not in PASSED_OVER and not p.name.startswith(".")]
    return [file for path in kept for file in files(path)]


def inputs(source: Path = ROOT) -> dict:
    """What a build reads: a digest of each page, and one of everything else."""
    pages, rest = {}, hashlib.sha256(f"{sys.version} {sys.prefix}".encode())
    package = Path(importlib.util.find_spec("attnbook").origin).parent
    for path in [*(f for name in INPUTS for f in files(source / name)), *files(package)]:
        name, found = path.as_posix().removeprefix(f"{source.as_posix()}/"), path.read_bytes()
        if name.startswith("book/") and path.suffix in (".md", ".ipynb") and name not in SHARED:
            pages[name] = hashlib.sha256(found).hexdigest()
        else:
            rest.update(f"{name} {hashlib.sha256(found).hexdigest()}".encode())
    return {"pages": pages, "rest": rest.hexdigest()}


def outputs(html: Path) -> str:
    """A digest of what was built, by sizes and dates: has anyone touched it?"""
    found = sorted((str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in html.rglob("*"))
    return hashlib.sha256(repr(found).encode()).hexdigest()


def refresh(out: Path, source: Path = ROOT, *, full=False) -> subprocess.CompletedProcess | None:
    """Build what has changed since the last build; None if nothing has."""
    folder = out / "_build"
    stamp, html, now = folder / "build.json", folder / "html", inputs(source)
    last = json.loads(stamp.read_text(encoding="utf-8")) if stamp.is_file() else {}
    if last.pop("built", None) != outputs(html):
        last = {}
    if last == now and not full:
        return None
    stamp.unlink(missing_ok=True)  # after a build that fails, a full one
    kept = last.get("rest") == now["rest"] and last["pages"].keys() == now["pages"].keys()
    done = build(out, source, full=full or not kept)
    if done.returncode == 0:
        stamp.write_text(json.dumps(now | {"built": outputs(html)}), encoding="utf-8")
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT, help="where _build goes")
    parser.add_argument("--full", action="store_true", help="build every page, whatever changed")
    options = parser.parse_args()
    out, start = options.out.resolve(), time.perf_counter()
    folder = out / "_build"
    print("Building the book", flush=True)
    done = refresh(out, full=options.full)
    if done is None:
        print(f"Nothing has changed. Open {(folder / 'html' / 'index.html').as_uri()}")
        return 0
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
