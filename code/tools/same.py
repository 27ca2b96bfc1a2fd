"""Give a stored table the hash of today's code, where that code computes what made the table.

    python code/tools/same.py NAME --since COMMIT

Code that is made faster or plainer makes a table stale that took hours. Training again proves
nothing on another processor, whose sums end in other digits. So the code of COMMIT, which must be
the code that made the table, and today's run side by side: every plan is trained briefly and read,
and every stored model is read. Each loss, weight, count and translation has to be equal to the
last bit; then the table takes today's hash and keeps a note of the comparison.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
PAIRS, READ = 1_280, 64  # learnt from and read, for each plan
COMPARED = f"every plan, trained on {PAIRS} pairs and read on {READ}, and every stored model"


def trace(name: str) -> dict:
    """What this process's package computes: its hash, and every plan of `name` in brief."""
    from attnbook.experiments import translators
    from attnbook.stored import fingerprint, load_record, load_weights

    torch.set_num_threads(1)
    experiment = importlib.import_module(f"attnbook.experiments.{name}")
    found = {"code": fingerprint(load_record(name)["sources"])}
    for key, plan in experiment.PLANS.items():
        by_split = inspect.signature(experiment.load).parameters
        of = experiment.load(plan.split) if by_split else experiment.load()
        of = of._replace(splits=of.splits._replace(test=of.splits.test[:READ]))
        asked = inspect.signature(experiment.judge).parameters
        options = {"aligned": plan.attention is not None} if "aligned" in asked else {}
        brief = plan._replace(size=PAIRS, epochs=1)
        model, history = translators.train(brief, of, 0)
        found[key] = {"steps": history.steps, "weights": digest(model)}
        reading = translators.read(model, of.splits.test, of)
        found[key]["written"] = reading.written
        found[key]["right"] = [row.tolist() for row in reading.correct]
        if plan.keep:  # a brief model writes nothing that could be judged
            model.load_state_dict(load_weights(plan.keep))
            found[key]["stored"] = experiment.judge(model, of, **options)
    return found


def digest(model: torch.nn.Module) -> str:
    """SHA-256 of every weight."""
    total = hashlib.sha256()
    for key, tensor in sorted(model.state_dict().items()):
        total.update(key.encode() + tensor.numpy().tobytes())
    return total.hexdigest()


def trace_of(package: Path, name: str) -> dict:
    """`trace` in a process that takes the package from the folder `package`."""
    done = subprocess.run(
        [sys.executable, __file__, name, "--trace"],
        env=os.environ | {"PYTHONPATH": str(package)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def differences(then: dict, now: dict) -> list[str]:
    """Plans whose traces are not equal."""
    return [key for key in (then.keys() | now.keys()) - {"code"} if then.get(key) != now.get(key)]


def accepted(record: dict, commit: str, then: dict, now: dict) -> dict:
    """The record with the hash of today's code and a note of the comparison.

    Raises:
        ValueError: `commit` did not make the table, or something differs.
    """
    if then["code"] != record["code"]:
        raise ValueError(f"commit must be the one whose code made the table, and {commit} is not")
    if other := differences(then, now):
        raise ValueError(f"these come out otherwise than at {commit}: {sorted(other)}; train anew")
    made_by = record.get("again", {}).get("rows made by", record["code"])
    note = {"rows made by": made_by, "commit": commit, "compared": COMPARED}
    return {**record, "code": now["code"], "again": note}


def main() -> int:
    from attnbook.stored import FOLDER, load_record

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--trace", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.trace:
        json.dump(trace(given.name), sys.stdout)
        return 0
    if not given.since:
        parser.error("--since: which commit made the table?")
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "-C", str(ROOT), "archive", given.since, "code/attnbook"]
        archive = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder, filter="data")
        then = trace_of(Path(folder) / "code", given.name)
    now = trace_of(ROOT / "code", given.name)
    record = accepted(load_record(given.name), given.since, then, now)
    path = FOLDER / f"{given.name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{given.name}: the code computes the same, to the last bit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
