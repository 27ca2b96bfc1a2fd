"""Gradescope's zip, unpacked and run as Gradescope does: /autograder, setup.sh, run_autograder.

What is not real here is the network: `setup.sh` finds stand-ins for apt-get and pip.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest
from grading_helpers import ALL, Book

from coursegrade import __main__, autograder, bubblewrap, container, reports
from coursegrade.modules import MODULES
from coursegrade.mutants import edited

EXERCISE = ALL[0]
PEEK = """
import os, socket
seen = [p for p in ("/autograder/source", "/autograder/results", "/autograder/submission")
        if os.access(p, os.R_OK) or os.access(p, os.X_OK)]
try:
    socket.socket(); seen.append("a socket")
except OSError: pass
try:
    os.fork(); seen.append("a child")
except OSError: pass
try:
    open("/autograder/results/results.json", "w"); seen.append("results")
except OSError: pass
assert not seen and os.getuid() == 65534, (seen, os.getuid())
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "autograder.zip"
    assert __main__.main(["autograder", str(EXERCISE.folder), str(path), "--salt", "a"]) == 0
    return path


def test_the_zip_holds_what_gradescope_asks_for(archive):
    with zipfile.ZipFile(archive) as packed:
        names = packed.namelist()
        assert {"setup.sh", "run_autograder", "salt"} < set(names)  # at the root of the archive
        for name in ("setup.sh", "run_autograder"):
            assert packed.getinfo(name).external_attr >> 16 & 0o111
            subprocess.run(["bash", "-n"], input=packed.read(name), check=True)
        setup = packed.read("setup.sh").decode()
    assert all(f" {name.lower()}==" in setup for name in ("jupytext", *MODULES))
    assert "chmod -R go-rwx" in setup
    assert "exercise/01_cues/test_hidden.py" in names and "coursegrade/driver.py" in names
    assert archive.stat().st_size < 200_000
    with pytest.raises(ValueError, match=r"must end in \.zip"):
        autograder.write(EXERCISE, archive.parent / "autograder")


def stub(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def in_container(tmp_path, archive, files, with_bwrap):
    """Run the autograder on a hand-in; returns results.json, or None, and what was printed."""
    top, stubs, opt = (tmp_path / name for name in ("autograder", "stubs", "opt"))
    for folder in (top / "source", top / "submission", top / "results", stubs, opt):
        folder.mkdir(parents=True)
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            path = packed.extract(member, top / "source")
            os.chmod(path, member.external_attr >> 16 & 0o777)
    shutil.copy(top / "source" / "run_autograder", top / "run_autograder")
    for name, text in files.items():
        (top / "submission" / name).write_text(text)
    stub(stubs, "apt-get", "exit 0")
    ours = f'case "$*" in "-m pip"*) exit 0;; esac\nexec {sys.executable} "$@"'
    stub(stubs, "interpreter", ours)
    stub(stubs, "python3", 'mkdir -p "$3/bin" && cp /stubs/interpreter "$3/bin/python"')
    if not with_bwrap:
        stub(stubs, "bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    walls = ["bwrap", "--die-with-parent", "--unshare-pid", *bubblewrap.USR]
    walls += ["--perms", "0755", "--dir", "/etc", "--ro-bind", "/etc/passwd", "/etc/passwd"]
    walls += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"]
    walls += bubblewrap._show(*bubblewrap._interpreter())
    walls += ["--ro-bind", str(stubs), "/stubs", "--bind", str(opt), "/opt"]
    walls += ["--bind", str(top), "/autograder", "--chdir", "/autograder", "--clearenv"]
    walls += ["--setenv", "PATH", "/stubs:/usr/sbin:/usr/bin:/bin", "--"]
    said = ""
    for script in ("/autograder/source/setup.sh", "/autograder/run_autograder"):
        done = subprocess.run([*walls, script], capture_output=True, text=True, timeout=600)
        said += done.stdout + done.stderr
        if done.returncode:
            return None, said
    return json.loads((top / "results" / "results.json").read_text()), said


@pytest.fixture
def rooted(box):
    if os.geteuid() != 0:
        pytest.skip("Gradescope's scripts run as root, and so must this")


@pytest.mark.parametrize("with_bwrap", [True, False], ids=["bubblewrap", "container"])
def test_a_hand_in_is_graded(rooted, archive, tmp_path, with_bwrap):
    book = Book(EXERCISE)
    cell = book.cell("cue_weights")
    cell["source"] = edited("".join(cell["source"]), [".sum(dim=2) / 2", ".sum(dim=2)"])
    if not with_bwrap:
        book.add("saliency", after=PEEK)
    result, said = in_container(tmp_path, archive, {"my work.ipynb": book.text()}, with_bwrap)
    assert result is not None, said
    rows = [{**test, "ok": test["status"] == "passed"} for test in result["tests"]]
    assert sum(test["max_score"] for test in rows) == sum(EXERCISE.points().values())
    assert sum(test["score"] for test in rows) == result["score"]
    assert {test["number"] for test in rows if not test["ok"]} == {"Q1"}
    assert 0 < result["score"] < sum(EXERCISE.points().values())
    assert "cell" not in result["output"], result["output"]  # no cell failed, PEEK's neither
    assert result["visibility"] == "visible" and result["stdout_visibility"] == "hidden"
    hidden = [line.strip() for line in EXERCISE.tests.hidden.splitlines() if "assert" in line]
    assert not any(line in json.dumps(result) for line in hidden)


def test_what_is_unreadable_is_said_and_a_fault_is_no_mark(rooted, archive, tmp_path):
    result, _ = in_container(tmp_path / "a", archive, {"a.ipynb": "{"}, True)
    assert result["score"] == 0 and "Hand it in again" in result["output"]
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(broken, "w") as new:
        for member in old.infolist():
            bad = b"def (" if member.filename.endswith("test_hidden.py") else old.read(member)
            new.writestr(member, bad)
    assert in_container(tmp_path / "b", broken, {"a.ipynb": Book(EXERCISE).text()}, True)[0] is None


def test_tests_that_lie_open_are_not_run(rooted, tmp_path, monkeypatch):
    """A container's box that could read the tests is none."""
    monkeypatch.setenv("COURSEGRADE_BOX", "container")
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    if container.why_not():
        pytest.skip("nobody can't run this interpreter")
    os.chmod(open_folder, 0o755)
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        os.chmod(parent, 0o755)
    assert container.readable(open_folder) == [open_folder]
    os.chmod(open_folder, 0o700)
    assert container.readable(open_folder) == []


def test_points_are_the_exercises():
    """The score is what `make grade` counts."""
    rows = [{"question": "q1", "points": 2, "ok": True, "hint": "a.", "test": "t", "message": ""}]
    record = {"status": "graded: look", "rows": rows, "cells": {"3": "bad"}, "flags": ["why"]}
    result = autograder._results(EXERCISE, record | {"seconds": 1.2, "student": "x"})
    assert result["score"] == reports.marks(record, EXERCISE.points())["auto"] == 2
    assert result["output"] == "cell 3: bad\nfor your instructor: why"
