"""Where hand-ins are graded: on this machine, or on a Dask cluster that runs already.

A worker needs three things: this distribution with the same files, the same torch, and a box. They
are looked at before a hand-in is sent: another grader gives other marks, no box gives none.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import joblib

WAIT = 60  # seconds for the first worker to come
HERE = Path(__file__).resolve().parent


class NoBox(RuntimeError):
    """There is no box where a student's code should run, so it is not run."""


class Unfit(RuntimeError):
    """The cluster has no worker, or one that would mark differently."""


class Fitness(NamedTuple):
    """What a worker has."""

    files: str
    torch: str
    why_not: str | None


def versions() -> tuple[str, str]:
    """A hash of the grader's files, and torch's version."""
    content = b"\0".join(path.read_bytes() for path in sorted(HERE.glob("*.py")))
    return hashlib.sha256(content).hexdigest(), importlib.metadata.version("torch")


def fitness() -> Fitness:
    """What this process has, to be asked here and on each worker."""
    from .backends import backend

    return Fitness(*versions(), backend().why_not())


def connection_errors() -> tuple[type[BaseException], ...]:
    """What is raised here when a worker dies or the cluster goes away."""
    try:
        from distributed import KilledWorker
        from distributed.client import CancelledError
    except ImportError:  # the extra `cluster` is not installed
        return OSError, RuntimeError
    return OSError, RuntimeError, KilledWorker, CancelledError


@contextmanager
def workers(scheduler: str):
    """Within this context joblib grades on the cluster at the address; "" stays on this machine.

    Yields a context of the same kind that asks all workers again and takes the fit ones alone.

    Raises:
        Unfit: no worker comes, or one of them has another grader or another torch.
        NoBox: a worker has no box.
    """
    if not scheduler:
        yield nullcontext
        return
    try:
        from distributed import Client
    except ImportError:
        raise RuntimeError("SCHEDULER needs Dask: pip install distributed") from None
    with Client(scheduler) as client:
        check(_found(client), fitness())

        def only_fit():
            ours = fitness()
            fit = [address for address, one in _found(client).items() if not unfit(one, ours)]
            if not fit:
                raise NoBox("no worker is left that has this grader and a box")
            return joblib.parallel_config("dask", client=client, workers=fit)

        with joblib.parallel_config("dask", client=client):
            yield only_fit


def _found(client) -> dict[str, Fitness]:
    try:
        client.wait_for_workers(1, timeout=WAIT)
        return client.run(fitness)
    except (TimeoutError, asyncio.TimeoutError):  # one and the same from Python 3.11
        raise Unfit(f"the cluster has had no worker for {WAIT} s") from None
    except ImportError as problem:
        raise Unfit(f"a worker cannot import the grader: {problem}") from None


def check(found: dict[str, Fitness], ours: Fitness) -> None:
    """Refuse workers that would mark differently, or without a box."""
    other = [
        f"{address}: {why}"
        for address, theirs in sorted(found.items())
        for why in unfit(theirs._replace(why_not=None), ours)
    ]
    if other:
        raise Unfit("these workers would mark differently:\n  " + "\n  ".join(other))
    boxless = [f"{address}: {one.why_not}" for address, one in sorted(found.items()) if one.why_not]
    if boxless:
        raise NoBox("no student's code is run without a box:\n  " + "\n  ".join(boxless))


def unfit(theirs: Fitness, ours: Fitness) -> list[str]:
    """Why a worker should get no hand-in; it is asked before each, too: it may have come late."""
    why = ["another version of the grader"] if theirs.files != ours.files else []
    why += ["another torch"] if theirs.torch != ours.torch else []
    return why + ([theirs.why_not] if theirs.why_not else [])
