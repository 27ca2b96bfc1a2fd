"""What counts: whole runs, values first, and errors that a person looks at."""

import json

import pytest
from grading_helpers import ALL, NAMES, Book, built, task_of

from coursegrade import exercise as files
from coursegrade import grade_one, notebook, release, runner
from coursegrade.student import Local
from coursegrade.task import GRADED, LOOK

TESTS = files.Tests(
    "",
    """
from coursegrade.testing import points, same

@points(1, "q1", value=True)
def test_q1_double(student, rng):
    "Doubled."
    assert same(student.double(2), 4)

@points(2, "q1")
def test_q1_sign(student, rng):
    "Also below zero."
    assert same(student.double(-2), -4)

@points(3, "q2", value=True)
def test_q2_two(student, rng):
    "Two."
    assert same(student.half(4), 2)

@points(4, "q2", value=True)
def test_q2_three(student, rng):
    "Three."
    assert same(student.half(6), 3)

@points(5, "q2", value=True)
def test_q2_third(student, rng):
    "A third."
    assert same(student.third(6), 2)

@points(6, "q2")
def test_q2_whole(student, rng):
    "Nothing is nothing."
    assert same(student.third(0), 0)
""",
)
OURS = (
    ("q1", ("double",), "def double(x): return 2 * x"),
    ("q2", ("half", "third"), "def half(x): return x / 2\ndef third(x): return x / 3"),
)
RIGHT = "def double(x): return 2 * x\ndef half(x): return x / 2\ndef third(x): return x / 3\n"


def rows_of(code):
    names = {}
    exec(code, names)
    return {row.test: row for row in runner.count(runner.run(Local(names), TESTS, "a", OURS))}


def points(rows, question):
    return sum(row.points for row in rows.values() if row.ok and row.question == question)


def test_a_question_counts_as_one_whole_run():
    """Who answers otherwise once ours stands in for an earlier question has two runs, no union."""
    guess = "def double(x): return 0\n_guess = double\n"
    first = "x / 2 if (x == 4) == (double is _guess) else 0"  # one test with theirs, one with ours
    rows = rows_of(RIGHT + guess + f"def half(x): return {first}\n")
    assert points(rows, "q1") == 0
    assert points(rows, "q2") == 4 + 5 + 6 and not rows["test_q2_two"].ok
    assert {row.ours for row in rows.values() if row.question == "q2"} == {("q1",)}
    rows = rows_of(RIGHT + guess)  # right with both: nothing stands in
    assert points(rows, "q2") == 18 and not any(row.ours for row in rows.values())


def test_a_function_without_a_right_value_gets_nothing():
    rows = rows_of(RIGHT + "def third(x): return 0 * x")
    assert rows["test_q2_two"].ok and not rows["test_q2_third"].ok
    assert rows["test_q2_whole"].message == runner.WAITS and points(rows, "q2") == 7
    rows = rows_of(RIGHT + "def double(x): return abs(2 * x)")
    assert points(rows, "q1") == 1


@pytest.mark.parametrize("exercise", ALL, ids=NAMES)
def test_another_assignment_is_blank(exercise):
    """Also where the two share a helper, or a function's name."""
    given = release.given_parts(exercise)
    for other in ALL:
        cells = notebook.parse(built(other, solution=True).encode())
        names = notebook.names_in(notebook.code_cells(cells))
        if other is exercise:
            grade_one._is_this_assignment(cells, names, given)
        else:
            with pytest.raises(grade_one.Unreadable, match="not this assignment"):
                grade_one._is_this_assignment(cells, names, given)


def test_one_answer_of_many_is_still_this_assignment():
    exercise = ALL[8]
    book = Book(exercise, solution=False)
    for cell in book.cells:
        if "NotImplementedError" in "".join(cell["source"]):
            cell["source"] = ""
    book.cells.append({"cell_type": "code", "source": "def score(s, h, how, W=None, w=None): 1"})
    cells = notebook.parse(book.text().encode())
    names = notebook.names_in(notebook.code_cells(cells))
    grade_one._is_this_assignment(cells, names, release.given_parts(exercise))


@pytest.mark.parametrize(
    "body, said",
    [
        ("import elsewhere", "q2: every test ends in an error, such as ModuleNotFoundError"),
        ("return torch.zeros(1)", ""),  # wrong, and no error
        ("raise NotImplementedError", ""),  # not answered is not an error
    ],
)
def test_where_every_test_ends_in_an_error_a_person_looks(box, body, said):
    exercise = ALL[0]
    book = Book(exercise).put("saliency", f"def saliency(keys):\n    {body}\n")
    record = grade_one.examine(task_of(exercise, book.text()))
    found = [flag for flag in record["flags"] if "every test" in flag]
    assert [flag.startswith(said) for flag in found] == [True] * bool(said)
    assert record["status"] == (LOOK if said else GRADED)
    json.dumps(record)


def test_marks_with_ours_in_place_are_marked_so(box):
    exercise = ALL[2]
    wrong = "def masked_softmax(scores, lengths): return scores.softmax(2)"
    book = Book(exercise)
    book.cells.append({"cell_type": "code", "source": wrong})
    record = grade_one.examine(task_of(exercise, book.text()))
    assert "q3: marked with our q1" in record["flags"]
    assert record["status"] == GRADED
