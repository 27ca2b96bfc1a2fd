"""The page on the class: a typical mistake is recognised, and each number is that of the class."""

import re
from html.parser import HTMLParser

import pytest
from exports import EXERCISE, MOST, mark_by_hand, record, write_results
from grading_helpers import ALL, code_of, rows_of

from coursegrade import __main__, class_page, mutants, release, runner
from coursegrade.mutants import edited
from coursegrade.task import FAULT

CODE = code_of(release.build(EXERCISE, solution=True))
LISTED = {name: one[1:] for name, one in EXERCISE.examples()["mutants"].items()}
SOME = sorted(LISTED)[::3]


@pytest.fixture(scope="module")
def table():
    return mutants.failing(EXERCISE, "a")


def handed_in(code, salt="b"):
    return [row.record() for row in rows_of(EXERCISE, code, salt)]


@pytest.mark.parametrize("name", SOME)
def test_a_mutant_resembles_itself(table, name):
    """Also with the numbers of another salt."""
    found = mutants.resemblances(handed_in(edited(CODE, LISTED[name])), table)
    assert (found[0].names, found[0].same) == ((name,), True)


def test_two_mistakes_in_two_questions_are_both_found(table):
    code = edited(edited(CODE, LISTED["no maximum subtracted"]), LISTED["mean of all"])
    assert [(one.question, one.names) for one in mutants.resemblances(handed_in(code), table)] == [
        ("q1", ("no maximum subtracted",)),
        ("q2", ("mean of all",)),
    ]


def test_what_is_right_resembles_nothing(table):
    assert mutants.resemblances(handed_in(CODE), table) == []


def test_the_nearest_is_called_near():
    rows = [{"test": t, "question": "q1", "ok": t == "d", "message": ""} for t in "abcd"]
    table = {"far": ["a"], "near": ["a", "b"], "other": ["d"], "next": ["x"]}
    assert mutants.resemblances(rows, table) == [mutants.Resembles("q1", ("near",), False)]
    assert mutants.resemblances(rows, {"other": ["d"]}) == []


def test_what_passed_and_does_not_count_is_not_failed():
    rows = [{"test": t, "question": "q1", "ok": False, "message": m} for t, m in ("ax", "by")]
    rows.append({"test": "c", "question": "q1", "ok": False, "message": runner.WAITS})
    assert mutants.resemblances(rows, {"two": ["a", "b"], "three": ["a", "b", "c"]}) == [
        mutants.Resembles("q1", ("two",), True)
    ]


class Cells(HTMLParser):
    """The page's tables, by heading: rows of texts."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.tags, self._into = {}, set(), None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "h2":
            self._into = []
        elif tag == "tr":
            self.tables[self._title].append([])
        elif tag in ("td", "th"):
            self.tables[self._title][-1].append("")

    def handle_data(self, data):
        if self._into is not None:
            self._title, self._into = data, None
            self.tables[data] = []
        elif getattr(self, "_title", None) and self.tables[self._title]:
            self.tables[self._title][-1][-1] += data.strip()


def test_the_page_counts_what_the_class_did(tmp_path, table):
    hostile = "<img src=http://e onerror=x>"
    wrong = edited(CODE, LISTED["mean of all"])
    records = [record("right"), record(hostile), record("lost", status=FAULT)]
    records[0]["rows"], records[1]["rows"] = handed_in(CODE), handed_in(wrong)
    records.append(record("empty") | {"rows": handed_in(code_of(release.build(EXERCISE)))})
    records[1]["flags"] = ["q1: <b>look</b>"]
    write_results(tmp_path, *records)
    path = class_page.write(EXERCISE, tmp_path)
    page = path.read_text(encoding="utf-8")
    cells = Cells(page)
    assert not cells.tags & {"img", "b", "script", "link", "a"}
    assert "3 of 4 hand-ins have marks" in page
    lost = sum(row["points"] for row in records[1]["rows"] if not row["ok"])
    assert f"0, {(MOST - lost) / 2:g}, {MOST - lost}, {(MOST + MOST - lost) / 2:g}, {MOST}" in page
    [others] = [row for row in cells.tables["Tests"] if row[1].startswith("test_q2_others")]
    assert others[3] == "2 of 3" and others[4] == f"who{hostile}, empty (no answer)"
    assert len(cells.tables["Tests"][1:]) == len(records[0]["rows"])
    assert cells.tables["What they resemble"][1:] == [["Q2", "mean of all", hostile, ""]]
    q2 = next(row for row in cells.tables["Questions"] if row[0] == "Q2")
    most = EXERCISE.points()["q2"]
    assert q2 == ["Q2", str(most), f"{(2 * most - lost) / 3:.1f}", "33%", "33%"]
    assert [row[0] for row in cells.tables["Without a total"][1:]] == sorted(
        ["right", hostile, "lost", "empty"]
    )
    assert cells.tables["To be looked at"][1] == [hostile, "q1: <b>look</b>"]


def test_mutants_run_once(tmp_path, monkeypatch, capsys):
    write_results(tmp_path, record("ada"))
    monkeypatch.setattr(mutants, "failing", lambda exercise, salt: {"m": ["t"]})
    words = ["statistics", str(EXERCISE.folder), str(tmp_path)]
    assert __main__.main(words) == 0 and "class.html" in capsys.readouterr().out
    mark_by_hand(tmp_path, ada="3")
    monkeypatch.setattr(mutants, "failing", None)
    assert __main__.main(words) == 0
    page = (tmp_path / "class.html").read_text()
    assert re.search(rf"1 hand-ins, of {MOST + 4} points: {MOST + 3},", page)
    assert mutants.failure_table(EXERCISE, "a", tmp_path) == {"m": ["t"]}
    with pytest.raises(TypeError):  # another salt: they run again
        mutants.failure_table(EXERCISE, "b", tmp_path)
    assert __main__.main(["statistics", str(ALL[1].folder), str(tmp_path)]) == 2
    assert "RESULTS holds 01_cues" in capsys.readouterr().err


def test_a_class_without_marks_has_a_page(tmp_path):
    write_results(tmp_path, record("ada", status=FAULT))
    content, found = class_page.totals.results(tmp_path), class_page.totals.totals(tmp_path)
    assert "Nobody has marks yet" in class_page.page(content, found, {})
