"""Gradescope's autograder: the zip that is uploaded, and the run in its container.

The format is that of Gradescope's "Autograder Specifications": `setup.sh` is run once, as root, to
make the image; then for each hand-in /autograder/run_autograder, which reads /autograder/submission
and writes /autograder/results/results.json. The zip itself lies in /autograder/source.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import secrets
import zipfile
from decimal import Decimal
from pathlib import Path

from . import batch, bubblewrap, container, gradescope, handins, reports, safe, totals, worker
from .backends import backend
from .exercise import Exercise
from .limits import Limits
from .modules import MODULES
from .task import FAULT, UNREADABLE

HERE = Path(__file__).resolve().parent
NEEDED = ("jupytext", "nbformat", "joblib", "tqdm", "ipython")
NEEDED += ("markdown-it-py", "mdit-py-plugins")
SETUP = """#!/usr/bin/env bash
# Run once, as root, when Gradescope makes the image.
set -euo pipefail
apt-get install -y python3-venv util-linux bubblewrap
python3 -m venv /autograder/grader/venv
/autograder/grader/venv/bin/python -m pip install --no-cache-dir {needed}
/autograder/grader/venv/bin/python -m pip install --no-cache-dir torch=={torch} \\
    --index-url https://download.pytorch.org/whl/cpu
cp -r /autograder/source/coursegrade /autograder/grader/
chmod -R a+rX /autograder/grader
chmod -R go-rwx /autograder/source  # the student's code must not see the tests
"""
RUN = """#!/usr/bin/env bash
# Run for each hand-in. Without a results.json Gradescope reports a failure, and no mark.
set -euo pipefail
chmod 700 /autograder/source /autograder/submission /autograder/results
export PYTHONPATH=/autograder/grader OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
/autograder/grader/venv/bin/python -m coursegrade autograde /autograder
"""


def write(exercise: Exercise, out: Path, salt: str = "") -> Path:
    """Write the zip: the scripts, the grader, the exercise, and the salt of its numbers.

    Raises:
        ValueError: `out` does not end in .zip.
    """
    if out.suffix != ".zip":
        raise ValueError(f"OUT must end in .zip, got {out}")
    needed = sorted({*NEEDED, *map(str.lower, MODULES)} - {"torch"})
    pins = " ".join(f"{name}=={importlib.metadata.version(name)}" for name in needed)
    torch = importlib.metadata.version("torch").partition("+")[0]
    texts = {"setup.sh": SETUP.format(needed=pins, torch=torch), "run_autograder": RUN}
    texts["salt"] = salt or secrets.token_hex(8)
    texts[f"exercise/{exercise.name}/{exercise.name}.py"] = exercise.source
    for name, text in exercise.tests._asdict().items():
        texts[f"exercise/{exercise.name}/test_{name}.py"] = text
    for path in sorted(HERE.glob("*.py")):
        texts[f"coursegrade/{path.name}"] = path.read_text(encoding="utf-8")
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            member = zipfile.ZipInfo(name)
            runs = name in ("setup.sh", "run_autograder")
            member.external_attr = (0o100755 if runs else 0o100644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, text)
    return out


def run(top: Path) -> Path:
    """Grade the one hand-in of a container and write its results.json.

    Raises:
        NoBox: there is neither bubblewrap nor a container's box, or the tests lie open.
        RuntimeError: a fault of ours; nothing is written, and Gradescope reports a failure.
    """
    if "COURSEGRADE_BOX" not in os.environ and bubblewrap.why_not():
        os.environ["COURSEGRADE_BOX"] = container.NAME
    if why := backend().why_not():
        raise batch.cluster.NoBox(f"There is no box here, so no student's code is run.\n  {why}")
    if backend() is container:
        hidden = [top / name for name in ("source", "submission", "results")]
        if seen := container.readable(*hidden):
            raise batch.cluster.NoBox(f"the student's code could open {', '.join(map(str, seen))}")
    [folder] = (top / "source" / "exercise").iterdir()
    exercise, salt = Exercise(folder), (top / "source" / "salt").read_text(encoding="utf-8")
    found = handins.of_one(top / "submission", "the hand-in")
    [task] = batch.tasks(exercise, [found], salt, Limits())
    record = worker.mark(task)
    if record["status"] == FAULT:
        raise RuntimeError(f"a fault of the grader: {record['problem']}")
    path = top / "results" / "results.json"
    path.write_text(json.dumps(_results(exercise, record), indent=1), encoding="utf-8")
    return path


def _results(exercise: Exercise, record: dict) -> dict:
    points = exercise.points()
    if record["status"] == UNREADABLE:  # they see it at once, and hand in again
        words = f"It could not be read: {safe.clean(record['problem'])}. Hand it in again."
        return {"score": 0, "output": words, "visibility": "visible"}
    total = totals.Total(record, Decimal(reports.marks(record, points)["auto"]), "")
    result = gradescope.result(total, {}, points)
    said = [f"for your instructor: {safe.clean(flag)}" for flag in record["flags"]]
    result["output"] = "\n".join(filter(None, [result["output"], *said]))
    result["execution_time"] = round(record["seconds"])
    return result
