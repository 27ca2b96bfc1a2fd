"""Make the virtual environment and install the book's exact set; a second run does nothing.

    python code/devkit/install.py [FOLDER]     FOLDER is .venv unless named

Only the standard library is used, and Windows can run it too. A stamp in the environment keeps
the hash of what was installed, so nothing is asked of the network when nothing changed.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = (
    "code",
    "code/grammar",
    "code/experiments",
    "code/devkit",
    "exercises/coursegrade",
)
SOURCES = (ROOT / "requirements.txt", *(ROOT / name / "pyproject.toml" for name in DISTRIBUTIONS))
PIP_LINE = re.compile(r"\s*(Collecting|Downloading|Building wheel|Installing collected)\b")
LARGE = re.compile(r"Downloading (\S+) \((\d+(?:\.\d+)?) ([MG]B)\)")


def digest() -> str:
    """A hash of everything that decides what is installed."""
    parts = [path.read_bytes() for path in SOURCES] + [str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def pip(python: Path, log: Path, *arguments: str) -> None:
    """Run pip; show that it moves, keep the whole story in `log`, stop with its last lines."""
    command = [str(python), "-m", "pip", *arguments]
    environment = os.environ | {
        "PYTHONUNBUFFERED": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
    }
    seen, lines, last = 0, [], time.monotonic()
    with log.open("a", encoding="utf-8") as out:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        for line in process.stdout:
            out.write(line)
            lines = [*lines[-14:], line]
            seen += line.startswith("Collecting")
            large = LARGE.search(line)
            if large and (large[3] == "GB" or float(large[2]) >= 20):
                print(f"  downloading {large[1]} ({large[2]} {large[3]})", flush=True)
            elif line.startswith("Installing collected"):
                print("  unpacking", flush=True)
            elif PIP_LINE.match(line) and time.monotonic() - last > 10:
                print(f"  {seen} packages found", flush=True)
            else:
                continue
            last = time.monotonic()
    if process.wait():
        sys.stderr.write("".join(lines))
        sys.exit(
            f"\npip could not install the book's packages (the whole story: {log}).\n"
            "This step needs a package index once; afterwards everything works offline."
        )


def main() -> None:
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        sys.exit(f"This book needs Python 3.11 to 3.13; this is {sys.version.split()[0]}.")
    folder = (ROOT / (sys.argv[1] if len(sys.argv) > 1 else ".venv")).resolve()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "installed.sha256"
    if stamp.is_file() and python.exists() and stamp.read_text() == digest():
        return
    start = time.monotonic()
    if not python.exists() or subprocess.run([python, "-c", "import pip"]).returncode:
        if folder.exists():
            shutil.rmtree(folder)
        print(f"Making {folder.name} with Python {sys.version.split()[0]}", flush=True)
        venv.create(folder, with_pip=True)
    stamp.unlink(missing_ok=True)
    log = folder / "install.log"
    print("Installing the book's packages: some minutes, once", flush=True)
    pip(python, log, "install", "-r", "requirements.txt")
    for name in DISTRIBUTIONS:
        pip(python, log, "install", "--no-deps", "-e", f"./{name}")
    stamp.write_text(digest())
    print(f"Installed in {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
