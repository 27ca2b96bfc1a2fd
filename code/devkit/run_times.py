"""How long the chapters run: processor time, stored with a hash of the code that was run.

The site shows a chapter's time as long as its code is the code that was measured. `make notebooks`
measures a chapter whose code has changed; one that has not keeps its time, so that a second run
changes nothing.
"""

import hashlib
import json
import sys
from pathlib import Path

from devkit import ROOT

STORE = ROOT / "code" / "devkit" / "bench" / "results" / "chapters.json"


def code_hash(notebook) -> str:
    """A short hash of the code that a reader sees; prose, outputs, set-up do not matter."""
    cells = [
        c
        for c in notebook["cells"]
        if c["cell_type"] == "code" and "remove-cell" not in c["metadata"].get("tags", [])
    ]
    code = "\0".join("".join(c["source"]) for c in cells)
    return hashlib.sha256(code.encode("utf-8")).hexdigest()[:16]


def load(store: Path = STORE) -> dict:
    """The stored times by notebook: `{"01_cues": {"code": ..., "seconds": ...}}`."""
    return json.loads(store.read_text("utf-8")) if store.exists() else {}


def processor_seconds() -> float | None:
    """Processor time of the finished child processes, kernels among them; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(name: str, notebook, seconds: float, store: Path = STORE) -> bool:
    """Store a time, unless this very code has one; whether it was stored."""
    times, code = load(store), code_hash(notebook)
    if times.get(name, {}).get("code") == code:
        return False
    times[name] = {"code": code, "seconds": round(seconds, 1)}
    text = json.dumps(times, indent=1, sort_keys=True)
    store.write_text(text + "\n", encoding="utf-8")
    return True
