"""A process for each hand-in, forked from a server that has imported torch once.

The server never looks into what it is sent: a child does, with limits of its own, answers and ends.
So nothing that a hand-in does to a child reaches the server or the next child. The child grades
(`grade_one.work`); here, in the marking process, its death and its end are records, too.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from . import limits
from .task import FAULT, Task, blank

# A process can be forked safely while it has one thread.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
FORKS = sys.platform == "linux"  # macOS's libraries start threads: there each server has one child
_idle: list[Server] = []


def mark(task: Task) -> dict:
    """Mark a hand-in; a fault of ours is tried once more and then reported without marks."""
    start = time.monotonic()
    for attempt in (1, 2):
        record = in_worker(task) if task.raw is not None else blank(task)
        if record["status"] != FAULT:
            break
        record["problem"] += f" (tried {attempt} times)"
    return {**record, "seconds": round(time.monotonic() - start, 2)}


def in_worker(task: Task) -> dict:
    """`grade_one.examine` in a process of its own."""
    try:
        answer, ended = run(pickle.dumps(task), task.limits.whole)
        return json.loads(answer)
    except TimeoutError:
        why = f"to read and mark it took more than {task.limits.whole:g} s"
        return blank(task) | {"problem": why}
    except ValueError:
        if ended.startswith(f"{limits.KILLED}:"):
            return blank(task) | {"problem": limits.too_much(task.limits)[0]}
        return blank(task) | {"status": FAULT, "problem": f"its worker ended with {ended}"}


def run(raw: bytes, seconds: float) -> tuple[bytes, str]:
    """A child's answer to `raw`, which is cut short where the child died, and how it ended.

    Raises:
        TimeoutError: it did not end within `seconds`.
    """
    try:
        server = _idle.pop()  # a thread of a Dask worker has its own
    except IndexError:
        server = Server()
    try:
        answer, ended = server.ask(raw, time.monotonic() + seconds)
    except BaseException:
        server.kill()
        raise
    if server.alive():
        _idle.append(server)
    return answer, ended


class Server:
    """The marking process's side of a server, which ends when that process does."""

    def __init__(self):
        paths = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "coursegrade.worker"],
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors},
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            start_new_session=True,
        )
        os.set_blocking(self._process.stdin.fileno(), False)

    def ask(self, raw: bytes, end: float) -> tuple[bytes, str]:
        """`run` of this server, until the moment `end`."""
        before, said = self._errors.seek(0, os.SEEK_END), b""
        frame = memoryview(struct.pack(">Q", len(raw)) + raw)
        out, into = self._process.stdout.fileno(), self._process.stdin.fileno()
        while said.count(b"\n") < 2:  # the answer, which is one line, and how the child ended
            left = max(0, end - time.monotonic())
            ready, free, _ = select.select([out], [into] if frame else [], [], left)
            if not ready and not free:
                raise TimeoutError
            if ready:
                part = os.read(out, 1 << 16)
                said += part or b"\n%d\n" % self._process.wait()
            elif free:
                try:
                    frame = frame[os.write(into, frame[: 1 << 16]) :]
                except BrokenPipeError:
                    frame = frame[:0]  # it has ended, as `out` will tell
        answer, ended, _ = said.split(b"\n", 2)
        self._errors.seek(max(before, self._errors.seek(0, os.SEEK_END) - 300))
        words = self._errors.read().decode(errors="replace").strip()
        return answer, f"{ended.decode()}: {words}"

    def alive(self) -> bool:
        """Whether it can be asked again."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it with its child, whose boxes end with that."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def serve() -> None:
    """The server: frames from standard input; for each what a child says, and how it ended."""
    import torch
    from IPython.core import inputtransformer2  # noqa: F401
    from torch.testing import assert_close

    from coursegrade import grade_one, runner, student  # noqa: F401  what every child needs

    assert_close(torch.ones(1), torch.ones(1))  # its first call imports 500 modules more
    tasks, out = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what is printed on the way is no answer
    while head := tasks.read(8):
        raw = tasks.read(*struct.unpack(">Q", head))
        child = os.fork() if FORKS else 0
        if not child:
            _answer(grade_one.work, raw, out)
        del raw
        os.write(out, b"\n%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _answer(work, raw: bytes, out: int) -> None:
    """The child: it never returns into the server's code."""
    code = 1
    try:
        answer = memoryview(work(raw))
        while answer:
            answer = answer[os.write(out, answer) :]
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
