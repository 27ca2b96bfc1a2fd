"""Broken and hostile hand-ins through the real path: files, box, gradebook, feedback."""

import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import hostile
import psutil
import pytest
from exports import table
from grading_helpers import ALL

from coursegrade import batch, reports
from coursegrade.limits import Limits

EXERCISE = ALL[0]
QUICK = Limits(cell=4, call=2, run=90, cpu=60)
NAMES = sorted(hostile.cases(EXERCISE, Path("outside"), 1))


def in_boxes():
    """Processes that belong to a box."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "/grader/driver.py" in words and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


@pytest.fixture(scope="module")
def graded(box, tmp_path_factory):
    """All hand-ins, graded in one go; the clock, the listener and the reports."""
    folder, out = tmp_path_factory.mktemp("handins"), tmp_path_factory.mktemp("out")
    outside = tmp_path_factory.mktemp("outside") / "escaped"
    hits, server, local = [], socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    local.bind("\0grader-test")
    local.listen()
    for listener in (server, local):
        threading.Thread(target=lambda one=listener: hits.append(one.accept()), daemon=True).start()
    cases = hostile.cases(EXERCISE, outside, server.getsockname()[1])
    hostile.write(cases, folder)
    before, others = sorted(path.name for path in Path.home().iterdir()), in_boxes()
    start = time.monotonic()
    records = batch.grade(EXERCISE, folder, out, salt="a", jobs=2, limits=QUICK, quiet=True)
    seconds = time.monotonic() - start
    return SimpleNamespace(
        cases=cases,
        records={record["student"].replace("∕", "/"): record for record in records},
        seconds=seconds,
        out=out,
        hits=hits,
        outside=outside,
        home=before,
        others=others,
    )


def test_there_are_enough(graded):
    assert len(graded.cases) >= 40 and set(graded.records) == set(graded.cases)


@pytest.mark.parametrize("who", NAMES)
def test_gets_what_an_honest_marker_would_give(graded, who):
    case, record = graded.cases[who], graded.records[who]
    marks = reports.marks(record, EXERCISE.points())["auto"]
    assert (record["status"], marks) == (case.status, "" if case.points is None else case.points), (
        record
    )
    said = f"{record['problem']} {record['flags']} {record['cells']}"
    assert case.reason in said, said


def test_no_mark_is_forged(graded, capsys):
    forged = 0
    for who, case in graded.cases.items():
        marks = reports.marks(graded.records[who], EXERCISE.points())["auto"] or 0
        forged += max(0, marks - (case.points or 0))
    number = len(graded.cases)
    alone = graded.records["correct"]["seconds"]
    with capsys.disabled():
        print(
            f"\n{number} hostile hand-ins: forged marks {forged}; a plain one takes {alone:.1f} s, "
            f"all with two workers {graded.seconds / number:.1f} s each, "
            f"{3600 * number / graded.seconds:.0f} an hour"
        )
    assert forged == 0


def test_nothing_gets_out(graded):
    assert not graded.outside.exists()
    assert not graded.hits
    assert sorted(path.name for path in Path.home().iterdir()) == graded.home
    assert not list(graded.out.glob("**/escaped*"))


def test_no_process_is_left(graded):
    end = time.monotonic() + 5
    while left := set(in_boxes()) - set(graded.others):
        assert time.monotonic() < end, left
        time.sleep(0.1)


def test_feedback_is_clean(graded):
    pages = list((graded.out / "feedback").iterdir())
    assert len(pages) == 2 * len(graded.cases)
    tests = [line.strip() for line in EXERCISE.tests.hidden.splitlines()]
    telling = [line for line in tests if len(line) > 20 and not line.startswith(('"""', "import"))]
    assert len(telling) > 50
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "\x1b" not in text and "<script" not in text and "<b>bold" not in text, path
        assert not [line for line in telling if line in text], path
    correct = (graded.out / "feedback" / "correct.html").read_text(encoding="utf-8")
    assert "28 of 28" in correct and "✗" not in correct


def test_tables_hold_no_formula(graded):
    rows = table(graded.out / "gradebook.csv")
    assert len(rows) == len(graded.cases)
    for row in rows:
        assert not any(str(value).startswith(("=", "+", "@", "-")) for value in row.values()), row
    by_name = {row["student"].lstrip("'"): row for row in rows}
    assert by_name["correct"]["auto"] == "28" and by_name["correct"]["auto_max"] == "28"
    assert by_name["truncated"]["auto"] == by_name["truncated"]["q1"] == ""
    assert "cut short" in by_name["truncated"]["notes"]
