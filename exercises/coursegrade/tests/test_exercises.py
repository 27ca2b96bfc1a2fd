"""Every exercise keeps its promises: to students, and to whoever trusts its marks."""

import contextlib
import functools
import io
import re
import sys

import nbformat
import pytest
import tomllib
from grading_helpers import (
    ALL,
    EXERCISES,
    NAMES,
    Lazy,
    built,
    code_of,
    failed,
    of_question,
    references,
    rows_of,
    total,
)
from nbclient import NotebookClient

from coursegrade import notebook, release, runner
from coursegrade.exercise import Exercise
from coursegrade.mutants import edited
from coursegrade.student import Student

SALTS = ("a", "b", "c")
each = pytest.mark.parametrize("exercise", ALL, ids=NAMES)


@each
@pytest.mark.parametrize("salt", SALTS)
def test_the_solution_gets_full_marks(exercise, salt):
    rows = rows_of(exercise, code_of(built(exercise, solution=True)), salt)
    assert failed(rows) == set()
    assert sum(row.points for row in rows) == sum(exercise.points().values())


def said_by_kernel(book):
    """What each cell prints in a kernel, its source before it."""
    NotebookClient(book, timeout=300, startup_timeout=300, kernel_name="python3").execute()
    for cell in book.cells:
        yield cell.source, "".join(output.text for output in cell.get("outputs", []))


def said_here(book):
    """The same without a kernel, which takes seconds to start."""
    names = {"__name__": "__main__"}
    for cell in book.cells:
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(compile(cell.source, "cell", "exec"), names)
            yield cell.source, said.getvalue()


@each
@pytest.mark.parametrize("solution", [True, False], ids=["solution", "released"])
def test_notebooks_run_clean(exercise, solution):
    """The solution says only ok; the released one fails every self-check, without a traceback."""
    book = nbformat.reads(built(exercise, solution=solution), as_version=4)
    cells = said_by_kernel(book) if exercise is ALL[-1] else said_here(book)
    parts = [text for source, text in cells if not source.startswith(notebook.EXPERIMENT)]
    said = [line for line in "".join(parts).splitlines() if not line.startswith("dry run ")]
    assert len(said) == sum(not row.hidden for row in rows_of(exercise, "", "a"))
    wanted = "ok  " if solution else "NOT YET"
    assert all(line.startswith(wanted) for line in said), said
    assert solution or all(line.endswith("not answered yet") for line in said)


@each
def test_a_students_names_change_nothing_of_ours(exercise):
    book = nbformat.reads(built(exercise, solution=True), as_version=4)
    [place] = [i for i, cell in enumerate(book.cells) if "tools: run me" in cell.source]
    own = nbformat.v4.new_code_cell(f"{' = '.join(release.APART)} = None")
    book.cells.insert(place + 1, own)
    said = [text for source, text in said_here(book) if source.startswith(notebook.SELF_CHECK)]
    assert said and "NOT YET" not in "".join(said)


@each
def test_the_released_notebook_fails_every_test_politely(exercise):
    rows = rows_of(exercise, code_of(built(exercise)), "a")
    assert not any(row.ok for row in rows)
    assert {row.message for row in rows} == {"not answered yet"}


@each
def test_released_is_self_contained_and_holds_no_solution(exercise):
    text = built(exercise)
    imports = set(re.findall(r"^\s*\"?(?:import|from) (\w+)", code_of(text), re.MULTILINE))
    assert imports <= {"torch", *sys.stdlib_module_names}
    assert "SOLUTION" not in text and "#|" not in text and "coursegrade" not in text
    assert 'STUDENT = \\"' in text and "Rubric" not in text and "test_hidden" not in text
    assert release.build(exercise) == text  # no chance in it


@each
def test_the_table_says_what_the_tests_say(exercise):
    table = re.findall(r"\| (Q\d) .*? \| (\d+)[^|]*\| (\d+) \| ★", exercise.source)
    coded = {question.lower(): int(n) for question, n, _ in table[:-2]}
    all_minutes = sum(int(minutes) for *_, minutes in table)
    assert coded == exercise.points() and len(coded) <= 5 and all_minutes <= 135
    if len(coded) > 1:  # with one it has only begun, as `make chapter` makes it
        assert len(coded) >= 3 and all_minutes >= 60
    for question, n, minutes in table:
        assert re.search(
            rf"## {question}\..*\n#\n# \*{n} points, {minutes} minutes", exercise.source
        )
    assert exercise.by_hand() == {question.lower(): int(n) for question, n, _ in table[-2:]}
    rubrics = {question: sum(int(n) for _, n in x) for question, x in exercise.rubrics().items()}
    assert rubrics == exercise.by_hand()
    assert all(3 <= len(items) <= 4 for items in exercise.rubrics().values())
    assert exercise.source.count("*Rubric, 4 points:*") == 2 and "Find the bug" in exercise.source
    assert exercise.source.count("*Deliverable:*") == len(table)


@functools.cache
def failed_by(exercise):
    """Of each mutant the tests that it fails, the same with two salts."""
    solution, found = code_of(built(exercise, solution=True)), {}
    for name, (wanted, *edits) in exercise.examples()["mutants"].items():
        code = edited(solution, edits)
        found[name] = frozenset(failed(rows_of(exercise, code, SALTS[0])))
        own = of_question(exercise, wanted.split("_")[1])
        for salt in SALTS[1:2]:
            other = failed(rows_of(exercise, code, salt, tests=own))
            assert other == found[name], f"{name}: {set(found[name])}, {other}"
    return found


@each
def test_a_mutant_fails_the_test_that_it_names(exercise):
    for name, (wanted, *_) in exercise.examples()["mutants"].items():
        assert wanted in failed_by(exercise)[name], (name, failed_by(exercise)[name])


@each
def test_mutants_tell_tests_apart(exercise):
    """Every test is failed by one, so each test can fail."""
    sets = list(failed_by(exercise).values())
    enough = min(10, 4 * len(exercise.points()))
    assert len(sets) >= enough and len(set(sets)) == len(sets)
    assert set().union(*sets) == {row.test for row in rows_of(exercise, "", "a")}


@each
def test_nothing_is_lost_twice(exercise):
    """A mutant of one question fails that question's tests alone, whoever calls its functions."""
    for name, tests in failed_by(exercise).items():
        assert len({test.split("_")[1] for test in tests}) == 1, (name, tests)


@each
def test_another_correct_solution_gets_full_marks(exercise):
    correct = exercise.examples()["correct"]
    assert list(correct) == list(exercise.points())
    code = "\n\n".join([code_of(built(exercise)), *correct.values()])
    for salt in SALTS:
        assert failed(rows_of(exercise, code, salt)) == set()


LAZY = ("zeros", "uniform", "mean of values", "input")


@each
@pytest.mark.parametrize("how", LAZY)
def test_an_answer_that_ignores_what_is_asked_gets_a_tenth_at_most(exercise, how):
    lazy = type("", (Lazy,), {"how": how})
    code = code_of(built(exercise, solution=True))
    rows = rows_of(exercise, code, "a", lazy)
    counted, most = runner.count(rows), sum(exercise.points().values())
    assert total(counted) <= most / 10, [row.test for row in counted if row.ok]
    for question, points in exercise.points().items():
        got = [row for row in counted if row.ok and row.question == question]
        assert total(got) <= 0.15 * points, [row.test for row in got]
    if exercise is ALL[0] and how == "uniform":
        assert total(rows) > most / 3  # it is lazy in a way that single tests don't see


@each
def test_points_without_understanding(exercise):
    """What a lazy answer gets of its question."""
    lazy, most = exercise.examples()["lazy"], exercise.points()
    assert list(lazy) == list(most) and min(map(len, lazy.values())) >= 2
    code = code_of(built(exercise, solution=True))
    for question, answers in lazy.items():
        tests = of_question(exercise, question)
        for name, other in answers.items():
            rows = rows_of(exercise, f"{code}\n\n{other}", "a", tests=tests)
            assert total(runner.count(rows)) <= 0.15 * most[question], name


@each
def test_a_bug_that_is_left_in_wins_nothing(exercise):
    """Whoever only takes out the line that raises has answered nothing."""
    solution = code_of(built(exercise, solution=True))
    released = [
        source
        for _, source in notebook.code_cells(notebook.parse(built(exercise).encode()))
        if "remove this line" in source
    ]
    assert len(released) == 1, 'one question is a planted bug: README.md, "Write your own"'
    [released] = released
    rows = rows_of(exercise, solution + "\n\n" + without_raise(released), "a")
    [question] = {row.question for row in rows if not row.ok}
    assert total(row for row in runner.count(rows) if row.question == question) == 0


def without_raise(source):
    return re.sub(r" *raise NotImplementedError  # remove this line.*\n", "", source)


@each
def test_every_question_has_a_test_of_values(exercise):
    rows = rows_of(exercise, "", "a")
    assert {row.question for row in rows if row.value} == set(exercise.points())


@each
def test_every_test_has_a_hint(exercise):
    for row in rows_of(exercise, "", "a"):
        assert row.hint.endswith("."), row.test


def test_the_readme_shows_mutants_as_they_are(exercise=ALL[0]):
    readme = (EXERCISES / "README.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```toml\n(\[mutants\].*?)```", readme, re.DOTALL)
    shown, examples = tomllib.loads(shown), exercise.examples()
    assert list(shown) == list(examples)
    assert shown["mutants"].items() <= examples["mutants"].items()
    assert shown["lazy"]["q1"].items() <= examples["lazy"]["q1"].items()


def test_self_checks_say_what_is_wrong(exercise=ALL[0]):
    _, *edits = exercise.examples()["mutants"]["bug left in"]
    code = edited(code_of(built(exercise, solution=True)), edits)
    messages = {row.message for row in rows_of(exercise, code, "a") if not row.ok}
    assert "your weights sum to one over queries, not keys" in messages
    assert "wrong answer" in messages  # of hidden tests no more than that


def copy(exercise, folder, **changes):
    path = folder / exercise.name
    path.mkdir()
    for name in (f"{exercise.name}.py", "test_public.py", "test_hidden.py"):
        text = (exercise.folder / name).read_text(encoding="utf-8")
        text = changes.get(name.removesuffix(".py"), lambda text: text)(text)
        (path / name).write_text(text, encoding="utf-8")
    return Exercise(path)


LEAKS = {
    "a solution's line in the text": {
        "01_cues": lambda text: (
            text
            + "\n# %% [markdown]\n# n = len(keys); others = (keys.sum(dim=0) - keys) / (n - 1)\n"
        )
    },
    "a marker misspelt": {
        "01_cues": lambda text: text.replace("### END SOLUTION", "### END SOLUTON", 1)
    },
    "a solution in the self-checks": {
        "test_public": lambda text: (
            text + "\nWEIGHTS = '''\nreturn (scores / temperature).softmax(dim=1)\n'''\n"
        )
    },
    "a hidden test made public": {
        "test_public": lambda text: text + "\nTRY = 'assert got.isfinite().all()'\n"
    },
    "the written answer in the text": {
        "01_cues": lambda text: (
            text
            + "\n# %% [markdown]\n# The search is volitional: the words typed are the query, and they change what is found; popularity depends on the pages alone. The keys describe the pages (their words), the values are what is shown of them. A fully connected layer has one fixed weight per place: it has no input for what is wanted, and after the pages are put in another order it weighs the wrong ones.\n"
        )
    },
}


@pytest.mark.parametrize("leak", LEAKS)
def test_release_refuses_to_leak(leak, tmp_path):
    exercise = copy(ALL[0], tmp_path, **LEAKS[leak])
    with pytest.raises(release.Leak):
        release.write(exercise, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_release_writes_both_apart(tmp_path):
    student, solution = release.write(ALL[0], tmp_path)
    assert student.parent != solution.parent
    assert "NotImplementedError" in student.read_text(encoding="utf-8")
    assert "others = " in solution.read_text(encoding="utf-8")


REMEMBER = """
def suspect(table, places, place=(1, 0), peek=None):
    model = nn.Module()
    model.forward = lambda ids, state=None: (table[ids], state)
    model.future = [False] * 2 if peek is None else [bool(p[:5, :5].triu(1).any()) for p in peek]
    model.sound = place == (1, 0)
    return model

def keeps_cache(model, ids): return model.sound and not model.future[0]
def keeps_past(model, ids): return not model.future[0]
def keeps_mode(model, ids): return model.future[0] == model.future[1]
"""


def test_a_helper_that_remembers_what_it_was_given_wins_nothing():
    """The models of 07's Q4 are made outside: whose laws are broken can only be asked of them."""
    code = code_of(built(ALL[6], solution=True)) + REMEMBER
    rows = [row for row in rows_of(ALL[6], code, "a") if row.question == "q4"]
    assert not any(row.ok for row in rows)


@pytest.mark.parametrize("exercise", [ALL[3], ALL[6]], ids=lambda exercise: exercise.name)
def test_models_of_the_tests_are_asked_from_the_box(box, exercise):
    cells = notebook.parse(built(exercise, solution=True).encode())
    boxed = Student(notebook.code_cells(cells))
    try:
        assert failed(runner.run(boxed, exercise.tests, "a")) == set()
    finally:
        boxed.close()


def test_ours_stands_in_for_a_wrong_one_in_the_box(box):
    exercise = ALL[2]
    cells = notebook.parse(built(exercise, solution=True).encode())
    cells.append(("code", "def masked_softmax(scores, lengths): return scores.softmax(2)"))
    for ours, lost in ((references(exercise), {"q1"}), ((), {"q1", "q3"})):
        boxed = Student(notebook.code_cells(cells))
        try:
            rows = runner.run(boxed, exercise.tests, "a", ours)
        finally:
            boxed.close()
        assert {row.question for row in rows if not row.ok} == lost
