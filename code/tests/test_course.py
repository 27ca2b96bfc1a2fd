"""course.zip: whole, light, the same each time, and enough to run the course in an empty place."""

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from coursegrade import release
from coursegrade.exercise import Exercise
from devkit import ROOT, course

MOST = 30_000_000  # bytes
OURS = {"attnbook", "experiments", "grammar"}
OF_TORCH = re.compile(r"torch$|nvidia-|cuda-|triton")  # itself, and the libraries that it pins


@pytest.fixture(scope="module")
def unpacked(site, tmp_path_factory):
    """The folder that the zip becomes."""
    folder = tmp_path_factory.mktemp("course")
    with zipfile.ZipFile(site / course.ZIP) as packed:
        packed.extractall(folder)
    return folder / course.FOLDER


def names_of(wheel) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return {name for name in packed.namelist() if ".dist-info/" not in name}


def test_it_is_light_and_whole(site, unpacked):
    assert (site / course.ZIP).stat().st_size <= MOST
    for part in ("notebooks", "assignments", course.WHEELS):
        packed = sorted(path.name for path in (unpacked / part).iterdir())
        assert packed == sorted(path.name for path in (site / part).iterdir()) != []
    assert "Permission is hereby granted" in (unpacked / "LICENSE").read_text("utf-8")
    lines = "\n".join(course.LINES)
    assert f"```bash\n{lines}\n```" in (unpacked / "README.md").read_text("utf-8")
    for page in ("index", "05_multihead", "api/masks"):
        assert (
            f"<pre>{lines.replace('&', '&amp;')}</pre>" in (site / f"book/{page}.html").read_text()
        )


def test_the_wheels_hold_every_file_and_are_the_same_each_time(site, tmp_path):
    for wheel in course.build_wheels(tmp_path):
        assert wheel.read_bytes() == (site / course.WHEELS / wheel.name).read_bytes()
    shipped = set.union(*(names_of(wheel) for wheel in tmp_path.iterdir()))
    listed = subprocess.run(
        ["git", "ls-files", *OURS], cwd=ROOT / "code", capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout: nothing says which files are ours")
    kinds = (".py", ".js", ".css", ".xz", ".json", ".safetensors", ".ttf")
    files = {name for name in listed.stdout.split() if name.endswith(kinds)}
    assert {name for name in files if "/tests/" not in name} <= shipped
    assert not [name for name in shipped if "/tests/" in name or name.startswith("devkit")]


def imported(notebook) -> set[str]:
    """The packages that a notebook imports; magics aside."""
    code = [c.source for c in notebook.cells if c.cell_type == "code" and c.id != "install"]
    nodes = [node for text in code for node in ast.walk(ast.parse(text))]
    names = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}


def test_what_the_notebooks_import_is_among_the_pins(unpacked):
    lines = (unpacked / "requirements.txt").read_text("utf-8").splitlines()[1:]
    wheels = [line for line in lines if line.startswith("./")]
    assert all((unpacked / wheel).is_file() for wheel in wheels) and len(wheels) == len(OURS)
    pins = lines[len(wheels) :]
    assert set(pins) < set((ROOT / "requirements.txt").read_text("utf-8").splitlines())
    pinned = {canonicalize_name(Requirement(pin).name) for pin in pins}
    homes = importlib.metadata.packages_distributions()
    needs = set.union(*(imported(nbformat.read(p, 4)) for p in unpacked.glob("*/*.ipynb")))
    for name in needs - OURS - sys.stdlib_module_names:
        assert {canonicalize_name(home) for home in homes[name]} & pinned, name
    assert {"torch", "d2l", "nbclient"} <= pinned
    assert not {"sphinx", "jupyter-book", "playwright", "ruff", "pytest"} & pinned


def test_links_lead_to_what_is_in_the_zip(unpacked):
    links = 0
    for path in unpacked.glob("notebooks/*.ipynb"):
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "markdown":
                for target in re.findall(r"\]\((?!\w+:|#)([^)\s]*)\)", cell.source):
                    assert (path.parent / target).is_file(), f"{path.name}: {target}"
                    links += 1
    assert links > 50


def lend(python: Path, names) -> None:
    """Let an environment have installed distributions of this one, and no others."""
    command = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    place = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    for name in names:
        installed = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in installed.files or []} - {"..", "__pycache__"}:
            if not (place / top).exists():
                (place / top).symlink_to(installed.locate_file(top))


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a permission there")
def test_an_empty_environment_runs_chapters_and_an_assignment_from_the_zip_alone(
    unpacked, tmp_path
):
    """By the README's lines, and then without a network.

    On CI what is pinned comes from the package index, but for torch, which takes gigabytes. In
    tests that run offline it is lent by this environment: only what the zip's own pins name, and
    pip, which has no index, agrees that nothing is missing.
    """
    on_ci = os.environ.get("CI", "").lower() == "true"
    venv.create(tmp_path / "env", with_pip=True)
    scripts = tmp_path / "env" / "bin"
    lent = {name for name in course.needed(["torch"]) if OF_TORCH.match(name)}
    if not on_ci:
        lines = (unpacked / "requirements.txt").read_text("utf-8").splitlines()
        pins = [Requirement(line) for line in lines if line[0] not in "#."]
        lent |= {pin.name for pin in pins if pin.marker is None or pin.marker.evaluate()}
    lend(scripts / "python", lent)
    apart = ("PYTHON", "ATTNBOOK", "VIRTUAL_ENV", "JUPYTER")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(apart)}
    environment |= {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    def run(*command, **more):
        done = subprocess.run(
            command, cwd=unpacked, env=environment | more, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    run(*course.LINES[1].split(), PIP_NO_COMPILE="1", **({} if on_ci else {"PIP_NO_INDEX": "1"}))
    # a student who knows the answers
    path = unpacked / "assignments" / "01_cues.ipynb"
    solved = release.build(Exercise(ROOT / "exercises" / path.stem), solution=True)
    answers = {c.id: c.source for c in nbformat.reads(solved, 4).cells}
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and "raise NotImplementedError" in cell.source:
            cell.source = answers[cell.id]
    nbformat.write(notebook, path)
    names = ["notebooks/01_cues.ipynb", "notebooks/03_attention.ipynb", "assignments/01_cues.ipynb"]
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    run("python", "-c", "from nbclient.cli import main; main()", "--inplace", *names, **nowhere)
    where = run("python", "-c", "import attnbook, experiments, grammar; print(attnbook.__file__)")
    assert where.startswith(str(tmp_path))
    printed = json.dumps([cell.get("outputs") for cell in nbformat.read(path, 4).cells])
    assert "NOT YET" not in printed and "nothing was found that would cost points" in printed
    assert set(re.findall(r"ok\s+test_(q\d)", printed)) == {"q1", "q2", "q3", "q4"}
