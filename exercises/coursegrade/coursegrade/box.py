"""One running box: frames in, frames out, and a clock on both."""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import subprocess
import time

from . import bubblewrap, seccomp, wire
from .backends import backend
from .limits import Limits


class GraderFault(BaseException):
    """Ours, never the student's. Not an Exception: no test can mistake it for a wrong answer."""


class Ended(Exception):
    """The process behind the box is gone, or what it sends can't be read."""


class Box:
    """A process in a box.

    Raises:
        GraderFault: the box did not start. No student's code has run by then.
    """

    def __init__(self, limits: Limits):
        self._backend, self._buffer, self._count = backend(), bytearray(), 0
        self._process = self._launch(limits)
        os.set_blocking(self._process.stdout.fileno(), False)
        os.set_blocking(self._process.stdin.fileno(), False)
        try:
            ready = "ready" in self._receive(time.monotonic() + limits.start)
        except (Ended, TimeoutError, ValueError, TypeError):
            ready = False
        if not ready:
            words = self._last_words()
            self.kill()
            raise GraderFault(f"the box did not start: {words or 'no answer'}")

    def _launch(self, limits: Limits) -> subprocess.Popen:
        rules, read_end = seccomp.program(), None
        if rules and self._backend is bubblewrap:
            read_end, write_end = os.pipe()
            os.write(write_end, rules)
            os.close(write_end)
        try:
            return subprocess.Popen(
                self._backend.command(limits, read_end),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=() if read_end is None else (read_end,),
                # Docker's client needs it to find its daemon; the container doesn't get it.
                env={} if self._backend is bubblewrap else None,
            )
        except OSError as problem:
            raise GraderFault(f"the box did not start: {problem}") from None
        finally:
            if read_end is not None:
                os.close(read_end)

    def _last_words(self) -> str:
        os.set_blocking(self._process.stderr.fileno(), False)
        try:
            return (self._process.stderr.read(2000) or b"").decode(errors="replace").strip()
        except OSError:
            return ""

    def ask(self, request: dict, seconds: float, asked=None) -> dict:
        """Send a request and return its answer; `at` is the statement that it told last.

        Args:
            asked: answers what the box asks before it answers itself: a dict for a dict.

        Raises:
            TimeoutError: no whole answer within `seconds`.
            Ended: the process ended, or sent something that is not the answer.
        """
        end = time.monotonic() + seconds
        self._count, self.at = self._count + 1, None
        try:
            self._send(wire.pack({"id": self._count, **request}), end)
            while type(answer := self._receive(end)) is dict:
                if type(answer.get("at")) is int:
                    self.at = answer["at"]
                elif asked is not None and "asks" in answer:
                    self._send(wire.pack(asked(answer)), end)
                else:
                    break
        except (BrokenPipeError, ConnectionError):
            raise Ended("the process ended") from None
        except (ValueError, RecursionError, MemoryError):
            raise Ended("it sent something that is not an answer") from None
        if type(answer) is not dict or answer.get("number") != self._count:
            raise Ended("it sent an answer that was not asked for")
        return answer

    def _send(self, frame: bytes, end: float) -> None:
        descriptor, rest = self._process.stdin.fileno(), memoryview(frame)
        while rest:
            left = end - time.monotonic()  # whoever never stops sending is late, too
            if left <= 0 or not select.select([], [descriptor], [], left)[1]:
                raise TimeoutError
            try:
                rest = rest[os.write(descriptor, rest[:65536]) :]
            except BlockingIOError:
                pass

    def _receive(self, end: float):
        size = struct.unpack(">I", self._take(4, end))[0]
        if size > wire.MAX_FRAME:
            raise Ended("its answer is too large")
        return json.loads(self._take(size, end))

    def _take(self, size: int, end: float) -> bytes:
        descriptor = self._process.stdout.fileno()
        while len(self._buffer) < size:
            left = end - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise TimeoutError
            try:
                part = os.read(descriptor, 1 << 16)
            except BlockingIOError:
                continue
            if not part:
                raise Ended("the process ended")
            self._buffer += part
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def kill(self) -> None:
        """End every process of the box; safe to call twice."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._backend.end(self._process)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            stream.close()
