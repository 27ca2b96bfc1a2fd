"""Run every subject, print one table, store the result in results/bench.json.

Every ratio is taken twice: here, where the allocator keeps freed pages (`harness.settle`), and in
a child process where every temporary over 128 kB comes fresh from the system and faults page by
page (the "cold heap"). The goals hold for the first; the second shows the worst case. Exits
with 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch wakes

import torch

from devkit.bench import (
    attention_additive,
    attention_fused,
    attention_weights,
    attention_window,
    bahdanau,
    decoding_cached,
    harness,
    masked_softmax,
    multihead_joined,
    report,
)

SUBJECTS = (
    attention_fused,
    attention_weights,
    attention_additive,
    attention_window,
    masked_softmax,
    bahdanau,
    multihead_joined,
    decoding_cached,
)
COLD = {"MALLOC_MMAP_THRESHOLD_": str(128 * 1024)}  # fixed, so that glibc never raises it
PACKAGES = ("attnbook", "torch", "d2l")


def cases():
    """All cases of all subjects, one after the other, so that only one's inputs are held."""
    for subject in SUBJECTS:
        yield from subject.cases()


def machine() -> dict:
    """The processor's model, cores and system; nothing that names one computer."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = info.read_text(encoding="utf-8").splitlines()
        cpu = next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), cpu)
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.system()}


def versions() -> dict:
    """Versions by name."""
    return {"python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in PACKAGES
    }


def cold_ratios(seconds: float) -> list[float]:
    """The time ratio of every row on a cold heap, in the order of the rows."""
    command = [sys.executable, __file__, "--cold", "--seconds", str(seconds)]
    done = subprocess.run(
        command, env=os.environ | COLD, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def main(argv=None) -> int:
    """Measure, store, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each race")
    parser.add_argument("--cold", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    if args.cold:
        ratios = []
        for ours, peer in (pair for case in cases() for _, pair in case.passes()):
            ours(), peer()  # a first call sets up what later ones find
            ratios.append(harness.race(ours, peer, seconds=args.seconds, rounds=1)["ratio"])
        json.dump(ratios, sys.stdout)
        return 0
    harness.settle()
    rows = []
    for case in cases():
        print(f"{case.subject}, {case.setting} ...", file=sys.stderr, flush=True)
        rows += harness.measure(case, seconds=args.seconds)
    print("again on a cold heap ...", file=sys.stderr, flush=True)
    for row, ratio in zip(rows, cold_ratios(args.seconds / 2), strict=True):
        row["cold_ratio"] = ratio
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "threads": torch.get_num_threads(),
        "rows": rows,
    }
    report.STORED.parent.mkdir(exist_ok=True)
    report.STORED.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.table(result), report.conditions(result), sep="\n\n")
    for sentence in report.missed(result):
        print(f"missed: {sentence}")
    return int(bool(report.missed(result)))


if __name__ == "__main__":
    sys.exit(main())
