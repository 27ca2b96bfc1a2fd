"""Each year's variant is an exercise as good as the first: solvable, tight, and not last year's."""

import functools
import re

import pytest
from grading_helpers import ALL, NAMES, built, code_of, failed, of_question, rows_of

from coursegrade import __main__, variant
from coursegrade.exercise import Exercise
from coursegrade.mutants import edited

WORDS = ("2027", "2028", "ada")
each = pytest.mark.parametrize("exercise", ALL, ids=NAMES)
items = pytest.mark.parametrize("item", (0, 1), ids=("first items", "second items"))
RAISES = re.compile(r"^ *raise NotImplementedError  # remove this line.*\n", re.MULTILINE)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Variants by exercise and word, or by the item that is drawn of every list, each written once."""
    by_name = {one.name: one for one in ALL}

    @functools.cache
    def write(name, word):
        with pytest.MonkeyPatch.context() as patch:
            if isinstance(word, int):
                patch.setattr(variant, "_drawn", lambda _, what, number: word % number)
            out = tmp_path_factory.mktemp("variants")
            folder = variant.write(by_name[name], str(word), out)
            return Exercise(folder), variant.draws(by_name[name], str(word))[0]

    return write


@each
@pytest.mark.parametrize("word", (0, 1, 2, WORDS[0]))
def test_its_own_solution_has_full_marks_and_nothing_leaks(exercise, word, made):
    other, names = made(exercise.name, word)
    assert failed(rows_of(other, code_of(built(other, solution=True)), word)) == set()
    assert {row.message for row in rows_of(other, code_of(built(other)), word)} == {
        "not answered yet"
    }
    assert other.points() == exercise.points() and other.by_hand() == exercise.by_hand()
    text = built(other)
    assert not [name for name in names if re.search(rf"def {name}\(|class {name}\(", text)]


@each
@items
def test_last_years_solution_loses_points_in_every_question(exercise, item, made):
    """The first solution under the new names, although ours stands in for what it calls."""
    other, names = made(exercise.name, item)
    old = variant.change(code_of(built(exercise, solution=True)), names, {})
    lost = {row.question for row in rows_of(other, old, "a") if not row.ok}
    assert lost == set(exercise.points())


@each
@items
def test_the_bug_is_one(exercise, item, made):
    other, _ = made(exercise.name, item)
    found = re.findall(r"## (Q\d)\. Find the bug", other.source)
    assert len(found) == 1, 'one question has the heading "Find the bug"'
    [question] = found
    code = RAISES.sub("", code_of(built(other)))
    rows = [row for row in rows_of(other, code, "a") if row.question == question.lower()]
    assert not all(row.ok for row in rows) and {row.message for row in rows} != {"not answered yet"}


@each
@items
def test_a_mutant_still_fails_the_test_that_it_names(exercise, item, made):
    other, _ = made(exercise.name, item)
    code = code_of(built(other, solution=True))
    listed, first = other.examples(), exercise.examples()
    assert all(len(listed[table]) == len(first[table]) for table in ("mutants", "lazy"))
    assert not listed["correct"]  # it is that of the first form
    for name, (wanted, *edits) in listed["mutants"].items():
        own = of_question(other, wanted.split("_")[1])
        lost = failed(rows_of(other, edited(code, edits), "a", tests=own))
        assert wanted in lost, (name, lost)


def test_two_years_differ_and_one_is_always_the_same(made, tmp_path):
    sources = {made("01_cues", word)[0].source for word in WORDS}
    assert len(sources) == len(WORDS)
    words = ["variant", str(ALL[0].folder), "2027", str(tmp_path)]
    assert __main__.main(words) == 0
    again, before = Exercise(tmp_path / "01_cues"), made("01_cues", "2027")[0]
    assert (again.source, again.tests) == (before.source, before.tests)
    assert __main__.main(words) == 2  # never overwritten


def test_changes_meet_each_other_not():
    changed = variant.change("f(a) `f` of 2.0 and 12.05, a.f, off(f)", {"f": "g"}, {"2.0": "3.0"})
    assert changed == "g(a) `g` of 3.0 and 12.05, a.g, off(f)"
    assert variant.change("ab", {}, {"a": "b", "b": "a"}) == "ab"  # words: no part of a longer one
    assert variant.change("a b", {}, {"a": "b", "b": "a"}) == "b a"


@pytest.mark.parametrize(
    "table, says",
    [
        ('[q1]\n"not there at all" = ["x"]', "none of its files"),
        ('[q1]\n"softmax" = ["x"]\n"scores" = ["y", "z"]', "differ in length"),
        ('[names]\ncue_weights = ["f"]\nsaliency = ["f"]', "two functions"),
        ("[names", "variants.toml"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(tmp_path, table, says):
    for name in ("01_cues.py", "test_public.py", "test_hidden.py", "mutants.toml"):
        path = tmp_path / "01_cues" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text((ALL[0].folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "01_cues" / "variants.toml").write_text(table)
    with pytest.raises(ValueError, match=says):
        variant.write(Exercise(tmp_path / "01_cues"), "2027", tmp_path / "out")
    assert not (tmp_path / "out").exists()
