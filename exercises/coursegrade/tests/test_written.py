"""Written answers: items of a rubric that add up, and several markers whose tables become one."""

from itertools import chain

import pytest
from exports import EXERCISE, MOST, change, record, table, write_results

from coursegrade import __main__, gradebook, gradescope, markers, release, returns, written

RUBRICS = {"q5": [["a reason", "1"], ["$W_q$, *both*", "2"], ["a limit", "1"]]}
ABOUT = {"by_hand": {"q5": 4, "q6": 3}, "rubrics": RUBRICS}


def results(out, *names, **answers):
    some = [
        record(name, answers={"q5": answers.get(name, f"Because {name}."), "q6": f"α {name}"})
        for name in names or ("ada", "alan")
    ]
    return write_results(out, *some, **ABOUT)


def put(path, student, question="q5", /, **cells):
    def edit(row):
        if (row["student"], row["question"]) == (student, question):
            row.update({name.replace("_", " "): text for name, text in cells.items()})

    change(path, edit)


def test_items_sum_to_the_mark_and_are_shown_one_by_one(tmp_path):
    out = tmp_path / "marks"
    assert results(out) == []
    [row, *_] = table(out / "written.csv")
    assert row["rubric"] == "1. a reason (1)\n2. $W_q$, *both* (2)\n3. a limit (1)"
    put(out / "written.csv", "ada", item_1="1", item_2="1,5", item_3="0")
    put(out / "written.csv", "ada", "q6", mark="2")
    put(out / "written.csv", "alan", mark="2")
    put(out / "written.csv", "alan", "q6", mark="1")
    change(out / "written.csv", lambda row: None, "utf-16", ";")
    assert results(out) == []  # grading again keeps them
    assert [row["item 2"] for row in table(out / "written.csv")] == ["1,5", "", "", ""]
    ada, alan = table(out / "gradebook.csv")
    assert (ada["q5_by_hand"], ada["q5_items"]) == ("2.5", "1 | 1.5 | 0")
    assert (alan["q5_by_hand"], alan["q5_items"], alan["q6_by_hand"]) == ("2", "", "1")
    assert [total.points for total in gradebook.totals(out)] == [MOST + 4.5, MOST + 3]
    text = (out / "feedback" / "ada.md").read_text()
    assert (
        "## Q5: 2.5 of 4\n\n- 1 of 1: a reason\n- 1.5 of 2: $W_q$, *both*\n- 0 of 1: a li" in text
    )
    page = (out / "feedback" / "ada.html").read_text()
    assert "<p>1.5 of 2: $W_q$, <em>both</em></p>" in page
    assert "a reason" not in (out / "feedback" / "alan.md").read_text()
    files, _ = gradescope.write(out, tmp_path / "gs")
    assert "1.5 of 2: $W_q$, *both*" in files[0].read_text()
    content, found = gradebook.results(out), gradebook.totals(out)
    comments = returns.with_comments(found, returns.stories(out, content, found, False))
    assert "<p>1 of 1: a reason</p>" in comments[0].comment


@pytest.mark.parametrize(
    "cells, says",
    [
        ({"item_1": "1", "mark": "3"}, "line 2: ada, q5: the items sum to 1, the mark is 3"),
        ({"item_1": "2"}, "item 1: 2 is not between 0 and 1"),
        ({"item_2": "much"}, "item 2: 'much' is not a number"),
        ({"item_2": "-1"}, "item 2: -1 is not between"),
        ({"mark": "1. Mai"}, "the mark '1. Mai' is not a number"),
    ],
)
def test_what_contradicts_is_an_error_in_a_line(tmp_path, cells, says):
    results(tmp_path)
    put(tmp_path / "written.csv", "ada", **cells)
    with pytest.raises(ValueError, match=says):
        gradebook.totals(tmp_path)
    assert results(tmp_path) == []  # make grade keeps what was typed
    assert [table(tmp_path / "written.csv")[0][n.replace("_", " ")] for n in cells] == [
        *cells.values()
    ]
    assert "not marked yet" in (tmp_path / "feedback" / "ada.md").read_text()


def test_a_question_without_items_takes_none(tmp_path):
    results(tmp_path)
    put(tmp_path / "written.csv", "ada", "q6", item_1="1")
    with pytest.raises(ValueError, match="q6: it has 0 items, and item 1 is filled in"):
        gradebook.totals(tmp_path)


def test_items_may_stand_beside_their_sum_and_an_open_one_is_no_zero(tmp_path):
    results(tmp_path, "ada")
    put(tmp_path / "written.csv", "ada", "q6", mark="1")
    put(tmp_path / "written.csv", "ada", item_1="1", item_3="1")
    [total] = gradebook.totals(tmp_path)
    assert total.points is None and "q5 (not every item has a number)" in total.why_not
    put(tmp_path / "written.csv", "ada", mark="2.0")
    assert gradebook.totals(tmp_path)[0].points == MOST + 3


def test_another_rubric_is_said(tmp_path):
    results(tmp_path, "ada")
    put(tmp_path / "written.csv", "ada", item_1="1")
    other = ABOUT | {"rubrics": {"q5": [["another", "4"]]}}
    some = record("ada", answers={"q5": "Because ada.", "q6": "α ada"})
    assert write_results(tmp_path, some, **other) == [
        "the rubric of q5 changed after answers were marked"
    ]
    assert table(tmp_path / "written.csv")[0]["item 1"] == "1"


def test_an_answer_that_a_spreadsheet_spoilt_is_the_same(tmp_path):
    """Excel writes ? for letters that its encoding lacks."""
    results(tmp_path, ada="For α → β: 😀 é?")
    put(tmp_path / "written.csv", "ada", mark="3")
    change(tmp_path / "written.csv", lambda row: None, "cp1252", ";")
    assert b"?" in (tmp_path / "written.csv").read_bytes()
    assert results(tmp_path, ada="For α → β: 😀 é?") == []
    assert table(tmp_path / "written.csv")[0]["mark"] == "3"
    assert not written.alike("α", "a") and not written.alike("", "?")


def test_rubrics_come_from_the_source(tmp_path):
    source = EXERCISE.source
    try:
        EXERCISE.source = source.replace("no input for the query (1)", "no\n# input (1)")
        assert EXERCISE.rubrics()["q5"][2] == ["no input", "1"]
        EXERCISE.source = source.replace("no input for the query (1)", "no input (2, or 1)")
        with pytest.raises(ValueError, match="rubric of q5 give 5 points, the table of"):
            release.write(EXERCISE, tmp_path)
    finally:
        EXERCISE.source = source


NAMES = tuple(f"s{i:02}" for i in range(12))


def keys(path):
    return [(row["student"], row["question"]) for row in table(path)]


@pytest.mark.parametrize("by, people", [("student", "ann,ben,cy"), ("question", "ann,ben")])
def test_answers_are_dealt_out_and_each_has_one_marker(tmp_path, by, people):
    results(tmp_path, *NAMES)
    names = people.split(",")
    markers.split(tmp_path, names, by)
    tables = [keys(tmp_path / f"written-{name}.csv") for name in names]
    assert sorted(chain(*tables)) == sorted(keys(tmp_path / "written.csv"))
    assert {len(some) for some in tables} == {24 // len(names)}
    place = ["student", "question"].index(by)
    owners = [{key[place] for key in some} for some in tables]
    assert sum(map(len, owners)) == len(set.union(*owners))


def test_a_common_sample_stands_first_and_is_compared(tmp_path, capsys):
    results(tmp_path, *NAMES)
    words = ["split", str(tmp_path), "--markers", "ann, ben", "--common", "4"]
    assert (
        __main__.main(words) == 0 and "14 answers, the first 4 are for" in capsys.readouterr().out
    )
    ann, ben = (tmp_path / f"written-{name}.csv" for name in ("ann", "ben"))
    common = keys(ann)[:4]
    assert common == keys(ben)[:4] and len({q for _, q in common}) == 2
    assert not set(keys(ann)[4:]) & set(keys(ben)[4:])
    for path, mark in ((ann, "2"), (ben, "2,0")):
        change(path, lambda row, mark=mark: row.update(mark=mark))
    (student, question), *_ = common
    put(ben, student, question, mark="1")
    before = (tmp_path / "written.csv").read_bytes()
    assert __main__.main(["merge", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"{student}, {question}: 2 in written-ann.csv, 1 in written-ben.csv" in said
    assert "4 common answers, 4 marked by all, 3 of them alike; on average 2.00 in w" in said
    assert "1.75 in written-ben.csv" in said and (tmp_path / "written.csv").read_bytes() == before
    put(ben, student, question, mark="")
    assert __main__.main(["merge", str(tmp_path)]) == 0
    assert "all answers are marked" in capsys.readouterr().out
    assert {row["mark"] for row in table(tmp_path / "written.csv")} <= {"2", "2,0"}


def test_merging_keeps_comments_and_says_what_is_left(tmp_path):
    results(tmp_path, ada="=A1; for α")
    markers.split(tmp_path, ["ann", "ben"])
    ann, ben = (tmp_path / f"written-{name}.csv" for name in ("ann", "ben"))
    assert keys(ann) == [("ada", "q5"), ("ada", "q6")]
    put(ann, "ada", item_1="1", item_2="1", item_3="1", comment="-1: *why*?")
    put(ben, "alan", item_1="1")
    put(tmp_path / "written.csv", "alan", comment="Mine.")
    put(ben, "alan", comment="Ben's.")
    change(ann, lambda row: None, "cp1252", ";")
    for _ in range(2):  # a second time changes nothing
        assert markers.merge(tmp_path) == [
            "unmarked in written-ann.csv: ada q6",
            "unmarked in written-ben.csv: alan q5, alan q6",
        ]
        ada, _, alan, _ = table(tmp_path / "written.csv")
        assert ada["comment"] == "'-1: *why*?" and ada["answer"] == "'=A1; for α"
        assert alan["comment"] == "Mine.\n\nBen's." and alan["item 1"] == "1"
    assert results(tmp_path, "ada", "alan", "emmy", ada="=A1; for α") == []
    assert "in no marker's table: emmy q5, emmy q6" in markers.merge(tmp_path)[-1]
    assert "> -1: *why*?" in (tmp_path / "feedback" / "ada.md").read_text()


def test_a_mark_of_another_answer_is_left_out(tmp_path):
    results(tmp_path)
    markers.split(tmp_path, ["ann", "ben"])
    put(tmp_path / "written-ann.csv", "ada", mark="4")
    results(tmp_path, ada="No: another.")
    assert markers.merge(tmp_path)[0].startswith("written-ann.csv: line 2: left out")
    assert table(tmp_path / "written.csv")[0]["mark"] == ""


@pytest.mark.parametrize(
    "one, other, says",
    [
        ({"item_1": "1"}, {"item_1": "0"}, "ada, q5: item 1: 1 in written-ann.csv, 0 in written-b"),
        ({"item_1": "1", "item_2": "1"}, {"mark": "1"}, "the items sum to 2, the mark is 1"),
        ({"mark": "9"}, {}, "written-ann.csv: line 2: ada, q5: the mark 9 is not between"),
        ({"item_1": "x"}, {}, "written-ann.csv: line 2: ada, q5: item 1: 'x' is not a number"),
        ({"student": "bob"}, {}, "written-ann.csv: line 2: bob has no q5"),
    ],
)
def test_tables_that_contradict_are_refused(tmp_path, one, other, says):
    results(tmp_path, "ada")
    markers.split(tmp_path, ["ann", "ben"], common=2)
    put(tmp_path / "written-ann.csv", "ada", **one)
    put(tmp_path / "written-ben.csv", "ada", **other)
    before = (tmp_path / "written.csv").read_bytes()
    with pytest.raises(ValueError, match=says):
        markers.merge(tmp_path)
    assert (tmp_path / "written.csv").read_bytes() == before


@pytest.mark.parametrize(
    "people, how, says",
    [
        (["ann"], {}, "two names or more"),
        (["ann", "Ann"], {}, "two names or more"),
        (["ann", "../ben"], {}, "can't be a marker's name"),
        (["ann", "old"], {}, "can't be a marker's name"),
        (["ann", "ben", "cy"], {"by": "question"}, "3 markers, and 2 questions"),
        (["ann", "ben"], {"common": 5}, "COMMON must be from 0 to 4"),
        (["ann", "ben"], {"common": -1}, "COMMON must be from 0 to 4"),
    ],
)
def test_a_split_that_cannot_be_is_refused(tmp_path, people, how, says):
    results(tmp_path)
    with pytest.raises(ValueError, match=says):
        markers.split(tmp_path, people, **how)
    assert not list(tmp_path.glob("written-*"))
    with pytest.raises(ValueError, match="make split writes them"):
        markers.merge(tmp_path)


def test_nothing_is_overwritten_and_what_has_a_mark_is_not_dealt_out(tmp_path):
    results(tmp_path)
    put(tmp_path / "written.csv", "ada", mark="0")
    markers.split(tmp_path, ["ann", "ben"])
    assert ("ada", "q5") not in keys(tmp_path / "written-ann.csv")
    with pytest.raises(ValueError, match="is there already and is not overwritten"):
        markers.split(tmp_path, ["cy", "ben"])
    assert not (tmp_path / "written-cy.csv").exists()
    results(tmp_path, "ada", "alan", "emmy", "grace")  # who came later
    markers.split(tmp_path, ["ann2", "ben2"])
    assert keys(tmp_path / "written-ann2.csv") == [("emmy", "q5"), ("emmy", "q6")]


def test_columns_of_ones_own_may_have_any_name(tmp_path):
    results(tmp_path)
    change(tmp_path / "written.csv", lambda row: row.update(line="x", items="1", more=""))
    assert [row.more for row in written.read(tmp_path / "written.csv")] == [True] * 4
    [note] = results(tmp_path)
    assert "written-old.csv" in note and "line" not in table(tmp_path / "written.csv")[0]
