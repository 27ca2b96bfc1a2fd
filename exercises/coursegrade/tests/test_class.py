"""A class from its download to its gradebook: killed twice and resumed, and on a cluster.

Twelve hand-ins here; `CLASS=300 make test ARGS=exercises/coursegrade/tests/test_class.py` is a
real class, with every hostile hand-in that there is.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import generated_class
import psutil
import pytest
from exports import table

from coursegrade import cluster

SIZE = int(os.environ.get("CLASS", "12"))
PATIENCE = 60 + 30 * SIZE  # seconds for a run of the whole class, on a busy machine
KILLS = 2


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    found = generated_class.generate(SIZE, tmp_path_factory.mktemp("outside") / "escaped")
    assert len({member.student for member in found}) == SIZE
    return found


@pytest.fixture(scope="module")
def folder(members, tmp_path_factory):
    path = tmp_path_factory.mktemp("class")
    generated_class.write(members, path)
    return path


def start(*words, **variables):
    """A Python of ours, in a process of its own."""
    paths = os.pathsep.join([str(Path(generated_class.__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, **variables}
    return subprocess.Popen([sys.executable, *map(str, words)], env=environment)


def grading(*words):
    return start(generated_class.__file__, "grade", *words)


def stored(out):
    return {path.name for path in (out / ".results").glob("*.json")}


def until(true, process=None, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it took too long"
        assert process is None or process.poll() is None, "it ended before"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def graded(box, members, folder, tmp_path_factory):
    """The class, graded by three runs of which two were killed without a word."""
    out = tmp_path_factory.mktemp("out")
    started, kept, left = time.monotonic(), set(), []
    for part in range(1, KILLS + 1):
        process = grading(folder, out)
        enough = part * SIZE // (KILLS + 1)
        until(lambda n=enough: len(stored(out)) >= n, process)
        left += psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (out / "results.json").exists()
        assert kept <= stored(out), "a result was lost by a kill"
        kept = stored(out)
    process = grading(folder, out)
    assert process.wait(PATIENCE) == 0
    assert kept <= stored(out), "a result was marked twice"
    until(lambda: not any(map(alive, left)), seconds=60)
    return out, time.monotonic() - started


def alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_every_mark_is_right_none_forged_none_lost(graded, members, capsys):
    out, seconds = graded
    said = generated_class.wrong(members, out)
    with capsys.disabled():
        print(f"\n{SIZE} hand-ins, killed {KILLS} times: {seconds / SIZE:.2f} s a hand-in")
        print("\n".join(said))
    assert not said
    rows = table(out / "gradebook.csv")
    assert len(rows) == SIZE
    blank = sum(row["auto"] == "" for row in rows)
    assert blank == sum(member.points is None for member in members)


def test_there_is_every_kind(members):
    statuses = {member.status for member in members}
    assert statuses == {"graded", "graded: look", "unreadable"}
    points = {member.points for member in members}
    assert generated_class.FULL in points and len(points) > 5
    assert any(member.late for member in members)
    names = {Path(name).suffix for member in members for name in member.files}
    assert SIZE < 12 or names > {".ipynb", ".zip", ".txt", ".IPYNB"}


def test_what_is_wrong_is_said(graded, members, tmp_path):
    """The comparison itself: another mark, a lost student, a lateness."""
    out = shutil.copytree(graded[0], tmp_path / "out")
    first, second, *rest = [member for member in members if member.points]
    changed = [first._replace(points=first.points - 1), second._replace(late=not second.late)]
    said = generated_class.wrong([*changed, *rest], out)
    assert any(words.startswith(f"{first.student}: ") for words in said)
    assert any(words.startswith(f"{second.student}: late") for words in said)
    ghost = first._replace(student="ghost")
    assert "lost: ghost" in generated_class.wrong([*members, ghost], out)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_with_bad_workers_gives_the_same_marks(graded, members, folder, tmp_path, capsys):
    """One worker is killed on the way, one comes late and has no box."""
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"DASK_LOGGING__DISTRIBUTED": "error"}
    scheduler = ("-m", "distributed.cli.dask_scheduler", "--port", port, "--no-dashboard")
    worker = ("-m", "distributed.cli.dask_worker", address, "--nthreads", 1, "--no-dashboard")
    worker += ("--local-directory", tmp_path, "--no-nanny")  # nobody starts it again
    running = [start(*scheduler, "--host", "127.0.0.1", **quiet)]
    try:
        running += [start(*worker, **quiet), start(*worker, **quiet)]
        until(lambda: workers_of(address) == 2, seconds=120)
        began = time.monotonic()
        process = grading(folder, tmp_path / "there", address)
        until(lambda: len(stored(tmp_path / "there")) >= SIZE // 4, process)
        running[2].kill()
        bad = dict(quiet, COURSEGRADE_BOX="docker", PATH="/nowhere")
        running.append(start(*worker, **bad))
        assert process.wait(PATIENCE) == 0
        seconds = time.monotonic() - began
    finally:
        for one in running:  # a worker without a scheduler takes minutes to end by itself
            one.kill()
        for one in running:
            one.wait(60)
    with capsys.disabled():
        print(f"\n{SIZE} hand-ins on a cluster with bad workers: {seconds / SIZE:.2f} s a hand-in")
    assert not generated_class.wrong(members, tmp_path / "there")
    here, there = ((out / "gradebook.csv").read_text() for out in (graded[0], tmp_path / "there"))
    assert here == there


def workers_of(address):
    """How many workers a scheduler has; 0 while it is not there."""
    from distributed import Client

    try:
        with Client(address, timeout=5) as client:
            return len(client.run(cluster.fitness))
    except (OSError, TimeoutError, ValueError):
        return 0
