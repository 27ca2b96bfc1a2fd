"""An instructor's own points for a coded question count everywhere, and an edit elsewhere is said."""

import json
from decimal import Decimal

import pytest
from exports import EXERCISE, MOST, change, mark_by_hand, record, table, write_results

from coursegrade import __main__, class_page, gradebook, gradescope, overrides, returns
from coursegrade.task import UNREADABLE

REASON = "Right, *but* see $W_q$."


def class_of(out, *rows, delimiter=","):
    """Two hand-ins, and overrides.csv as a spreadsheet may save it."""
    out.mkdir(exist_ok=True)
    lines = [delimiter.join(overrides.COLUMNS), *(delimiter.join(row) for row in rows)]
    (out / "overrides.csv").write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return write_results(out, record("ada", 5), record("alan", 6))


def test_an_override_counts_wherever_points_are_shown(tmp_path):
    out = tmp_path / "marks"
    assert class_of(out, ("alan", " Q1", "6,5", REASON), delimiter=";") == []
    before = (out / "overrides.csv").read_bytes()
    ada, alan = table(out / "gradebook.csv")
    assert (ada["q1"], ada["q1_override"], ada["auto"]) == ("5", "", "5")
    assert (alan["q1"], alan["q1_override"], alan["auto"]) == ("6", "6.5", "6.5")
    assert f"q1: 6.5 by overrides.csv: {REASON}" in alan["notes"]
    mark_by_hand(out, ada="1", alan="2.5")
    assert write_results(out, record("ada", 5), record("alan", 6)) == []  # kept by grading again
    files, notes = gradescope.write(out, tmp_path / "gs")
    assert (out / "overrides.csv").read_bytes() == before and notes == []
    assert [row["points"] for row in table(out / "totals.csv")] == ["6", "9"]
    got = json.loads(files[1].read_text())
    assert got["score"] == 9 == sum(test.get("score", 0) for test in got["tests"])
    assert REASON in {test["output"] for test in got["tests"]}
    most = EXERCISE.points()["q1"]
    text = (out / "feedback" / "alan.md").read_text()
    assert f"6.5 of {MOST} points, 6 by the tests" in text and f"> {REASON}" in text
    assert f"## Q1: 6.5 of {most}, changed" in text and f"## Q1: 6 of {most} by the tests" in text
    page = (out / "feedback" / "alan.html").read_text()
    assert "Right, <em>but</em> see $W_q$." in page
    assert "changed" not in (out / "feedback" / "ada.md").read_text()
    content, found = gradebook.results(out), gradebook.totals(out)
    page = class_page.page(content, found, {})
    assert "Changed by you" in page and REASON in page and f"of {MOST} points: 5, " in page
    [comment] = [
        total.comment
        for total in returns.with_comments(found, returns.stories(out, content, found, False))
        if total.comment.count("changed by your instructor")
    ]
    assert "<em>but</em>" in comment


def test_an_override_gives_marks_where_the_tests_could_not(tmp_path):
    out = tmp_path / "marks"
    write_results(out, record("ada", status=UNREADABLE))
    some = [f"ada,{question},1,read on paper" for question in EXERCISE.points()]
    (out / "overrides.csv").write_text("\n".join(["student,question,points,reason", *some[1:]]))
    assert gradebook.totals(out, True)[0].points is None  # what is not known is not zero
    (out / "overrides.csv").write_text("\n".join(["student,question,points,reason", *some]))
    assert gradebook.totals(out, True)[0].points == len(some)
    write_results(out, record("ada", status=UNREADABLE))
    assert "read on paper" in (out / "feedback" / "ada.md").read_text()
    mark_by_hand(out, ada="3")
    assert write_results(out, record("ada", status=UNREADABLE)) == []
    assert gradebook.totals(out)[0].points == len(some) + 3


@pytest.mark.parametrize(
    "row, says",
    [
        (("bob", "q1", "3", ""), "line 2: bob, q1: nobody of this name"),
        (("ada", "q9", "3", ""), "the coded questions are q1, q2"),
        (("ada", "q5", "3", ""), "belongs in written.csv"),
        (("ada", "q1", "", "why"), "points '' is not a number"),
        (("ada", "q1", "many", ""), "points 'many' is not a number"),
        (("ada", "q1", "99", ""), "is not between 0 and"),
        (("ada", "q1", "-1", ""), "is not between 0 and"),
    ],
)
def test_a_row_that_is_wrong_is_said_and_counts_nothing(tmp_path, row, says, capsys):
    """By make grade, which goes on; make gradebook refuses."""
    [note] = class_of(tmp_path, row)
    assert says in note and table(tmp_path / "gradebook.csv")[0]["auto"] == "5"
    words = ["gradebook", str(tmp_path), "--gradescope", str(tmp_path / "gs"), "--only-auto"]
    assert __main__.main(words) == 2
    assert says in capsys.readouterr().err and not (tmp_path / "gs").exists()


def test_an_override_that_stands_twice_and_a_table_that_is_none_are_said(tmp_path):
    [note] = class_of(tmp_path, ("ada", "q1", "6", ""), ("ada", "Q1", "4", ""))
    assert "line 3: ada, Q1: stands twice" in note
    (tmp_path / "overrides.csv").write_text("who,what\nada,q1\n")
    [note] = write_results(tmp_path, record("ada"))
    assert "overrides.csv is not a table with the columns student, question, points" in note


def test_an_override_that_takes_points_is_said(tmp_path):
    """The tests or the hand-in may have become better since it was written."""
    assert class_of(tmp_path, ("ada", "q1", "4.5", ""), ("alan", "q1", "6", "")) == [
        "overrides.csv gives ada less than the tests in q1: 4.5, not 5"
    ]
    assert [total.points for total in gradebook.totals(tmp_path, True)] == [Decimal("4.5"), 6]


def test_the_table_is_begun_once_and_never_written_again(tmp_path):
    write_results(tmp_path, record("ada"))
    assert overrides._rows(tmp_path / "overrides.csv") == []
    (tmp_path / "overrides.csv").write_text("reason,points,student,question\nx,2,ada,q1\n")
    assert len(write_results(tmp_path, record("ada"))) == 1
    assert gradebook.totals(tmp_path, True)[0].points == 2
    assert (tmp_path / "overrides.csv").read_text().startswith("reason,")


def test_an_edit_of_the_gradebook_is_said_and_kept(tmp_path, capsys):
    write_results(tmp_path, record("ada", 5), record("alan", 6))
    mark_by_hand(tmp_path, ada="2.5", alan="1")
    write_results(tmp_path, record("ada", 5), record("alan", 6))

    def edit(row):
        row["q1"] = row["q1"].replace("6", "7")

    change(tmp_path / "gradebook.csv", edit, "cp1252", ";")
    edited = (tmp_path / "gradebook.csv").read_bytes()
    words = ["gradebook", str(tmp_path), "--gradescope", str(tmp_path / "gs")]
    assert __main__.main(words) == 0
    said = capsys.readouterr().out
    assert "edited, which counts nothing (alan, q1: 6 became 7)" in said and "overrides.csv" in said
    assert "ada" not in said.splitlines()[0]
    assert (tmp_path / "gradebook-old.csv").read_bytes() == edited
    assert [row["q1"] for row in table(tmp_path / "gradebook.csv")] == ["5", "6"]
    change(tmp_path / "gradebook.csv", lambda row: row.update(mine="x"), "utf-16", ";")
    [note] = write_results(tmp_path, record("ada", 5), record("alan", 6))
    assert "a new column 'mine'" in note and "gradebook-old-2.csv" in note


@pytest.mark.parametrize("encoding, delimiter", [("utf-16", "\t"), ("cp1252", ";"), ("utf-8-sig", ",")])  # fmt: skip
def test_a_spreadsheets_own_form_is_no_edit(tmp_path, encoding, delimiter):
    some = [record("José", 5), record("alan", 6)]
    write_results(tmp_path, *some)
    mark_by_hand(tmp_path, alan="2.5")
    assert write_results(tmp_path, *some) == []
    change(
        tmp_path / "gradebook.csv",
        lambda row: row.update(q5_by_hand=row["q5_by_hand"].replace(".", ",")),
        encoding,
        delimiter,
    )
    assert write_results(tmp_path, *some) == [] and not list(tmp_path.glob("*old*"))


def test_rows_that_come_and_go_are_said(tmp_path):
    write_results(tmp_path, *(record(f"s{i}", 5) for i in range(20)))
    change(tmp_path / "gradebook.csv", lambda row: row.update(student="x" + row["student"]))
    [note] = write_results(tmp_path, record("ada"))
    assert "s0: a row is gone" in note and "and 30 more" in note and len(note) < 500
    assert gradebook.totals(tmp_path, True)[0].points == Decimal(MOST)
