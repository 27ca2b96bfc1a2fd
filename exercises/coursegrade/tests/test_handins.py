"""Whatever is in the folder is reported: read, or named as not read, or blank with a reason."""

import io
import json
import os
import stat
import subprocess
import zipfile

import pytest
from grading_helpers import ALL, Book, task_of

from coursegrade import (
    answers,
    batch,
    grade_one,
    handins,
    notebook,
    release,
    reports,
    similar,
    unpack,
    worker,
)
from coursegrade.backends import backend
from coursegrade.limits import Limits
from coursegrade.notebook import Unreadable
from coursegrade.task import GRADED, LOOK, UNREADABLE

EXERCISE = ALL[0]
GOOD = json.dumps({"cells": [{"cell_type": "code", "source": "x = 1"}]}).encode()
METADATA = """\
---
submission_51:
  :submitters:
  - :name: Ada Lovelace
    :sid: '123'
    :email: ada@example.org
  - :name: Alan Turing
    :sid:
    :email: alan@example.org
  :created_at: 2026-09-29 22:33:18.000000000 Z
  :results:
    :tests:
    - :name: not a student
submission_52:
  :submitters:
  - :name: "Grace Hopper"
    :sid: '7'
"""


def put(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def zipped(**members):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_DOT_", "."), content)
    return raw.getvalue()


def test_a_notebook_by_another_name_is_found(tmp_path):
    put(tmp_path, ada__WORK_DOT_IPYNB=GOOD, alan_DOT_ipynb_DOT_txt=GOOD, emmy__a_DOT_py=b"x = 1")
    put(tmp_path, grace__a_DOT_zip=GOOD, grace__b_DOT_pdf=b"", notes_DOT_pdf=b"")
    found, nobodys = handins.find(tmp_path)
    assert [(one.student, len(one.files)) for one in found] == [
        *(("ada", 1), ("alan", 1), ("emmy", 1), ("grace", 1))
    ]
    assert found[3].others == ("grace/b.pdf",) and nobodys == ["notes.pdf"]


def test_of_two_files_equal_ones_are_one_and_others_are_named(tmp_path):
    put(tmp_path, ada__a_DOT_ipynb=GOOD, ada__b_DOT_ipynb=GOOD)
    put(tmp_path, alan__a_DOT_ipynb=GOOD, alan__b_DOT_ipynb=GOOD + b" ")
    ada, alan = batch.tasks(EXERCISE, handins.find(tmp_path)[0], "a", Limits())
    assert ada.raw == GOOD
    assert alan.raw is None and "2 notebooks" in alan.problem and "b.ipynb" in alan.problem


def test_a_name_that_is_no_utf8_ends_no_report(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    os.makedirs(os.fsencode(tmp_path / "in") + b"/Jos\xe9")
    os.makedirs(os.fsencode(tmp_path / "in") + b"/Jos\xe8")
    monkeypatch.setattr(backend(), "why_not", lambda: None)
    records = batch.grade(EXERCISE, tmp_path / "in", tmp_path / "out", quiet=True)
    assert len({record["student"] for record in records}) == 2
    assert len(list((tmp_path / "out" / "feedback").iterdir())) == 4


def test_gradescopes_metadata_gives_names(tmp_path):
    put(tmp_path, submission_51__a_DOT_ipynb=GOOD, submission_52__a_DOT_ipynb=GOOD)
    (tmp_path / handins.GRADESCOPE).write_text(METADATA)
    found, nobodys = handins.find(tmp_path)
    assert [(one.name, one.id, one.source) for one in found] == [
        ("Ada Lovelace", "123", "gradescope"),
        ("Alan Turing", "alan@example.org", "gradescope"),
        ("Grace Hopper", "7", "gradescope"),
    ]
    assert all(len(one.files) == 1 for one in found) and not nobodys


def owners(folder, *names):
    """Whose each file is, of files that lie side by side."""
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(GOOD)
    found, nobodys = handins.find(folder)
    assert not nobodys and all(len(one.files) == 1 for one in found)
    return {(one.student, one.id, one.late, one.source): one.files[0].name for one in found}


INSIDE = [
    "x.ipynb",
    "Nora_7_assignsubmission_file_x.ipynb",
    "nora_7_8_x.ipynb",
    "1_2_3_LATE_4_5.py",
]


@pytest.mark.parametrize("own", [*INSIDE, "_LATE_7_8_x.ipynb", "anon_abcde_8_x.ipynb"])
def test_whose_a_file_is_the_student_does_not_say(tmp_path, own):
    moodle = f"Eve Evil_55_assignsubmission_file_{own}"
    assert owners(tmp_path / "m", moodle) == {("Eve Evil_55", "55", False, "moodle"): moodle}
    canvas, late = f"evileve_55_901_{own}", f"badbob_LATE_56_902_{own}"
    assert owners(tmp_path / "c", canvas, late) == {
        ("evileve_55", "55", False, "canvas"): canvas,
        ("badbob_56", "56", True, "canvas"): late,
    }


def test_names_as_canvas_writes_them(tmp_path):
    """Names with `_`, groups, and anonymous ones, where LATE comes first or second."""
    late = "LATE_anon_x7kq2_906_a.ipynb"
    assert owners(
        tmp_path / "c",
        *("o_brienpat_57_903_01_cues.ipynb", "group1_81_904_a.ipynb", "team_a_LATE_82_905_a.ipynb"),
        *(late, "anon_LATE_b3cd4_907_2_3_a.ipynb", "anon_55aaa_908_a.ipynb", "_83_909_a.ipynb"),
    ).keys() == {
        ("o_brienpat_57", "57", False, "canvas"),
        ("group1_81", "81", False, "canvas"),
        ("team_a_82", "82", True, "canvas"),
        ("anon_x7kq2", "", True, "canvas"),
        ("anon_b3cd4", "", True, "canvas"),
        ("anon_55aaa", "", False, "canvas"),
        ("_83", "83", False, "canvas"),
    }
    two = tmp_path / "two"
    put(two, a_55_901_01_cues_DOT_ipynb=GOOD, a_55_902_02_cues_DOT_ipynb=GOOD)
    [one] = handins.find(two)[0]
    assert (one.student, len(one.files)) == ("a_55", 2)


def test_a_name_of_several_lines_in_gradescopes_file_is_no_other_student(tmp_path):
    put(tmp_path, submission_1__a_DOT_ipynb=GOOD)
    (tmp_path / handins.GRADESCOPE).write_text(
        "submission_1:\n  :submitters:\n  - :name: |-\n      Eve\n      :sid: '7'\n    :sid: '8'\n"
    )
    assert [one.id for one in handins.find(tmp_path)[0]] == ["8"]


def deep(folder, levels):
    """Folders in folders, deeper than a path can be long."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("aaaa", dir_fd=here)
        below = os.open("aaaa", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


@pytest.fixture
def folder(tmp_path):
    """A folder that may become too deep for Python to remove it, and so for pytest."""
    yield tmp_path / "in"
    subprocess.run(["rm", "-r", tmp_path / "in"], check=True)


def test_a_folder_without_end_is_one_hand_in_that_cannot_be_read(tmp_path, folder, monkeypatch):
    put(folder, ada__a_DOT_ipynb=GOOD, deep__a_DOT_ipynb=GOOD, wide__a_DOT_ipynb=GOOD)
    deep(folder / "deep", 1500)
    put(folder / "wide", **{f"x{i}": b"" for i in range(60)})
    monkeypatch.setattr(handins, "MAX_FILES", 50)
    found = {one.student: one for one in handins.find(folder)[0]}
    assert len(found["ada"].files) == 1 and not found["ada"].problem
    for who, why in (("deep", "more than 30 deep"), ("wide", "more than 50 files")):
        [task] = batch.tasks(EXERCISE, [found[who]], "a", Limits())
        record = worker.mark(task)
        assert record["status"] == UNREADABLE and why in record["problem"]
        assert why in handins.of_one(folder / who, who).problem
    missed = similar.write(EXERCISE, folder, tmp_path / "s.html")[1]
    assert [words.split(":")[0] for words in missed] == ["deep", "wide"]


def test_an_archive_is_read_and_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert unpack.cells("a.zip", zipped(**{"../../a.ipynb": GOOD, "b.csv": b""})) == [
        ("code", "x = 1")
    ]
    link = zipfile.ZipInfo("a.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    for content, why in [
        (raw.getvalue(), "is a link"),
        (zipped(a_DOT_ipynb=bytes(unpack.MAX_SIZE + 1)), "is larger than"),
        (zipped(a_DOT_ipynb=GOOD, b_DOT_ipynb=GOOD), "2 notebooks"),
        (zipped(a_DOT_zip=GOOD), "0 notebooks"),
        (zipped(**{f"{i}.ipynb": b"" for i in range(1001)}), "1001 files"),
        (zipped(a_DOT_ipynb=GOOD)[:-30], "cannot be read"),
    ]:
        with pytest.raises(Unreadable, match=why):
            unpack.cells("a.zip", content)
    assert not list(tmp_path.iterdir())


def test_a_script_has_cells_and_answers():
    text = b"# %% [markdown]\n# **Answer Q5:** yes\n\n# %%\nx = 1\n"
    cells = unpack.cells("a.py", text)
    assert cells == [("markdown", "**Answer Q5:** yes"), ("code", "x = 1")]


def test_the_yaml_of_a_script_is_not_read():
    """It can name itself again and again, and more of it then than any machine holds."""
    head = "# ---\n# jupyter:\n#   a: &a [x, x]\n#   b: {}\n# ---\n\n# %%\nx = 1\n"
    cells = unpack.cells("a.py", head.format("[[[: &nothing {{").encode())
    assert cells[-1] == ("code", "x = 1") and notebook.definitions(cells[0][1]) == ""
    for repeats in ("[*a, *a]", "*a"):
        with pytest.raises(Unreadable, match="repeats parts of itself"):
            unpack.cells("a.py", head.format(repeats).encode())


@pytest.mark.parametrize("name, most", [("a.ipynb", unpack.MAX_CELLS), ("a.py", unpack.MAX_CELLS)])
def test_a_notebook_has_so_many_cells_and_no_more(name, most):
    def raw(n):
        text = [{"cell_type": "code", "source": "x = 1"}] * n
        return json.dumps({"cells": text}) if name == "a.ipynb" else "# %%\nx = 1\n" * n

    assert len(unpack.cells(name, raw(most).encode())) == most
    with pytest.raises(Unreadable, match=f"it has {most + 1} cells, {most} are read"):
        unpack.cells(name, raw(most + 1).encode())


def test_heavy_outputs_are_dropped():
    picture = {"output_type": "display_data", "data": {"image/png": "A" * (12 << 20)}}
    content = json.loads(GOOD)
    content["cells"][0]["outputs"] = [picture]
    assert unpack.cells("a.ipynb", json.dumps(content).encode()) == [("code", "x = 1")]


PROMPT, OWN = ("markdown", "## Q5. In words\n\nWhy?"), "Since weights sum to one."


@pytest.mark.parametrize(
    "cells",
    [
        [("markdown", "**Answer Q5:**\n\n" + OWN)],
        [("markdown", "**Answer Q5:**\n\n*write here*"), ("markdown", OWN)],
        [("markdown", OWN)],
        [("raw", OWN)],
        [("markdown", "**Answer Q5:**\n\n*write here*"), ("code", OWN)],
        [("markdown", "### My words\n" + OWN)],
    ],
)
def test_an_answer_is_found_by_its_question(cells):
    given = notebook.given_parts([PROMPT, ("markdown", "**Answer Q5:**\n\n*write here*")])
    before, after = ("markdown", "## Q4. Else"), ("markdown", "## Q6. More")
    found = answers.answers([before, ("markdown", "no"), PROMPT, *cells, after], given, ("q5",))
    assert list(found) == ["q5"] and found["q5"].endswith(OWN)


def test_an_answer_in_the_question_s_own_cell_is_found():
    given = notebook.given_parts([PROMPT])
    cells = [("markdown", PROMPT[1] + "\n\n" + OWN)]
    assert answers.answers(cells, given, ("q5",)) == {"q5": OWN}


def test_written_csv_keeps_every_character(tmp_path):
    text = "José 😀 ∑ — “x”\n\nשלום\u200f\x1b[31m\x00"
    record = {"student": "ada", "status": GRADED, "problem": "", "flags": []}
    record |= {"cells": {}, "rows": [], "answers": {"q5": text}}
    about = {"exercise": "01_cues", "title": "x", "salt": "a", "points": {}, "by_hand": {"q5": 4}}
    reports.write(tmp_path, about, [record])
    raw = (tmp_path / "written.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert "José 😀 ∑ — “x”\n\nשלום\u200f?" in raw.decode() and b"\x1b" not in raw


def examined(cells, **changes):
    """The record of a notebook of these cells; its tests never run."""
    content = {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
    return grade_one.examine(task_of(EXERCISE, json.dumps(content), **changes))


@pytest.mark.parametrize(
    "cells, why",
    [
        ([], "no code"),
        ([("markdown", "hello")], "no code"),
        ([("code", "def other(): pass")], "not this assignment"),
        (notebook.parse(release.build(ALL[1], solution=True).encode()), "not this assignment"),
    ],
    ids=["empty", "text", "other names", "another exercise"],
)
def test_what_is_not_this_assignment_is_blank_and_no_zero(cells, why):
    record = examined(cells)
    assert record["status"] == UNREADABLE and why in record["problem"]
    assert reports.marks(record, EXERCISE.points())["auto"] == ""


COLAB = "from google.colab import drive\ndrive.mount('/content/drive')\nimport not_there, torch\n"


def test_a_line_that_works_on_colab_alone_costs_no_marks_and_is_flagged(box):
    book = Book(EXERCISE)
    first = next(cell for cell in book.cells if "import torch" in "".join(cell["source"]))
    first["source"] = COLAB + "".join(first["source"])
    book.cell("saliency")["source"] = "import not_there\n" + "".join(
        book.cell("saliency")["source"]
    )
    record = examined([(cell["cell_type"], "".join(cell["source"])) for cell in book.cells])
    assert reports.marks(record, EXERCISE.points())["auto"] == 28, record
    assert record["status"] == LOOK
    assert any("failed (ModuleNotFoundError)" in flag for flag in record["flags"])


def test_nothing_answered_is_flagged(box):
    record = examined(notebook.parse(Book(EXERCISE, solution=False).text().encode()))
    assert record["status"] == LOOK and {
        "no question is answered in code",
        "q5: no written answer",
    } <= set(record["flags"])
