"""A class of generated hand-ins whose marks are known before they are graded.

    python generated_class.py grade FOLDER OUT [SCHEDULER]      grades it, to be killed on the way

Known means: our own solutions and their mutants are marked without a box, without files and
without workers, by `rows_of`; a broken or hostile hand-in says what it should get.
"""

import io
import itertools
import json
import os
import random
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import hostile
from grading_helpers import ALL, KINDS, Book, code_of, of_other_kind, rows_of

from coursegrade import batch, reports, runner, safe
from coursegrade.limits import Limits
from coursegrade.mutants import edited

EXERCISE = ALL[0]
# Those who hang are waited for twice as long as by `make grade`: a busy machine is no fault of theirs.
PATIENT = Limits(start=600, cell=40, call=10, run=600, whole=1200)
SALT = "a"
FULL = sum(EXERCISE.points().values())
GRADED, LOOK, UNREADABLE = hostile.GRADED, hostile.LOOK, hostile.UNREADABLE
MOUNT = "from google.colab import drive\ndrive.mount('/content/drive')\n"


class Member(NamedTuple):
    """A hand-in: its files below the class's folder, and what it should get."""

    student: str
    status: str
    points: int | None  # None: no marks at all
    late: bool
    files: dict


def marks(text):
    """What the notebook deserves, by a way that has no box, no worker and no file."""
    rows = runner.count(rows_of(EXERCISE, code_of(text), SALT))
    rows = [row.record() for row in rows]
    return reports.marks({"status": GRADED, "rows": rows}, EXERCISE.points())["auto"]


def honest():
    """(status, points, text): full marks, each by another way."""
    yield GRADED, FULL, Book(EXERCISE).text()
    for how in KINDS:
        yield GRADED, FULL, of_other_kind(EXERCISE, how).text()
    other = Book(EXERCISE)
    code = "\n\n".join(EXERCISE.examples()["correct"].values())
    other.cells.insert(-1, {"cell_type": "code", "source": code})
    yield GRADED, FULL, other.text()
    heavy = Book(EXERCISE)
    heavy.cell("saliency")["outputs"] = [{"output_type": "stream", "text": "x" * (2 << 20)}]
    yield GRADED, FULL, heavy.text()
    colab = Book(EXERCISE)
    first = next(cell for cell in colab.cells if "import torch" in "".join(cell["source"]))
    first["source"] = MOUNT + "".join(first["source"])
    yield LOOK, FULL, colab.text()  # a cell failed: a person looks, no point is lost


def source_of(cell):
    return "".join(cell["source"])


def partial(chance):
    """(status, points, text) without end: some answers are wrong in a known way, some are missing."""
    mutants = [mutant[1:] for mutant in EXERCISE.examples()["mutants"].values()]
    sources = list(map(source_of, Book(EXERCISE).cells))
    released = list(map(source_of, Book(EXERCISE, solution=False).cells))
    stubs = [i for i, source in enumerate(released) if "NotImplementedError" in source]
    where = [
        [i for i in stubs if all(old in sources[i] for old in edits[::2])] for edits in mutants
    ]
    known = [(places[0], edits) for places, edits in zip(where, mutants, strict=True) if places]
    assert len(known) > 20
    while True:
        book = Book(EXERCISE)
        for place, edits in dict(chance.sample(known, chance.randint(1, 3))).items():
            book.cells[place]["source"] = edited(sources[place], edits)
        for place in stubs:
            if chance.random() < 0.15:
                book.cells[place]["source"] = released[place]
        text = book.text()
        points = marks(text)
        if points:  # nothing answered at all is a case of its own
            yield GRADED, points, text


def broken():
    """(status, points, files): what can't be marked, and why is no zero."""
    good = Book(EXERCISE).text()
    words = [{"cell_type": "markdown", "source": "I was ill.", "metadata": {}}]
    for files in (
        {"work.ipynb": good[: len(good) // 2]},
        {"work.ipynb": ""},
        {"work.ipynb": Book(ALL[1]).text()},  # another assignment
        {"work.ipynb": json.dumps({"cells": words, "metadata": {}, "nbformat": 4})},
        {"a.ipynb": good, "b.ipynb": good.replace("softmax", "Softmax")},
        {"essay.pdf": "x"},
        {"work.zip": b"PK\x03\x04 and no more"},
    ):
        yield UNREADABLE, None, files


def percent(cell):
    """A cell as Colab's and VS Code's "Download .py" write it."""
    source = source_of(cell)
    if cell["cell_type"] == "code":
        return f"# %%\n{source}\n"
    return "# %% [markdown]\n# " + source.replace("\n", "\n# ") + "\n"


def forms(number, text):
    """(student, late, files): the ways in which a notebook is handed in."""
    raw, who = text.encode(), f"member {number:03}"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("my work/notes.txt", "x")
        archive.writestr("my work/Exercise.ipynb", raw)
    script = "\n".join(map(percent, json.loads(text)["cells"])).encode()
    yield who, False, {f"{who}/01_cues.ipynb": raw}
    yield f"lovelaceada_{number}", False, {f"lovelaceada_{number}_77_01_cues-2.ipynb": raw}
    yield f"turingalan_{number}", True, {f"turingalan_LATE_{number}_78_01_cues.ipynb": raw}
    moodle = f"José Ñandú 李_{number}"
    folder = f"{moodle}_assignsubmission_file_"
    yield moodle, False, {f"{folder}/Kopie von 01 (1).IPYNB": raw}
    yield who, False, {f"{who}/01_cues.ipynb.txt": raw}
    yield who, False, {f"{who}/everything.zip": packed.getvalue()}
    yield who, False, {f"{who}/a.ipynb": raw, f"{who}/deep/a copy.ipynb": raw}
    yield who, False, {f"{who}/exercise.py": script}
    yield who, False, {os.fsdecode(f"{who}/caf".encode() + b"\xe9.ipynb"): raw}
    yield f"hopper_{number}", True, {f"hopper_LATE_{number}_79_cues.ipynb": raw}


def generate(size, outside, port=1):
    """`size` members, kinds taken in turns; the hostile ones end when each has come once."""
    chance = random.Random(0)
    fine, wrong, no_use = itertools.cycle(honest()), partial(chance), itertools.cycle(broken())
    attacks = list(hostile.cases(EXERCISE, outside, port).items())
    chance.shuffle(attacks)
    form, members = itertools.count(), []
    while len(members) < size:
        number = len(members)
        turn = number % 10
        if turn in (3, 5, 7) and attacks:
            who, case = attacks.pop()
            folder = who.replace("/", "∕")
            files = {f"{folder}/{name}": content for name, content in case.files.items()}
            member = Member(folder, case.status, case.points, False, files)
        elif turn == 9:
            status, points, files = next(no_use)
            who = f"broken {number:03}"
            named = {f"{who}/{name}": content for name, content in files.items()}
            member = Member(who, status, points, False, named)
        else:
            status, points, text = next(fine if turn in (0, 4, 8) else wrong)
            ways = list(forms(number, text))
            who, late, files = ways[next(form) % len(ways)]
            member = Member(who, status, points, late, files)
        members.append(member)
    return members


def write(members, folder):
    """The class's folder, as a download would be."""
    for member in members:
        for name, content in member.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())


def wrong(members, out):
    """What is not as it should be in the reports of a class, in words; empty where all is right."""
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    found = {record["student"]: record for record in content["results"]}
    said = [f"lost: {who}" for who in {member.student for member in members} - set(found)]
    said += [f"nobody's: {who}" for who in set(found) - {member.student for member in members}]
    for member in members:
        record = found.get(member.student)
        if record is None:
            continue
        got = reports.marks(record, content["points"])["auto"]
        want = "" if member.points is None else member.points
        if (record["status"], got) != (member.status, want):
            why = f"{record['problem']} {record['flags']} {record['cells']}"[:300]
            said.append(f"{member.student}: {record['status']} {got!r}, not {member[1:3]}: {why}")
        if ("late" in record["flags"]) != member.late:
            said.append(f"{member.student}: late is {not member.late}")
        page = out / "feedback" / (safe.file_name(member.student) + ".md")
        if not page.is_file():
            said.append(f"{member.student}: no feedback")
    return said


def main(folder, out, scheduler=""):
    """Grade the class, as `make grade` does."""
    batch.grade(
        EXERCISE,
        Path(folder),
        Path(out),
        salt=SALT,
        jobs=int(os.environ.get("JOBS", "2")),
        scheduler=scheduler,
        limits=PATIENT,
        quiet=True,
    )


if __name__ == "__main__":
    main(*sys.argv[2:])
