"""The benchmarks: a harness that can tell, a stored result that is whole, a page that shows it.

No goal is tested here: times belong to `make bench`.
"""

import json
import re
from pathlib import Path

import nbformat
import pytest
import torch

from devkit.bench import __main__ as bench
from devkit.bench import (
    attention_window,
    bahdanau,
    bahdanau_peer,
    harness,
    inputs,
    report,
)

ROOT = Path(__file__).resolve().parents[2]


MB = 1_000_000


def zeros(megabytes):
    return torch.zeros(megabytes * MB, dtype=torch.uint8)


# time


def test_a_race_is_of_ours_to_the_peer_in_both_orders(monkeypatch):
    calls = []
    monkeypatch.setattr(harness, "_seconds", lambda function: function() or calls.count("a"))
    result = harness.race(
        lambda: calls.append("a"), lambda: calls.append("b"), seconds=0.0, rounds=3
    )
    assert "".join(calls) == "abba" * 3
    low, high = result["quartiles"]
    assert result["rounds"] == 3 and low <= result["ratio"] <= high
    monkeypatch.setattr(harness, "_seconds", lambda function: function())
    slow, fast = (lambda: 3.0), (lambda: 1.0)
    assert harness.race(slow, fast, seconds=0.0)["ratio"] == 3
    assert harness.race(fast, slow, seconds=0.0)["ours_ms"] == 1000
    assert harness.race(slow, fast, seconds=0.0, rounds=1)["quartiles"] == [3, 3]


def test_a_long_race_has_two_rounds_and_a_short_one_as_many_as_its_seconds_hold(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(harness.time, "perf_counter", lambda: now[0])

    def rounds(took):
        def run():
            now[0] += took / 4

        return harness.race(run, run, seconds=2.0)["rounds"]

    assert (rounds(12.0), rounds(4.0), rounds(0.5)) == (2, 3, 4)


# memory


def both_alive():
    first = zeros(8)
    return first, zeros(16)


def one_after_the_other():
    for _ in range(3):
        zeros(8)
    return zeros(16)


def freed_in_between():
    first = zeros(24)
    del first
    return zeros(4)


@pytest.mark.parametrize(
    ("function", "megabytes"),
    [(lambda: zeros(64), 64), (both_alive, 24), (one_after_the_other, 16), (freed_in_between, 24)],
)
def test_peaks_of_known_allocations_are_seen(function, megabytes):
    assert harness.peak_memory(function) == pytest.approx(megabytes * MB, rel=0.1)


def test_peaks_see_temporaries_that_python_never_holds():
    """A sort gives values and indices, 4 + 8 MB, of which one is kept; the input is 4 MB."""
    peak = harness.peak_memory(lambda: torch.ones(1000, 1000).sort(dim=-1).values)
    assert peak == pytest.approx(16 * MB, rel=0.1)


def test_backward_is_measured_with_its_gradients():
    x = torch.ones(MB)  # 4 MB
    case = harness.Case("s", "n", "p", lambda: x.exp(), lambda: x.exp().exp(), [x])
    rows = {row["pass"]: row for row in harness.measure(case, seconds=0.0)}
    forward, backward = rows["forward"]["memory"], rows["forward + backward"]["memory"]
    assert forward["ours_mb"] == pytest.approx(4, rel=0.1)
    assert forward["peer_mb"] == pytest.approx(8, rel=0.1)
    assert backward["ours_mb"] > 2.5 * forward["ours_mb"]  # output, upstream, gradient
    assert backward["peer_mb"] > backward["ours_mb"]


def test_a_whole_is_run_as_it_is():
    case = harness.Case("s", "n", "p", lambda: zeros(8), lambda: zeros(16), whole="step")
    (row,) = harness.measure(case, seconds=0.0)
    assert row["pass"] == "step" and row["memory"]["ratio"] == pytest.approx(0.5, rel=0.1)


def test_the_bench_trains_what_it_times():
    """A training step of either side changes the weights, the same way."""
    peer = bahdanau_peer.peer_translator(bahdanau.VOCAB, 4, 4)
    model = bahdanau_peer.ours_like(peer)
    steps = bahdanau.training_steps(model, peer, 3)
    losses = [[step().item() for _ in range(3)] for step in steps]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5) and losses[0][2] < losses[0][0]


# the subjects and the stored result


@pytest.fixture(scope="module")
def cases():
    return list(bench.cases())


@pytest.fixture(scope="module")
def stored():
    return report.load()


def firsts(cases):
    """The first setting of each subject and peer: the others are the same functions, larger."""
    return {(case.subject, case.peer_name): case for case in reversed(cases)}.values()


def test_ours_and_the_peer_compute_the_same(cases):
    for case in firsts(cases):
        with torch.set_grad_enabled(case.whole is not None):  # a training step takes gradients
            outputs = [f() for f in (case.ours, case.peer)]
        ours, peer = (o if isinstance(o, torch.Tensor) else o[0] for o in outputs)
        torch.testing.assert_close(ours, peer, atol=1e-5, rtol=1e-4, msg=case.setting)


def test_the_stored_result_has_every_row_and_goal(cases, stored):
    def key(row):
        return row["subject"], row["setting"], row["peer"], row["pass"]

    wanted = {}
    for case in cases:
        passes = {case.whole or "forward": case.goals}
        if case.leaves and not case.whole:
            passes["forward + backward"] = case.backward_goals
        for name, goals in passes.items():
            wanted[case.subject, case.setting, case.peer_name, name] = goals
    assert {key(row): row["goals"] for row in stored["rows"]} == wanted
    assert len(stored["rows"]) == len(wanted)


def test_the_stored_numbers_are_measurements(stored):
    for row in stored["rows"]:
        time, memory = row["time"], row["memory"]
        low, high = time["quartiles"]
        assert 0 < low <= time["ratio"] <= high and time["rounds"] >= 2
        assert time["ratio"] == pytest.approx(time["ours_ms"] / time["peer_ms"], rel=0.3)
        assert memory["ratio"] == pytest.approx(memory["ours_mb"] / memory["peer_mb"])
        assert row["cold_ratio"] > 0


def test_the_stored_result_says_where_and_when_and_names_no_computer(stored):
    assert set(stored["machine"]) == {"cpu", "cores", "system"}
    assert set(stored["versions"]) == {"python", "attnbook", "torch", "d2l"}
    assert stored["threads"] == 1 and re.fullmatch(r"\d{4}-\d\d-\d\d", stored["date"])


def test_stored_memory_is_what_the_code_needs_now(cases, stored):
    """Memory does not hang on the machine: a change of the core shows here."""
    if bench.versions()["torch"] != stored["versions"]["torch"]:
        pytest.skip("another torch: `make bench` on the pinned one compares")
    rows = {(r["subject"], r["setting"], r["peer"]): r["memory"] for r in reversed(stored["rows"])}
    for case in firsts(cases):
        _, (ours, _) = next(iter(case.passes()))
        wanted = rows[case.subject, case.setting, case.peer_name]["ours_mb"]
        assert harness.peak_memory(ours) / MB == pytest.approx(wanted, rel=0.1), case.setting


def test_a_missed_goal_is_named():
    row = {"subject": "a", "setting": "n=1", "goals": {"time": 1.05}, "time": {"ratio": 1.2}}
    assert report.missed({"rows": [row]}) == ["a, n=1: time 1.20, goal 1.05"]
    row["time"]["ratio"] = 1.05
    assert report.missed({"rows": [row]}) == []
    row |= {"goals": {"ms": 250}, "time": {"ratio": 9.0, "ours_ms": 260.0}}
    assert report.missed({"rows": [row]}) == ["a, n=1: ms 260.00, goal 250.00"]


def test_windows_take_memory_that_grows_no_faster_than_the_length():
    """Without a gradient hardly more than the output; with one, what the backward pass needs."""
    for taped in (False, True):
        peaks = []
        for n in (4096, 16384):
            given = [x.requires_grad_(taped) for x in inputs.queries_keys_values(n, 64)]
            peaks.append(harness.peak_memory(attention_window.windowed(given)))
        assert peaks[0] < peaks[1] < 4.2 * peaks[0]
        assert taped or peaks[1] < 2 * 4 * 16384 * 64


def test_the_page_shows_the_stored_result(stored):
    page = nbformat.read(ROOT / "book" / "benchmarks.ipynb", as_version=4)
    outputs = json.dumps([cell.get("outputs", []) for cell in page.cells], ensure_ascii=False)
    for line in report.table(stored).splitlines():
        assert json.dumps(line, ensure_ascii=False)[1:-1] in outputs
    for line in (report.conditions(stored), *report.missed(stored)):
        assert line in outputs
    assert "file: book/benchmarks" in (ROOT / "_toc.yml").read_text(encoding="utf-8")
