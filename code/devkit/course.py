"""The course to take along: course.zip beside the pages, with all that its notebooks need.

It holds wheels of the project's own packages, the chapters (the reader's edition), the students'
notebooks of the assignments, the pins of what all of these need, and a page that says how to run
them. The wheels lie beside the pages, too: a notebook that was downloaded alone installs them from
there. setuptools makes them from copies, without a network; the same sources give the same bytes.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
import tomllib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from coursegrade.modules import MODULES
from devkit import ROOT

ZIP, FOLDER, WHEELS = "course.zip", "course", "wheels"
LINES = (  # how to run it
    f"unzip {ZIP} && cd {FOLDER}",
    "pip install -r requirements.txt",
    "jupyter lab",
)
SOURCES = ("code", "code/experiments", "code/grammar")  # of the wheels
NOT_IN_WHEELS = ("__pycache__", "*.egg-info", "build", "tests", "devkit", "experiments", "grammar")
# Beside what the package declares, and what an answer to an assignment may import.
ALSO_LOADED = ("bm25s", "d2l", "statsmodels", "jupyterlab")
SYSTEMS = ({"sys_platform": "linux"}, {"sys_platform": "darwin"}, {"sys_platform": "win32"})
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can say
WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
PAGE_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\.\./book/([\w/]+)\.html[^)]*\)")
README = """# Attention, Measured

The chapters and the assignments of the course, to run. You need Python 3.11, 3.12 or 3.13.

```bash
{lines}
```

- `notebooks/` holds a notebook for each page of a chapter. Begin with `notebooks/01_cues.ipynb`.
- `assignments/` holds the graded assignments. After each question a self-check says what is wrong.
- `wheels/` holds the course's own packages, which the second line installs with what they need, in
  the versions that the course was tested with.

Use an environment of your own: `python -m venv env`, and then `. env/bin/activate` (on Windows
`env\\Scripts\\activate`) before the second line. It takes some minutes and about 2 GB, most of it
torch. On Linux the package index gives torch with its CUDA libraries, some gigabytes more; without
a GPU, put `PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu` before the second line. After
that everything here works offline. A few cells need a GPU or a corpus that is fetched: where it is
missing they say so and are skipped.

Text and figures: CC BY 4.0. Code: MIT. See LICENSE.
"""


def project(folder: str, root: Path = ROOT) -> dict:
    """What a distribution says of itself."""
    text = (root / folder / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


def wheel_names(root: Path = ROOT) -> list[str]:
    """The files' names of the wheels."""
    said = [project(folder, root) for folder in SOURCES]
    return [f"{s['name'].replace('-', '_')}-{s['version']}-py3-none-any.whl" for s in said]


def build_wheels(out: Path) -> list[Path]:
    """Make the wheels in a folder, all at once.

    Raises:
        CalledProcessError: one could not be made.
    """
    out.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"SOURCE_DATE_EPOCH": "315532800"}
    with tempfile.TemporaryDirectory() as scratch:
        running = []
        for n, folder in enumerate(SOURCES):  # setuptools writes beside what it reads
            copy = Path(scratch, str(n))
            shutil.copytree(ROOT / folder, copy, ignore=shutil.ignore_patterns(*NOT_IN_WHEELS))
            command = [sys.executable, "-c", WHEEL, str(out)]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
            running.append(subprocess.Popen(command, cwd=copy, env=environment, **pipes))
        for process in running:
            printed, _ = process.communicate()
            if process.returncode:
                raise subprocess.CalledProcessError(process.returncode, process.args, printed)
    return [out / name for name in wheel_names()]


def needed(names) -> set[str]:
    """These distributions and all that they need, on any system, as they are installed here."""
    todo, seen = [Requirement(name) for name in names], set()
    while todo:
        wanted = todo.pop()
        for extra in {"", *wanted.extras}:
            key = canonicalize_name(wanted.name), extra
            if key in seen:
                continue
            seen.add(key)
            try:
                needs = importlib.metadata.requires(wanted.name) or []
            except importlib.metadata.PackageNotFoundError:
                continue  # of another system
            for need in map(Requirement, needs):
                places = [system | {"extra": extra} for system in SYSTEMS]
                if need.marker is None or any(map(need.marker.evaluate, places)):
                    todo.append(need)
    return {name for name, _ in seen}


def requirements() -> str:
    """The pins of all that the notebooks need, and the wheels."""
    declared = [need for folder in SOURCES for need in project(folder)["dependencies"]]
    names = needed([*declared, *MODULES, *ALSO_LOADED])
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    kept = [pin for pin in pins if canonicalize_name(Requirement(pin).name) in names]
    wheels = [f"./{WHEELS}/{name}" for name in wheel_names()]
    return "\n".join([f"# In this folder: {LINES[1]}", *wheels, *kept])


def at_home(notebook: str, names: set[str]) -> str:
    """A chapter whose links lead to the notebooks beside it; other pages are not at hand."""

    def link(found: re.Match) -> str:
        words, name = found[1], found[2]
        return f"[{words}]({name}.ipynb)" if name in names else words

    book = nbformat.reads(notebook, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = PAGE_LINK.sub(link, cell.source)
    return nbformat.writes(book) + "\n"


def write(site: Path, wheels: list[Path]) -> Path:
    """Put the wheels and the zip into a built site."""
    (site / WHEELS).mkdir()
    chapters = sorted(site.glob("notebooks/*.ipynb"))
    names = {path.stem for path in chapters}
    files = {
        "README.md": README.format(lines="\n".join(LINES)),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "requirements.txt": requirements() + "\n",
    }
    for path in wheels:
        files[f"{WHEELS}/{path.name}"] = path.read_bytes()
        shutil.move(path, site / WHEELS / path.name)
    for path in chapters:
        files[f"notebooks/{path.name}"] = at_home(path.read_text(encoding="utf-8"), names)
    for path in sorted(site.glob("assignments/*.ipynb")):
        files[f"assignments/{path.name}"] = path.read_bytes()
    with zipfile.ZipFile(site / ZIP, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            entry = zipfile.ZipInfo(f"{FOLDER}/{name}", EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = (
                zipfile.ZIP_STORED if name.endswith(".whl") else packed.compression
            )
            packed.writestr(entry, content)
    return site / ZIP
