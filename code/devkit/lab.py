"""Open the reader's edition in JupyterLab: copies to write in, which no later build touches.

    python -m devkit.lab [NAME]        after `make book`; NAME such as 03_scoring

The copies are in _build/lab. One that you have run or changed is yours and stays; the others are
renewed from the site.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from devkit import ROOT

SITE, COPIES, MADE = Path("html", "notebooks"), Path("lab"), ".made.json"


def digest(data: bytes) -> str:
    """What tells a file that a reader has changed."""
    return hashlib.sha256(data).hexdigest()


def renew(build: Path) -> list[str]:
    """Copy the edition beside the site; the names of the copies that are kept as they are."""
    folder = build / COPIES
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / MADE
    made = json.loads(record.read_text("utf-8")) if record.exists() else {}
    kept = []
    for source in sorted((build / SITE).glob("*.ipynb")):
        copy = folder / source.name
        # links into the site, as they lead from here
        data = source.read_bytes().replace(b"](../", b"](../html/")
        if copy.exists() and digest(copy.read_bytes()) not in (made.get(copy.name), digest(data)):
            kept.append(copy.name)
            continue
        copy.write_bytes(data)
        made[copy.name] = digest(data)
    record.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return kept


def main(names) -> int:
    build = ROOT / "_build"
    if not (build / SITE).is_dir():
        print("No reader's edition in _build yet: run `make book` first.", file=sys.stderr)
        return 1
    if kept := renew(build):
        print(f"Yours, and kept as they are: {', '.join(kept)} (in {build / COPIES})", flush=True)
    first = f"{names[0].removesuffix('.ipynb')}.ipynb" if names else "01_cues.ipynb"
    if not (build / COPIES / first).exists():
        print(f"There is no {first} in {build / COPIES}.", file=sys.stderr)
        return 2
    command = [sys.executable, "-m", "jupyterlab", str(COPIES / first)]
    command += [f"--ServerApp.root_dir={build}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container; Jupyter asks to be told
        command += ["--allow-root"]
    return subprocess.run(command, cwd=build).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
