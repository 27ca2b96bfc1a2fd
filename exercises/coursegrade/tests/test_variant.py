"""Each year's variant is an exercise as good as the first: solvable, tight, and not last year's."""

import functools
import re

import pytest
from grading_helpers import ALL, NAMES, code_of, edited, failed, mutants_of, rows_of

from coursegrade import __main__, release, variant
from coursegrade.exercise import Exercise

WORDS = ("2027", "2028", "ada")
each = pytest.mark.parametrize("exercise", ALL, ids=NAMES)
RAISES = re.compile(r"^ *raise NotImplementedError  # remove this line.*\n", re.MULTILINE)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Variants by exercise and word, each written once."""
    top = tmp_path_factory.mktemp("variants")
    by_name = {one.name: one for one in ALL}
    return functools.cache(
        lambda name, word: Exercise(variant.write(by_name[name], word, top / word))
    )


@each
@pytest.mark.parametrize("word", WORDS)
def test_its_own_solution_has_full_marks_and_nothing_leaks(exercise, word, made):
    other = made(exercise.name, word)
    assert failed(rows_of(other, code_of(release.build(other, solution=True)), word)) == set()
    assert {row.message for row in rows_of(other, code_of(release.build(other)), word)} == {
        "not answered yet"
    }
    assert other.points() == exercise.points() and other.by_hand() == exercise.by_hand()
    new, _ = variant.draws(exercise, word)
    text = release.build(other)
    assert not [name for name in new if re.search(rf"def {name}\(|class {name}\(", text)]


# The questions whose parameter is in the tests, so more than another bug; and those that follow from
# them, which a grader that tests with a reference for the earlier question does not count twice.
PARAMETERS = {
    "01_cues": ({"q1", "q2", "q3", "q4"}, set()),
    "02_kernel_regression": ({"q1", "q3", "q4"}, set()),
    "06_positions": ({"q1", "q2", "q3"}, {"q4"}),
}


@each
@pytest.mark.parametrize("word", WORDS)
def test_last_years_solution_is_not_this_years(exercise, word, made):
    """The first solution under the new names fails each question that has a parameter."""
    other, (names, _) = made(exercise.name, word), variant.draws(exercise, word)
    old = variant.changed(code_of(release.build(exercise, solution=True)), names, {})
    lost = {row.question for row in rows_of(other, old, word) if not row.ok}
    own, follow = PARAMETERS.get(exercise.name, (set(), set()))
    assert own <= lost <= own | follow


@each
@pytest.mark.parametrize("word", WORDS)
def test_the_bug_is_one(exercise, word, made):
    other = made(exercise.name, word)
    [question] = re.findall(r"## (Q\d)\. Find the bug", other.source)
    code = RAISES.sub("", code_of(release.build(other)))
    rows = [row for row in rows_of(other, code, word) if row.question == question.lower()]
    assert not all(row.ok for row in rows) and {row.message for row in rows} != {"not answered yet"}


def test_mutants_are_still_noticed(made):
    other = made("01_cues", "2027")
    code = code_of(release.build(other, solution=True))
    for name, mutant in mutants_of(other).MUTANTS.items():
        assert failed(rows_of(other, edited(code, mutant[1:]), "a")), name


def test_two_years_differ_and_one_is_always_the_same(made, tmp_path):
    sources = {made("01_cues", word).source for word in WORDS}
    assert len(sources) == len(WORDS)
    words = ["variant", str(ALL[0].folder), "2027", str(tmp_path)]
    assert __main__.main(words) == 0
    again = Exercise(tmp_path / "01_cues")
    assert (again.source, again.tests) == (
        made("01_cues", "2027").source,
        made("01_cues", "2027").tests,
    )
    assert __main__.main(words) == 2  # never overwritten


def test_changes_meet_each_other_not():
    changed = variant.changed("f(a) `f` of 2.0 and 12.05, a.f, off(f)", {"f": "g"}, {"2.0": "3.0"})
    assert changed == "g(a) `g` of 3.0 and 12.05, a.g, off(f)"
    assert variant.changed("ab", {}, {"a": "b", "b": "a"}) == "ab"  # words: no part of a longer one
    assert variant.changed("a b", {}, {"a": "b", "b": "a"}) == "b a"


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
    for name in ("01_cues.py", "test_public.py", "test_hidden.py", "mutants.py"):
        path = tmp_path / "01_cues" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text((ALL[0].folder / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "01_cues" / "variants.toml").write_text(table)
    with pytest.raises(ValueError, match=says):
        variant.write(Exercise(tmp_path / "01_cues"), "2027", tmp_path / "out")
    assert not (tmp_path / "out").exists()
