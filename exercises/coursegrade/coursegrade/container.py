"""The box where a container is all there is, as on Gradescope: its daemon forbids namespaces.

The student's code runs as nobody, with limits and a seccomp filter that also refuses sockets and
new processes, beside the tests, which root alone can read. Less than the other boxes: it sees the
container's files that everybody may read and the names of its processes. So it is for a container
that holds one hand-in and is thrown away, and only COURSEGRADE_BOX=container chooses it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import seccomp
from .limits import Limits

NAME = "container"
HERE = Path(__file__).resolve().parent
NOBODY = 65534


def command(limits: Limits, seccomp_fd: int | None = None, program: list[str] | None = None):
    """The command line of one box. `seccomp_fd` is unused: this file loads a stricter filter."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
    variables |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return [
        *("env", "-i", "--chdir=/tmp", *map("=".join, variables.items())),
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"),
        *("prlimit", f"--nproc={limits.processes}", f"--as={limits.memory}"),
        *(f"--cpu={limits.cpu}", f"--fsize={limits.file_size}", f"--nofile={limits.files}"),
        *("--core=0", "--"),
        *(program or [sys.executable, "-I", str(HERE / "seccomp.py"), str(HERE / "driver.py")]),
    ]


def end(process: subprocess.Popen) -> None:
    """Nothing to do: without new processes there is none but the one that was ended."""


def why_not() -> str | None:
    """Why no box can be made here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "the box of a container needs Linux, and root, to drop its rights"
    if seccomp.program() is None:
        return "the box of a container needs an x86-64 processor: it has no other walls"
    for tool in ("setpriv", "prlimit"):
        if not shutil.which(tool):
            return f"{tool} is not installed (Debian, Ubuntu: apt install util-linux)"
    tried = subprocess.run(
        command(Limits(), program=[sys.executable, "-c", "0"]), capture_output=True, text=True
    )
    return None if tried.returncode == 0 else tried.stderr.strip()[-400:] or "nobody can't run it"


def readable(*paths: Path) -> list[Path]:
    """Which of these the student's code could read or write."""
    test = "test -r {0} || test -w {0} || test -x {0}"
    return [
        path
        for path in paths
        if subprocess.run(
            command(Limits(), program=["/bin/sh", "-c", test.format('"$1"'), "sh", str(path)])
        ).returncode
        == 0
    ]
