"""Grade a class: in parallel, resumable, nothing twice and nothing stale."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import secrets
import sys
import threading
import time
from pathlib import Path

import joblib
from tqdm import tqdm

from . import cluster, handins, release, reports, safe, worker
from .backends import backend
from .exercise import Exercise
from .limits import Limits
from .notebook import Unreadable
from .task import FAULT, Task, blank

BEGUN = ".begun.json"
MOST_FILES = 8  # of one student are read, to see whether they are equal


def grader_version() -> str:
    """The grader itself, torch and the interpreter: a new one marks anew."""
    return "\0".join([*cluster.versions(), sys.version])


def key(task: Task, version: str) -> str:
    """What a result depends on: hand-in, tests, grader, salt and limits."""
    digest = hashlib.sha256(task.raw).hexdigest() if task.raw is not None else None
    parts = [digest, task._replace(raw=None), version]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def tasks(exercise: Exercise, found: list[handins.HandIn], salt: str, limits: Limits):
    """One task a student, with the hand-in's bytes in it."""
    rest = (exercise.tests, release.references(exercise))
    rest += (tuple(exercise.by_hand()), exercise.forbidden())
    rest += (release.given_parts(exercise), salt, limits)
    return [Task(one.student, *_content(one), *rest) for one in found]


def _content(found: handins.HandIn) -> tuple[str, bytes | None, str, tuple[str, ...]]:
    """The one file's name and bytes, or why there is none; and what a person should know."""
    flags = ("late",) if found.late else ()
    if found.others:
        flags += (f"not read: {', '.join(found.others[:20])}",)
    if found.problem:
        return "", None, found.problem, flags
    names = [handins.readable(path.name) for path in found.files]
    try:
        raws = list(dict.fromkeys(map(handins.read_bytes, found.files[:MOST_FILES])))
    except Unreadable as problem:
        return names[0], None, str(problem), flags
    if len(raws) != 1:  # two with the same content are one
        held = f": {', '.join(names[:20])}" if names else ""
        return "", None, f"{len(names)} notebooks are handed in, one is needed{held}", flags
    return names[0], raws[0], "", flags


def _begun(out: Path, exercise: Exercise, salt: str | None) -> str:
    """The salt of this run: given, or the last run's, or new. It is stored before all else.

    Raises:
        ValueError: the folder holds results of another exercise, or of another form of it.
    """
    for name in (BEGUN, "results.json"):
        try:
            before = json.loads((out / name).read_text(encoding="utf-8"))
            other, form, last = before["exercise"], before.get("form", ""), before["salt"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if other != exercise.name:
            raise ValueError(f"OUT holds the results of {other}: give {exercise.name} its own")
        if form != exercise.form:
            held, given = (
                f"the variant {x}" if x else "the first form" for x in (form, exercise.form)
            )
            raise ValueError(f"OUT holds the results of {held} of {other}: give {given} its own")
        salt = salt or last
    salt = salt or secrets.token_hex(8)
    begun = {"exercise": exercise.name, "form": exercise.form, "salt": salt}
    (out / BEGUN).write_text(json.dumps(begun))
    return salt


def _store(record: dict, path: Path) -> None:
    """Keep a result for the next run; a fault is tried again then."""
    if record["status"] == FAULT:
        return
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(record), encoding="utf-8")
    os.replace(part, path)


def grade(
    exercise: Exercise,
    submissions,
    out,
    *,
    salt: str | None = None,
    jobs: int = 1,
    scheduler: str = "",
    limits: Limits = Limits(),  # noqa: B008 (a tuple)
    quiet: bool = False,
) -> list[dict]:
    """Grade a folder of hand-ins and write the reports.

    Args:
        salt: decides the tests' numbers; by default that of the last run into `out`, else new.
        scheduler: address of a Dask scheduler; its workers need this distribution and a box.

    Raises:
        NoBox: there is no box here, or on a worker of the cluster. Nothing has run then.
    """
    why = None if scheduler else backend().why_not()
    if why:
        raise cluster.NoBox(f"There is no box here, so no student's code is run.\n  {why}")
    out, rubrics = Path(out), exercise.rubrics()
    store = out / ".results"
    found, nobodys = handins.find(submissions)
    store.mkdir(parents=True, exist_ok=True)
    salt = _begun(out, exercise, salt)
    for name in nobodys:
        print(f"nobody's, and not read: {safe.clean(name)}", file=sys.stderr)
    todo, version = tasks(exercise, found, salt, limits), grader_version()
    paths = [store / f"{key(task, version)}.json" for task in todo]
    records = [_stored(path) for path in paths]
    places = [i for i, record in enumerate(records) if record is None]
    running = _run([todo[i] for i in places], jobs, scheduler) if places else ()
    for i, record in tqdm(running, "grading", len(places), unit=" hand-ins", disable=quiet):
        records[places[i]] = record
        _store(record, paths[places[i]])
    for path in store.iterdir():
        if path not in paths:
            path.unlink()  # stale: another hand-in, other tests, another grader or salt
    for record, one in zip(records, found, strict=True):
        file = handins.readable(one.files[0].name) if one.files else ""
        record |= {"name": one.name, "id": one.id, "source": one.source, "file": file, "at": one.at}
    about = {
        "exercise": exercise.name,
        "form": exercise.form,
        "title": exercise.title(),
        "salt": salt,
    }
    about |= {"points": exercise.points(), "by_hand": exercise.by_hand()}
    about["rubrics"] = rubrics
    for note in reports.write(out, about, records):
        print(safe.clean(note), file=sys.stderr)
    return records


def _stored(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


@functools.cache
def _end_with(parent: int) -> None:
    """From now on end this process when its parent is gone: joblib's worker would wait for ever."""

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _numbered(i: int, task: Task, ours, grader: int = 0) -> tuple[int, dict | None]:
    """A place and its record; None where a cluster's worker, one that came late, is not fit.

    Args:
        grader: the process that asks, if its workers are children of it.
    """
    if grader and os.getppid() == grader:
        _end_with(grader)
    fit = ours is None or not cluster.unfit(cluster.fitness(), ours)
    return i, worker.mark(task) if fit else None


def _run(todo: list[Task], jobs: int, scheduler: str):
    """(place in `todo`, record) as they come. A worker that dies costs no other student a mark."""
    left = dict(enumerate(todo))
    ours = cluster.fitness() if scheduler else None
    with cluster.workers(scheduler) as only_fit:
        try:
            for i, record in _in_parallel(left, None if scheduler else jobs, ours):
                if record is not None:
                    del left[i]
                    yield i, record
        except cluster.connection_errors() as problem:
            print(f"a worker was lost ({type(problem).__name__}): going on", file=sys.stderr)
        for i, task in sorted(left.items()):
            record, why = None, "its worker is not fit"
            try:
                with only_fit():
                    [(_, record)] = list(_in_parallel({i: task}, None if scheduler else 2, ours))
            except cluster.connection_errors() as problem:
                why = f"its worker died twice: {type(problem).__name__}"
            fault = {"status": FAULT, "problem": why, "seconds": 0.0}
            yield i, record or blank(task) | fault


def _in_parallel(some: dict[int, Task], jobs: int | None, ours):
    parallel = joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")
    one, grader = joblib.delayed(_numbered), 0 if ours else os.getpid()
    return parallel(one(i, task, ours, grader) for i, task in list(some.items()))


def summary(records: list[dict]) -> str:
    """How many of which status, in a line."""
    counts: dict[str, int] = {}
    for record in records:
        counts[record["status"]] = counts.get(record["status"], 0) + 1
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
