"""The box on Linux: bubblewrap's command line. No daemon, no image; root only drops its rights.

Inside: own user, pid, net, ipc and uts namespaces, a cleared environment, a read-only root that
holds the system's /usr, the interpreter and the driver, and one small folder in memory.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .limits import Limits

NAME = "bubblewrap"
HERE = Path(__file__).resolve().parent
# What of ours the box may see.
INSIDE = ("driver.py", "cells.py", "absent.py", "calls.py", "wire.py")
NOBODY = 65534
USR = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"]
for folder in ("lib", "lib64"):  # Debian, Fedora and Arch have them as links into /usr
    USR += ["--symlink", f"usr/{folder}", f"/{folder}"]


def _interpreter() -> list[Path]:
    """The folders without which Python and torch do not start."""
    needed = {Path(sys.prefix), Path(sys.base_prefix)}
    torch = importlib.util.find_spec("torch")  # finds, does not import
    if torch is not None:
        needed.add(Path(torch.origin).parents[1])
    tops = sorted(path for path in needed if not path.is_relative_to("/usr"))
    return [path for path in tops if not any(path != a and path.is_relative_to(a) for a in tops)]


def _show(*paths: Path, at: tuple[str, ...] = ()) -> list[str]:
    """Bind paths read-only; folders on the way get a mode that an unprivileged user can pass."""
    words, made = [], set()
    for path, target in zip(paths, map(Path, at or paths), strict=True):
        for parent in reversed(target.parents[:-1]):
            if parent not in made:
                made.add(parent)
                words += ["--perms", "0755", "--dir", str(parent)]
        words += ["--ro-bind", str(path), str(target)]
    return words


def _drop(bwrap: str) -> list[str]:
    """As root: an outer stage whose only use is to become nobody with the folders in reach."""
    files = [HERE / name for name in INSIDE]
    return [
        *(bwrap, "--die-with-parent", *USR, *_show(*_interpreter(), *files)),
        *("--perms", "1777", "--dir", "/tmp", "--bind", "/proc", "/proc"),
        *("--dev-bind", "/dev", "/dev", "--"),
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"),
    ]


def command(limits: Limits, seccomp_fd: int | None = None, program: list[str] | None = None):
    """The command line of one box; `program` replaces the driver (for tests of the box itself)."""
    bwrap = shutil.which("bwrap") or "bwrap"
    files = [HERE / name for name in INSIDE]
    # No memory beside the small folders: the mount of /dev is writable unless it is said twice.
    folders = ["--proc", "/proc", "--dev", "/dev", "--size", str(limits.tmp), "--tmpfs", "/tmp"]
    folders += ["--size", str(1 << 20), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    variables = {"PATH": "/usr/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
    variables |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    if "LD_LIBRARY_PATH" in os.environ:
        variables["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    environment = [word for item in variables.items() for word in ("--setenv", *item)]
    return [
        *(_drop(bwrap) if os.geteuid() == 0 else []),
        *(bwrap, "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"),
        *("--unshare-uts", "--unshare-cgroup-try", "--disable-userns", "--die-with-parent"),
        "--as-pid-1",  # no reaper of bwrap's in the box: it would have no limits
        *("--new-session", "--cap-drop", "ALL", "--hostname", "box"),
        *("--uid", str(NOBODY), "--gid", str(NOBODY), "--clearenv", *environment),
        *(USR + folders),
        *_show(*_interpreter()),
        *_show(*files, at=tuple(f"/grader/{name}" for name in INSIDE)),
        *(["--seccomp", str(seccomp_fd)] if seccomp_fd is not None else []),
        *("--remount-ro", "/", "--chdir", "/tmp", "--"),
        # Inside, so that it counts this box alone, not all processes of the instructor.
        *("/usr/bin/prlimit", f"--nproc={limits.processes}", f"--as={limits.memory}"),
        *(f"--cpu={limits.cpu}", f"--fsize={limits.file_size}", f"--nofile={limits.files}"),
        *("--core=0", "--"),
        *(program or [sys.executable, "-I", "/grader/driver.py"]),
    ]


def end(process: subprocess.Popen) -> None:
    """Nothing to do: the box dies with its process group."""


def why_not() -> str | None:
    """Why no box can be made here, or None. The whole command is tried, not only looked for."""
    if sys.platform != "linux":
        return "bubblewrap runs on Linux only: use COURSEGRADE_BOX=docker"
    for tool, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux")):
        if not shutil.which(tool):
            return f"{tool} is not installed (Debian, Ubuntu: apt install {package})"
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        return "as root setpriv is needed to drop rights (Debian, Ubuntu: apt install util-linux)"
    tried = subprocess.run(
        command(Limits(), program=["/usr/bin/true"]), capture_output=True, text=True
    )
    if tried.returncode == 0:
        return None
    hint = " (Ubuntu 24.04: see exercises/README.md)" if "ermi" in tried.stderr else ""
    return (tried.stderr.strip()[-400:] or f"bwrap ended with {tried.returncode}") + hint
