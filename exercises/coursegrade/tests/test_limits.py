"""Whatever a hand-in makes the grader read, it ends in time and in memory, and is no fault of ours."""

import base64
import csv
import json
import os
import pickle
import resource
import signal
import time
from pathlib import Path

import pytest
import torch
from grading_helpers import ALL, task_of
from test_handins import examined

from coursegrade import (
    answers,
    kinds,
    limits,
    notebook,
    reports,
    wire,
    worker,
)
from coursegrade.limits import Limits
from coursegrade.task import FAULT, LOOK, UNREADABLE


def tensor(shape, raw=b""):
    return {"tensor": ["float32", shape, base64.b64encode(raw).decode()]}


@pytest.mark.parametrize(
    "line", ["a" + " " * 300_000, " " * 300_000, "a," * 150_000, "a.b" * 100_000]
)
def test_a_long_line_is_read_at_once(line):
    start = time.process_time()
    notebook.code_cells([("code", f"?\n{line}\n%magic\nx = !ls\n{line} = 1 1")])
    assert time.process_time() - start < 5


def test_open_comments_are_read_at_once():
    for text in ("<!--" * 300_000, "<!---->" * 300_000):
        start = time.process_time()
        found = answers.answers([("markdown", "**Answer Q5:** yes" + text)], by_hand=("q5",))
        assert time.process_time() - start < 5 and found["q5"].startswith("yes")
    hidden = "**Answer Q5:** a<!-- no -->b<!-- no --> c <!-- open"
    found = answers.answers([("markdown", hidden)], by_hand=("q5",))
    assert found == {"q5": "ab c <!-- open"}


def test_keys_of_one_hash_are_refused():
    bad = [2**64, -(2**63)]
    for key in (*bad, {"tuple": [1, 2]}, {"float": "0x1p+61"}):
        with pytest.raises(ValueError):
            wire.decode({"dict": [[key, 1]]})
    assert wire.decode(wire.encode({"a": 1, 2: "b"})) == {"a": 1, 2: "b"}


def test_no_tensor_is_larger_than_what_was_sent():
    with pytest.raises(ValueError, match="not a shape"):
        wire.decode(tensor([0, 2**30]))
    for shape in ((0,), (2, 0, 3), (), (2, 3)):
        assert wire.decode(wire.encode(torch.zeros(shape))).shape == shape


def test_shapes_are_compared_before_values():
    """A column of a million beside a row of a million would take terabytes."""
    assert not kinds.close(torch.zeros(2**20, 1), torch.zeros(1, 2**20))


@pytest.mark.parametrize("head", ["### SELF-CHECK q1: run me\n", ""])
def test_a_deep_sum_is_no_fault(box, head):
    record = examined(
        [("code", head + "x = " + "+".join("1" * 3000)), ("code", "def saliency(): 1")]
    )
    assert record["status"] == LOOK


def task(**changes):
    return task_of(ALL[0], b"[" + b"[]," * 2_000_000 + b"[]]", **changes)


def test_the_worker_itself_has_a_deadline():
    record = worker.mark(task(limits=Limits(whole=0.2)))
    assert (record["status"], record["problem"]) == (
        UNREADABLE,
        "to read and mark it took more than 0.2 s",
    )
    assert record["seconds"] < 20


def test_the_worker_itself_has_a_memory_limit():
    record = worker.mark(task(limits=Limits(memory=150 << 20)))
    assert record["status"] == UNREADABLE
    assert record["problem"].endswith("more than 150 MB of memory")


@pytest.mark.parametrize(
    "small, says", [({"read": 0.05}, "0.05 s"), ({"read_memory": 1 << 20}, "1 MB of memory")]
)
def test_reading_has_limits_of_its_own(small, says):
    record = worker.mark(task(limits=Limits(**small)))
    assert record["status"] == UNREADABLE
    assert record["problem"] == f"to read it takes more than {says}"


def test_what_comes_after_reading_is_not_bounded_by_it():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with limits.reading(Limits()):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
        assert resource.getrlimit(resource.RLIMIT_AS) != before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_report_has_few_flags_errors_and_answers(box, tmp_path):
    """Each of what a hand-in may have thousands of is told at most 50 times, and is short."""
    cells = [("code", "def saliency(): 1")]
    cells += [("code", f"gc = {i}\nraise ValueError('x' * 10_000)") for i in range(60)]
    cells += [("markdown", f"**Answer Q{i}:** {'x' * 10_000}") for i in range(300)]
    record = examined(cells, flags=("late", "not read: " + "y" * 10_000))
    assert record["status"] == LOOK and record["flags"][0] == "late"
    assert len(record["flags"]) == 51 and record["flags"][-1].startswith("and 7")
    assert len(record["cells"]) == 50 and list(record["answers"]) == ["q5", "q6"]
    assert max(map(len, record["flags"])) == 300 and len(json.dumps(record)) < 100_000
    about = {"exercise": "x", "title": "x", "salt": "a", "points": ALL[0].points()}
    reports.write(tmp_path, about | {"by_hand": ALL[0].by_hand()}, [record])
    for name in ("gradebook.csv", "written.csv"):  # `csv` refuses a cell of 128 KB
        with (tmp_path / name).open(encoding="utf-8-sig", newline="") as file:
            assert len({len(row) for row in csv.reader(file)}) == 1


def test_a_worker_that_dies_is_our_fault(monkeypatch):
    monkeypatch.setattr(worker, "_idle", [])
    monkeypatch.setattr(worker.sys, "executable", "/usr/bin/false")
    record = worker.in_worker(task())
    assert record["status"] == FAULT and "ended with 1" in record["problem"]


def test_a_child_that_dies_harms_no_other():
    """Its server lives on with one thread, and the next child finds nothing of it."""
    good = task()._replace(raw=b"{}")
    worker._idle.clear()
    assert worker.in_worker(good)["status"] == UNREADABLE
    [server] = worker._idle
    pid = server._process.pid
    answer, ended = server.ask(b"no task at all", time.monotonic() + 60)
    assert answer == b"" and ended.startswith("1: ") and "UnpicklingError" in ended
    answer, ended = server.ask(pickle.dumps(Suicide()), time.monotonic() + 60)
    assert answer == b"" and ended.startswith("-9: ")
    assert server.alive() and len(list(Path(f"/proc/{pid}/task").iterdir())) == 1
    assert worker.in_worker(good)["status"] == UNREADABLE
    assert [one._process.pid for one in worker._idle] == [pid]


class Suicide:
    def __reduce__(self):
        return os.kill, (Reduced(), 9)


class Reduced:
    def __reduce__(self):
        return os.getpid, ()


def test_a_child_that_hangs_ends_with_its_server():
    server = worker.Server()
    with pytest.raises(TimeoutError):
        server.ask(pickle.dumps(task(limits=Limits(whole=1))), time.monotonic() + 0.1)
    server.kill()
    assert not server.alive()
