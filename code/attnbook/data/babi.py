"""The bAbI tasks of Weston et al. 2015, in their classic format, any of the twenty.

    1 Mary moved to the bathroom.
    2 John went to the hallway.
    3 Where is Mary?        bathroom        1

Lines are numbered, and the number 1 begins a new story. A line with tabs is a question, its answer
and the numbers of the lines that support it. The files are looked for in the folder `babi` of
`ATTNBOOK_DATA`; nothing is fetched.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from .._checks import check_choice, check_count
from .fetch import CorpusError
from .stories import Story

TASKS = 20
SPLITS = ("train", "test")


def babi(task: int, split: str = "train", *, size: str = "en") -> list[Story]:
    """Read a task from the folder `babi` of `ATTNBOOK_DATA`, where the archive was unpacked.

    Args:
        task: 1 to 20.
        split: "train" or "test".
        size: the archive's folder: "en" has 1,000 training questions a task, "en-10k" ten times
            as many; "shuffled" and the others are read alike.

    Raises:
        ValueError: no such task or split, or the file is not in the format.
        CorpusError: there is no such file; the message says where it was looked for.
    """
    check_count("task", task, 1, TASKS)
    check_choice("split", split, SPLITS)
    folder = os.environ.get("ATTNBOOK_DATA")
    root = Path(folder) / "babi" if folder else None
    files = sorted(root.rglob(f"qa{task}_*_{split}.txt")) if root else []
    files = [path for path in files if path.parent in (root, *root.rglob(size))]
    if not files:
        raise CorpusError(
            f"there is no {size}/qa{task}_..._{split}.txt in {root or 'a folder babi'}: unpack "
            "tasks_1-20_v1-2.tar.gz there, and name the folder above it in ATTNBOOK_DATA"
        )
    return read_babi(files[0].read_text(encoding="utf-8"))


def read_babi(text: str) -> list[Story]:
    """Read stories in the classic format, one for each question.

    Words are in lower case, without full stops and question marks. An answer of several words is
    kept as it stands, "milk,football". The facts are those before the question; earlier questions
    are none.

    Raises:
        ValueError: a line has no number, or supports an answer that no fact of its story has.
    """
    made, facts, places = [], [], {}
    for n, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        number, _, rest = line.strip().partition(" ")
        if not number.isdigit() or not rest:
            raise ValueError(f"line {n} must begin with its number and a space, got {line!r}")
        if int(number) == 1:
            facts, places = [], {}
        if "\t" not in rest:
            places[int(number)] = len(facts)
            facts.append(_words(rest))
            continue
        question, answer, *support = (part.strip() for part in rest.split("\t"))
        told = [int(i) for i in " ".join(support).split()]
        if not set(told) <= places.keys():
            raise ValueError(f"line {n} must be supported by facts of its story, got {line!r}")
        support = tuple(places[i] for i in told)
        made.append(Story(tuple(facts), _words(question), answer.lower(), support))
    return made


def _words(sentence: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\s.?]+", sentence.lower()))
