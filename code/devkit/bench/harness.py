"""Race two functions in one process, and see how much memory each needs at once.

Time is the processor time of this process (`time.process_time`): kernels run on one thread, so on
an idle machine it is the time on the wall, and on a shared one the neighbours' turns are left
out. Rounds are many and short, each ours, peer, peer, ours: both follow themselves once, with
their parameters in the cache, and the other once. In rounds of two calls in alternating order one
of them always had the cache; the ratios of a short function fell into two heaps, and their median
into either. The ratio is the median of the rounds' ratios.

Memory is the most that one call held at once of torch's own allocator, from the memory events of
`torch.profiler`: exact, the same in every run, and it sees temporaries inside kernels. It does
not see scratch that MKL and oneDNN take for themselves. The high-water mark of the process would,
but only in pages that no earlier call had touched.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler need not say that it starts

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

MB = 1e6
LONG = 10.0  # seconds: a row that has taken so long has rounds enough when it has two


@dataclass
class Case:
    """Ours against a peer on the same inputs.

    `ours` and `peer` take nothing and return a tensor, or a tuple that begins with one. Gradients
    are taken with respect to `leaves`, and to `parameters`, a pair of lists, ours and the peer's.
    Where the two do all there is to do themselves (a training step), `whole` names that, and they
    are run as they are. `goals` holds the largest ratio, ours to peer, of the forward pass or of
    the whole, by "time" and "memory", and by "ms" our largest time; `backward_goals` those of
    forward and backward. Where there are no `leaves`, only the forward pass is run.
    """

    subject: str
    setting: str
    peer_name: str
    ours: Callable
    peer: Callable
    leaves: Sequence[Tensor] = ()
    parameters: tuple[Sequence[Tensor], Sequence[Tensor]] = ((), ())
    goals: dict[str, float] = field(default_factory=dict)
    whole: str | None = None
    backward_goals: dict[str, float] = field(default_factory=dict)

    def passes(self):
        """Pairs (ours, peer) by pass: forward without a graph, forward and backward; or `whole`."""
        if self.whole:
            yield self.whole, (self.ours, self.peer)
            return
        yield "forward", tuple(_without_graph(f) for f in (self.ours, self.peer))
        if not self.leaves:
            return
        both = zip((self.ours, self.peer), self.parameters, strict=True)
        yield "forward + backward", tuple(_with_backward(f, [*self.leaves, *p]) for f, p in both)


def _without_graph(function):
    return torch.no_grad()(function)


def _with_backward(function, leaves):
    for leaf in leaves:
        leaf.requires_grad_()

    def run():
        result = function()
        output = result if isinstance(result, Tensor) else result[0]
        return torch.autograd.grad(output, leaves, torch.ones_like(output))

    return run


def settle() -> None:
    """Bring the C allocator to the state in which a process that trains soon is, and stays.

    glibc returns a freed block to the system at once until it has seen a block of that size
    freed (at most 32 MB): before, every temporary costs page faults, and the time of a function
    hangs on what ran earlier in the process.
    """
    torch.empty(32 * 2**20 - 2**14, dtype=torch.uint8)


def race(ours: Callable, peer: Callable, *, seconds: float = 1.0, rounds: int = 3) -> dict:
    """Medians of both, in ms, and of their ratio with its quartiles.

    Both have been called before. A round is four calls, two of each, and its time for each the
    mean of the two. There are as many rounds as `seconds` hold, and at least `rounds`; two are
    enough where they take more than `LONG`.
    """
    times: list[tuple[float, float]] = []
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        while _goes_on(len(times), time.perf_counter() - start, seconds, rounds):
            mine, theirs, theirs_again, mine_again = map(_seconds, (ours, peer, peer, ours))
            times.append(((mine + mine_again) / 2, (theirs + theirs_again) / 2))
    finally:
        gc.enable()
    ratios = [mine / theirs for mine, theirs in times]
    low, ratio, high = statistics.quantiles(ratios * 2 if len(ratios) == 1 else ratios, n=4)
    mine, theirs = (statistics.median(column) * 1e3 for column in zip(*times, strict=True))
    return {
        "ours_ms": mine,
        "peer_ms": theirs,
        "ratio": ratio,
        "quartiles": [low, high],
        "rounds": len(times),
    }


def _goes_on(done: int, passed: float, seconds: float, rounds: int) -> bool:
    """Whether another round is run."""
    enough = min(rounds, 2) if passed > LONG else rounds
    return done < enough or passed < seconds


def _seconds(function) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def peak_memory(function: Callable) -> int:
    """Bytes that a call took from torch's CPU allocator and held at once.

    What the call frees of earlier blocks is not credited to it.
    """
    function()
    gc.collect()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        kept = function()
    del kept
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    most, held = 0, {}  # bytes by address; a block from before the call is not in it
    memory = (e["args"] | {"ts": e["ts"]} for e in events if e.get("name") == "[memory]")
    for event in sorted(memory, key=lambda e: e["ts"]):
        if event["Bytes"] > 0:
            held[event["Addr"]] = event["Bytes"]
            most = max(most, sum(held.values()))
        else:
            held.pop(event["Addr"], None)
    return most


def measure(case: Case, *, seconds: float = 1.0) -> list[dict]:
    """One row for each pass of a case, ready for JSON; what sees the memory warms up, too."""
    rows = []
    for n, (name, (ours, peer)) in enumerate(case.passes()):
        memory = [peak_memory(f) / MB for f in (ours, peer)]
        rows.append(
            {
                "subject": case.subject,
                "setting": case.setting,
                "peer": case.peer_name,
                "pass": name,
                "time": race(ours, peer, seconds=seconds),
                "memory": {
                    "ours_mb": memory[0],
                    "peer_mb": memory[1],
                    "ratio": memory[0] / memory[1],
                },
                "goals": case.backward_goals if n else case.goals,
            }
        )
    return rows
