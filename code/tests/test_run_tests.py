"""Parts of the tests at once: all that is printed is seen, no failure is lost, no test left out."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
import tomllib

from devkit import run_tests


def says(text, status=0):
    return [sys.executable, "-c", f"import sys; print({text!r}, flush=True); sys.exit({status})"]


def waits(mine, other):
    """A command that ends when the other one has begun."""
    code = f"open({str(mine)!r}, 'w'); import os, time\nwhile not os.path.exists({str(other)!r}):"
    return [sys.executable, "-c", f"{code} time.sleep(0.01)"]


@pytest.mark.parametrize("statuses", [(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1), (0, 2, 1, 0)])
def test_a_failure_of_any_part_is_a_failure(statuses, capfd):
    commands = [says(f"said{n}", status) for n, status in enumerate(statuses)]
    assert run_tests.at_once(commands) == max(statuses)
    out = capfd.readouterr().out.split()
    assert sorted(w for w in out if w.startswith("said")) == [f"said{n}" for n in range(4)]


def test_a_part_that_is_killed_is_a_failure():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run_tests.at_once([says("here"), [sys.executable, "-c", code]]) != 0


def test_they_run_at_once(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    assert run_tests.at_once([waits(one, other), waits(other, one)]) == 0


def test_together_the_parts_are_everything():
    """What a part leaves out is another part, and each folder of tests is in one."""
    named = {word for part in run_tests.PARTS for word in part if word[0] != "-"}
    left = {w.removeprefix("--ignore=") for p in run_tests.PARTS for w in p if w[0] == "-"}
    settings = tomllib.loads((run_tests.ROOT / "pyproject.toml").read_text("utf-8"))
    assert left <= named
    assert named - left == set(settings["tool"]["pytest"]["ini_options"]["testpaths"])
    assert all((run_tests.ROOT / path).exists() for path in named)


def test_arguments_are_handed_to_pytest(monkeypatch):
    asked = []
    done = SimpleNamespace(returncode=4)
    monkeypatch.setattr(subprocess, "run", lambda command, cwd: asked.append(command) or done)
    assert run_tests.main(["-k", "masks"]) == 4
    assert asked == [[*run_tests.PYTEST, "-k", "masks"]]
