"""The box on macOS and Windows: the same interface over a container engine.

Build the image once: ``docker build -t coursegrade-box exercises/coursegrade/coursegrade``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from .bubblewrap import INSIDE
from .limits import Limits

NAME = "docker"
HERE = Path(__file__).resolve().parent
IMAGE = os.environ.get("COURSEGRADE_IMAGE", "coursegrade-box")


def _name() -> str:
    return f"coursegrade-{os.urandom(8).hex()}"


def command(limits: Limits, seccomp_fd: int | None = None, program: list[str] | None = None):
    """The command line of one box. `seccomp_fd` is unused: the engine has its own filter."""
    mounts = []
    for name in INSIDE:
        mounts += ["--mount", f"type=bind,src={HERE / name},dst=/grader/{name},readonly"]
    variables = {"HOME": "/tmp", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    return [
        *("docker", "run", "--rm", "--interactive", "--name", _name(), "--pull", "never"),
        *("--network", "none", "--ipc", "private", "--read-only", "--hostname", "box"),
        *("--tmpfs", f"/tmp:rw,nosuid,nodev,size={limits.tmp}", "--workdir", "/tmp"),
        *("--user", "65534:65534", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--memory", str(limits.memory), "--memory-swap", str(limits.memory)),
        *("--pids-limit", str(limits.processes), "--ulimit", f"cpu={limits.cpu}"),
        *("--ulimit", f"fsize={limits.file_size}", "--ulimit", f"nofile={limits.files}"),
        *("--ulimit", "core=0", "--log-driver", "none"),
        *(word for item in variables.items() for word in ("--env", "=".join(item))),
        *mounts,
        IMAGE,
        *(program or ["python", "-I", "/grader/driver.py"]),
    ]


def end(process: subprocess.Popen) -> None:
    """Remove the container: killing the client alone leaves it running."""
    name = process.args[process.args.index("--name") + 1]
    subprocess.run(["docker", "rm", "--force", name], capture_output=True, check=False)


def why_not() -> str | None:
    """Why no box can be made here, or None."""
    if not shutil.which("docker"):
        return "docker is not installed"
    tried = subprocess.run(["docker", "image", "inspect", IMAGE], capture_output=True, text=True)
    if tried.returncode:
        return f"docker has no image {IMAGE}: {tried.stderr.strip()[-300:]}"
    return None
