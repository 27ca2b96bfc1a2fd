"""The frame around the book: pins, targets, set-up, licences, and nothing of one machine."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from devkit import install

ROOT = Path(__file__).resolve().parents[2]


PYTHONS = ("3.11", "3.13")  # the oldest and the newest that the book serves


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def pins():
    lines = (line.split("#")[0].strip() for line in read("requirements.txt").splitlines())
    return [Requirement(line) for line in lines if line]


def test_requirements_are_pinned_exactly():
    for requirement in pins():
        specifiers = list(requirement.specifier)
        assert [s.operator for s in specifiers] == ["=="], requirement
        assert not re.search(r"[+*]", specifiers[0].version), requirement
        assert requirement.url is None
    names = [r.name.lower() for r in pins()]
    assert len(set(names)) == len(names)
    exact = {r.name: str(r.specifier) for r in pins()}
    assert exact["jupyter-book"] == "==1.0.4.post1"
    assert exact["d2l"] == "==0.17.0"


@pytest.mark.skipif("ATTNBOOK_UNPINNED" in os.environ, reason="ATTNBOOK_UNPINNED: newest stack")
def test_what_runs_is_what_is_pinned():
    for requirement in pins():
        if requirement.marker is None or requirement.marker.evaluate():
            installed = importlib.metadata.version(requirement.name).split("+")[0]
            assert requirement.specifier.contains(installed, prereleases=True), requirement


@pytest.mark.skipif("ATTNBOOK_UNPINNED" in os.environ, reason="ATTNBOOK_UNPINNED: newest stack")
def test_every_requirement_of_a_requirement_is_pinned():
    """Nothing is left to the day of the installation (torch pins its own GPU libraries)."""
    pinned = {re.sub(r"[-_.]+", "-", r.name).lower() for r in pins()}
    for name in pinned:
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # a pin for another system
        for need in map(Requirement, needs):
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                needed = re.sub(r"[-_.]+", "-", need.name).lower()
                gpu = needed.startswith(("nvidia-", "cuda-", "triton"))
                assert needed in pinned or gpu, f"{name} needs {needed}"


def test_make_help_lists_every_target_in_a_line():
    makefile = read("Makefile")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    quiet = ["make", "--no-print-directory", "help"]
    shown = subprocess.run(quiet, cwd=ROOT, capture_output=True, text=True, check=True)
    shown = shown.stdout.splitlines()
    assert [line.split()[1] for line in shown] == targets
    assert all(len(line.split()) > 3 and len(line) <= 100 for line in shown)
    assert {"book", "serve", "test", "notebooks", "help"} <= set(targets)


def fake_python(folder, name, answer):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return path


def find_python(path, *arguments):
    return subprocess.run(
        ["/bin/sh", str(ROOT / "code/devkit/find_python.sh"), *arguments],
        env={"PATH": path},
        capture_output=True,
        text=True,
    )


posix = pytest.mark.skipif(os.name == "nt", reason="the shell script is for make, not Windows")


@posix
def test_find_python_passes_over_stubs_and_old_ones(tmp_path):
    fake_python(tmp_path / "a", "python3.12", "exit 127")
    fake_python(tmp_path / "b", "python3", "echo 'Python 3.9: this book needs 3.11 to 3.13'")
    good = tmp_path / "c" / "python3"
    good.parent.mkdir()
    good.symlink_to(sys.executable)
    found = find_python(":".join(str(tmp_path / name) for name in "abc"))
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == str(good)


@posix
def test_find_python_says_what_is_missing(tmp_path):
    none = find_python(str(tmp_path))
    assert none.returncode != 0 and "3.11, 3.12 or 3.13" in none.stderr
    assert "apt install" in none.stderr and "PYTHON=" in none.stderr
    fake_python(tmp_path, "python3", "echo 'Python 3.12: it has no venv module (apt install x)'")
    bare = find_python(str(tmp_path))
    assert bare.returncode != 0 and "no venv module" in bare.stderr
    named = find_python(os.environ["PATH"], "python-that-is-not-there")
    assert named.returncode != 0 and "python-that-is-not-there" in named.stderr


def test_an_install_is_made_again_only_for_a_changed_pin(tmp_path, monkeypatch):
    python = tmp_path / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    python.parent.mkdir()
    python.touch()
    before = install.digest()
    (tmp_path / "installed.sha256").write_text(before)
    monkeypatch.setattr(sys, "argv", ["install.py", str(tmp_path)])
    monkeypatch.setattr(install, "pip", lambda *_: pytest.fail("pip was run"))
    install.main()
    changed = tmp_path / "requirements.txt"
    changed.write_text(read("requirements.txt") + "# one more line\n")
    monkeypatch.setattr(install, "SOURCES", (changed, *install.SOURCES[1:]))
    assert install.digest() != before


def test_a_failed_install_says_why(tmp_path, capsys):
    log = tmp_path / "install.log"
    with pytest.raises(SystemExit) as stop:
        install.pip(Path(sys.executable), log, "install", "--no-index", "a-package-that-is-not")
    assert "package index" in str(stop.value) and str(log) in str(stop.value)
    assert "a-package-that-is-not" in capsys.readouterr().err
    assert "a-package-that-is-not" in log.read_text()


def test_serve_without_a_site_says_what_to_do(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    done = subprocess.run(["make", "serve"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0 and "make book" in done.stderr


def test_workflows_cover_both_ends_and_call_the_readmes_commands():
    script = read(".ci/run")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert script.rstrip().endswith("\nmake test") and "export CI=true" in script
    assert "make test" in read("README.md") and "make book" in read("README.md")
    test = yaml.safe_load(read(".github/workflows/test.yml"))
    matrix = test["jobs"]["test"]["strategy"]["matrix"]
    assert {"ubuntu-latest", "macos-latest"} <= set(matrix["os"])
    assert set(PYTHONS) == set(matrix["python"])
    for name in ("publish", "nightly"):
        assert yaml.safe_load(read(f".github/workflows/{name}.yml"))["jobs"]
    hooks = yaml.safe_load(read(".pre-commit-config.yaml"))
    assert [repo["repo"] for repo in hooks["repos"]] == ["local"]


def test_one_version_one_pair_of_licences_and_no_made_up_address():
    version = re.search(r'^version = "(.*)"$', read("code/pyproject.toml"), re.MULTILINE)[1]
    assert yaml.safe_load(read("CITATION.cff"))["version"] == version
    assert re.search(r"^## \[Unreleased\]", read("CHANGELOG.md"), re.MULTILINE)
    text = read("LICENSE")
    assert "Permission is hereby granted, free of charge" in text
    assert "https://creativecommons.org/licenses/by/4.0/" in text
    for name in ("README.md", "_config.yml", "CONTRIBUTING.md"):
        assert "CC BY 4.0" in read(name) and "MIT" in read(name), name
    assert yaml.safe_load(read("_config.yml"))["repository"]["url"] == ""


def test_katex_is_the_version_that_sphinx_brings():
    from sphinxcontrib import katex

    folder = ROOT / "book" / "_site" / "katex"
    assert katex.katex_version in (folder / "katex.min.css").read_text(encoding="utf-8")[:80]
    assert "MIT License" in (folder / "LICENSE").read_text(encoding="utf-8")


BINARY = {".woff2", ".ttf", ".png", ".js", ".safetensors", ".xz"}  # or not of ours


def test_nothing_of_one_machine_is_tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout: nothing is tracked here")
    machine = re.compile(r"(?<![\w.])/(?:root|work|home/(?!someone)\w+)/[\w.-]+")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in BINARY or not path.is_file():
            continue
        found = machine.search(path.read_text(encoding="utf-8"))
        assert not found, f"{name}: {found[0]}"


@pytest.mark.skipif(os.name == "nt", reason="the workflow runs on Linux")
def test_the_publishing_workflow_names_the_addresses_and_fills_the_branch(tmp_path):
    """Its own commands, on copies: what the book's links and Colab need is in place."""
    steps = yaml.safe_load(read(".github/workflows/publish.yml"))["jobs"]["build"]["steps"]
    name, put = (
        next(step["run"] for step in steps if step.get("name", "").startswith(words))
        for words in ("Name the public", "Put the reader's")
    )
    assert "make book PYTHON=python ARGS=--full" in [step.get("run") for step in steps]
    (tmp_path / "_config.yml").write_text(read("_config.yml"), encoding="utf-8")
    site = "https://owner.example/course"
    script = name.replace("${{ steps.pages.outputs.base_url }}", site)
    env = os.environ | {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "o/course"}
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=env, check=True)
    settings = yaml.safe_load((tmp_path / "_config.yml").read_text(encoding="utf-8"))
    assert settings["repository"]["url"] == "https://github.com/o/course"
    assert settings["html"]["baseurl"] == site
    # the branch that Colab opens holds what its first cell and Binder install
    launch = read("book/_ext/attn_launch.py")
    branch = re.search(r'^EDITION = "(\w+)"', launch, re.MULTILINE)[1]
    assert f"-b {branch}" in put and put.rstrip().endswith(branch)
    for part in ("_build/html/notebooks/*.ipynb", " code ", " binder ", " requirements.txt "):
        assert part in put
