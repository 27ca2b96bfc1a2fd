"""The benchmarks: a harness that can tell, a stored result that is whole, a page that shows it.

No goal is tested here: times belong to `make bench`.
"""

import json
import re
import sys
from pathlib import Path

import nbformat
import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "code" / "benchmarks"))

import bahdanau  # noqa: E402
import bahdanau_peer  # noqa: E402
import bench  # noqa: E402
import harness  # noqa: E402
import report  # noqa: E402

MB = 1_000_000


def zeros(megabytes):
    return torch.zeros(megabytes * MB, dtype=torch.uint8)


# time


def work(times):
    """A function that does the same work so many times."""
    x = torch.ones(64, 64)

    def run():
        for _ in range(times):
            x @ x

    return run


def test_slow_and_fast_are_told_apart():
    slow, fast, many = work(120), work(40), 60
    assert harness.race(slow, fast, seconds=0.0, rounds=many)["ratio"] > 1.5
    assert harness.race(fast, slow, seconds=0.0, rounds=many)["ratio"] < 1 / 1.5
    assert 0.67 < harness.race(fast, work(40), seconds=0.0, rounds=many)["ratio"] < 1.5


def test_each_round_runs_both_orders_after_a_warm_up():
    calls = []
    result = harness.race(
        lambda: calls.append("a"), lambda: calls.append("b"), seconds=0.0, rounds=3
    )
    assert "".join(calls) == "abab" + "abba" * 3
    low, high = result["quartiles"]
    assert result["rounds"] == 3 and low <= result["ratio"] <= high


def test_a_cache_that_favours_who_ran_last_does_not_split_the_ratio():
    last = []

    def run(name, warm, cold):
        def call():
            work(warm if last == [name] else cold)()
            last[:] = [name]

        return call

    result = harness.race(run("a", 10, 30), run("b", 10, 30), seconds=0.0, rounds=20)
    low, high = result["quartiles"]
    assert 0.67 < low <= high < 1.5


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


def test_what_was_held_before_does_not_count():
    held = zeros(32)
    peak = harness.peak_memory(lambda: held[:MB] + 1)
    assert peak == pytest.approx(MB, rel=0.1)


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


def test_ours_and_the_peer_compute_the_same(cases):
    for case in cases:
        with torch.set_grad_enabled(case.whole is not None):  # a training step takes gradients
            outputs = [f() for f in (case.ours, case.peer)]
        ours, peer = (o if isinstance(o, torch.Tensor) else o[0] for o in outputs)
        torch.testing.assert_close(ours, peer, atol=1e-5, rtol=1e-4, msg=case.setting)


DUE = pytest.mark.xfail(
    strict=True,
    reason="the stored result is of the core before its plain form: `make bench` is due",
)


@DUE
def test_the_stored_result_has_every_row_and_goal(cases, stored):
    def key(row):
        return row["subject"], row["setting"], row["peer"], row["pass"]

    wanted = {
        (case.subject, case.setting, case.peer_name, name): goals
        for case in cases
        for name, goals in (
            [(case.whole, case.goals)]
            if case.whole
            else [("forward", case.goals), ("forward + backward", case.backward_goals)]
        )
        if case.leaves or name != "forward + backward"
    }
    assert {key(row): row["goals"] for row in stored["rows"]} == wanted
    assert len(stored["rows"]) == len(wanted)


def test_the_goals_are_the_ones_we_set(cases):
    goals = {}
    for case in cases:
        for measure, limit in case.goals.items():
            goals.setdefault((case.subject, measure), []).append(limit)
        for measure, limit in case.backward_goals.items():
            goals.setdefault((case.subject, f"backward {measure}"), []).append(limit)
    assert goals == {
        ("attention without weights", "time"): [1.05, 1.35, 1.05, 1.15, 1.05, 1.10],
        ("attention with weights", "time"): [1.1, 1.1, 1.0],
        ("additive attention", "time"): [0.9],
        ("additive attention", "memory"): [0.2],
        ("Bahdanau, training step", "time"): [1.0, 1.0, 1.0, 1 / 1.5],
        ("Bahdanau, decoded sentence", "time"): [1.0, 1.0, 1.0, 1.0],
        ("multi-head without weights", "time"): [1.1] * 6,
        ("multi-head without weights", "backward time"): [1 / 2.5],
        ("multi-head with weights", "time"): [1.0, 1.0, 1.05, 1.05, 1.0, 1.0, 1.05, 1.05, 1.0],
        ("multi-head with weights", "memory"): [1.05] * 4,
        ("multi-head with weights", "backward time"): [1.05, 1.05, 1.0] * 2,
        ("multi-head with weights", "backward memory"): [1.05] * 4,
        ("greedy decoding", "time"): [1 / 2, 1.0, 1 / 2, 1.0, 1 / 4],
    }


def test_the_stored_numbers_are_measurements(stored):
    for row in stored["rows"]:
        time, memory = row["time"], row["memory"]
        low, high = time["quartiles"]
        assert 0 < low <= time["ratio"] <= high and time["rounds"] >= 5
        assert time["ratio"] == pytest.approx(time["ours_ms"] / time["peer_ms"], rel=0.3)
        assert memory["ratio"] == pytest.approx(memory["ours_mb"] / memory["peer_mb"])
        assert row["cold_ratio"] > 0


def test_the_stored_result_says_where_and_when_and_names_no_computer(stored):
    assert set(stored["machine"]) == {"cpu", "cores", "system"}
    assert set(stored["versions"]) == {"python", "attnbook", "torch", "d2l"}
    assert stored["threads"] == 1 and re.fullmatch(r"\d{4}-\d\d-\d\d", stored["date"])


@DUE
def test_stored_memory_is_what_the_code_needs_now(cases, stored):
    """Memory does not hang on the machine: a change of the core shows here."""
    if bench.versions()["torch"] != stored["versions"]["torch"]:
        pytest.skip("another torch: `make bench` on the pinned one compares")
    first = [row for row in stored["rows"] if row["pass"] != "forward + backward"]
    for case, row in zip(cases, first, strict=True):
        _, (ours, _) = next(iter(case.passes()))
        assert harness.peak_memory(ours) / harness.MB == pytest.approx(
            row["memory"]["ours_mb"], rel=0.1
        ), case.setting


def test_memory_of_many_heads_grows_with_n_where_no_weights_are_kept_and_with_n_squared_else():
    from attnbook import MultiHeadAttention

    module = MultiHeadAttention(64, 4)
    x = torch.zeros(1, 4096, 64)

    def growth(least, backward, **options):
        def run(n):
            with torch.set_grad_enabled(backward):
                output = module(x[:, :n], **options).output
                return (
                    torch.autograd.grad(output.sum(), module.parameters()) if backward else output
                )

        short, long = (harness.peak_memory(lambda n=n: run(n)) for n in (least, 4 * least))
        return long / short

    for backward in (False, True):
        assert growth(1024, backward) < 4.4  # shorter ones take smaller blocks of scratch
        assert growth(256, backward, need_weights=True) > 8


def test_a_missed_goal_is_named():
    row = {"subject": "a", "setting": "n=1", "goals": {"time": 1.05}, "time": {"ratio": 1.2}}
    assert report.missed({"rows": [row]}) == ["a, n=1: time 1.20, goal 1.05"]
    row["time"]["ratio"] = 1.05
    assert report.missed({"rows": [row]}) == []


def test_the_page_shows_the_stored_result(stored):
    page = nbformat.read(ROOT / "book" / "benchmarks.ipynb", as_version=4)
    outputs = json.dumps([cell.get("outputs", []) for cell in page.cells], ensure_ascii=False)
    for line in report.table(stored).splitlines():
        assert json.dumps(line, ensure_ascii=False)[1:-1] in outputs
    for line in (report.conditions(stored), *report.missed(stored)):
        assert line in outputs
    assert "file: book/benchmarks" in (ROOT / "_toc.yml").read_text(encoding="utf-8")
