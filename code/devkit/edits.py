"""Edits that break the code on purpose, on copies: what `mutants` and `doubt` share.

Their lists are TOML, a table for each file, and in it rows of three texts: what the edit is, the
old text, which stands in the file once, and the new one.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import tomllib

from devkit import ROOT

SECONDS = 600  # for one edit
FORK = multiprocessing.get_context("fork")


def rows(path: Path, key: str) -> list[dict]:
    """The edits of a list, {"file", "what", "old", "new"}, with what else their table holds."""
    return [
        {"file": file} | table | dict(zip(("what", "old", "new"), edit, strict=True))
        for file, table in tomllib.loads(path.read_text(encoding="utf-8")).items()
        for edit in table.pop(key)
    ]


def replace(text: str, edit: dict) -> str:
    """The text with one edit, or ValueError if the edit fits not exactly once."""
    if text.count(edit["old"]) != 1 or edit["old"] == edit["new"]:
        times = text.count(edit["old"])
        raise ValueError(f"{edit['file']}: {edit['old']!r} must stand there once, not {times}x")
    return text.replace(edit["old"], edit["new"])


@contextmanager
def edited(edit: dict | None, *packages: str):
    """A temporary folder with copies of these packages, and in it one edit (None: none)."""
    with tempfile.TemporaryDirectory() as folder:
        for name in packages:
            source = ROOT / "code" / name
            shutil.copytree(source, Path(folder) / name, ignore=_caches, copy_function=_copy)
        if edit:
            path = Path(folder) / edit["file"]
            path.write_text(replace(path.read_text(encoding="utf-8"), edit), encoding="utf-8")
        yield folder


def apart(work, *arguments, seconds=SECONDS):
    """What `work` returns in a fork with its output closed; None if it ends without, or never."""
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=_send, args=(sender, work, arguments))
    child.start()
    sender.close()
    try:
        answer = receiver.recv() if receiver.poll(seconds) else None
    except EOFError:
        answer = None
    child.kill()
    child.join()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _send(sender, work, arguments) -> None:
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            sender.send(work(*arguments))
        except ValueError as error:  # an edit that does not fit
            sender.send(error)


def _caches(folder, names):
    return {name for name in names if name == "__pycache__"}


def _copy(source: str, target: str) -> None:
    """Copy a file; weights, which no edit touches, are only linked to."""
    if source.endswith(".safetensors"):
        os.symlink(source, target)
    else:
        shutil.copyfile(source, target)
