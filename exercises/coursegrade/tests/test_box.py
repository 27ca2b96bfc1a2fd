"""The box from inside: what an attacker finds who has the process to himself."""

import os

import psutil
import pytest

from coursegrade.box import Box
from coursegrade.limits import Limits

SECRET = "hush-of-the-grader"


@pytest.fixture(scope="module")
def inside(box):
    """Runs code in a box and returns what the expression `said` is then, as text."""
    os.environ["COURSEGRADE_SECRET"] = SECRET
    running = Box(Limits())

    def run(source):
        source += "\nraise ValueError(repr(said))"
        request = {"do": "cell", "number": 1, "source": source, "seed": 0}
        return running.ask(request, 20)["error"][1]

    yield run
    running.kill()
    del os.environ["COURSEGRADE_SECRET"]


def test_no_environment_but_its_own(inside):
    found = inside(
        "import os\n"
        "pids = [p for p in os.listdir('/proc') if p.isdigit()]\n"
        "said = pids, [open(f'/proc/{p}/environ').read() for p in pids]"
    )
    assert SECRET not in found and found.startswith("(['1'],"), found


def test_process_1_has_the_limits(inside):
    found = inside(
        "said = [line for line in open('/proc/1/limits') if ' size ' in line or 'space' in line]"
    )
    assert str(Limits().memory) in found and str(Limits().file_size) in found


@pytest.mark.parametrize(
    "call",
    [
        *("os.memfd_create('a')", "os.fork()"),
        *(f"libc.syscall({number}, 0, 4096, 0o1600)" for number in (29, 64, 68, 240, 447, 438)),
    ],
)
def test_no_memory_and_no_process_beside_the_limits(inside, call):
    """memfd, SysV memory, queues and semaphores: none of them counts as the process's own."""
    found = inside(
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"try:\n    said = {call}, ctypes.get_errno()\n"
        "except OSError as problem:\n    said = -1, problem.errno"
    )
    assert found == "(-1, 1)", found


def test_it_runs_without_rights(inside):
    """Nobody outside, too: not root behind a mask."""
    inside("said = open('/proc/self/comm', 'w').write('boxed-test')")
    found = [p for p in psutil.process_iter(["name"]) if p.info["name"] == "boxed-test"]
    assert len(found) == 1
    assert found[0].uids().real != 0
    assert found[0].uids().real == (65534 if os.geteuid() == 0 else os.getuid())
