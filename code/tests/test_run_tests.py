"""Two groups of tests at once: both outputs are seen, and no failure is lost."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import run_tests


def says(text, status=0):
    return [sys.executable, "-c", f"import sys; print({text!r}, flush=True); sys.exit({status})"]


def waits(mine, other):
    """A command that ends when the other one has begun."""
    code = f"open({str(mine)!r}, 'w'); import os, time\nwhile not os.path.exists({str(other)!r}):"
    return [sys.executable, "-c", f"{code} time.sleep(0.01)"]


@pytest.mark.parametrize("one, other, status", [(0, 0, 0), (1, 0, 1), (0, 1, 1), (2, 1, 1)])
def test_a_failure_on_either_side_is_a_failure(one, other, status, capfd):
    assert run_tests.side_by_side(says("here", one), says("there", other)) == status
    assert capfd.readouterr().out.split() == ["here", "there"]


def test_both_run_at_once(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    assert run_tests.side_by_side(waits(one, other), waits(other, one)) == 0


def test_together_the_groups_are_everything(monkeypatch):
    groups = []
    monkeypatch.setattr(run_tests, "side_by_side", lambda *commands: groups.extend(commands) or 3)
    assert run_tests.main([]) == 3
    rest, browser = groups
    assert rest == [*run_tests.PYTEST, f"--ignore={run_tests.BROWSER}"]
    assert browser == [*run_tests.PYTEST, run_tests.BROWSER]
    assert any((run_tests.ROOT / run_tests.BROWSER).glob("test_*.py"))


def test_arguments_are_handed_to_pytest():
    assert run_tests.main(["--version"]) == 0
    assert run_tests.main(["--no-such-option"]) != 0
