"""Which hand-ins are alike: renamed copies are found, independent solutions are not."""

import ast
import itertools
import re
import subprocess
import sys

import pytest
from grading_helpers import ALL, NAMES, Book
from hypothesis import given, settings
from hypothesis import strategies as st

from coursegrade import __main__, notebook, release, similar

EXERCISE = ALL[0]
each = pytest.mark.parametrize("exercise", ALL, ids=NAMES)


def prints_of(exercise, code):
    text = notebook.parse(release.build(exercise).encode())
    return similar.prints([("code", code), *text], tuple(exercise.by_hand()))


def renamed(code):
    """What a copyist does first: other names, other layout, other comments."""
    names = sorted(similar.own_names([code]), key=len, reverse=True)
    for number, name in enumerate(names):
        if len(name) < 3 or re.search(rf"\b{name}=", code):  # a short name, or a keyword of torch's
            continue
        code = re.sub(rf"(?<![\w.]){name}\b", f"thing_{number}", code)
    return "# all my own work\n" + code.replace("\n    return", "\n\n    # and back\n    return")


@each
def test_independent_solutions_are_not_alike(exercise):
    assert similar.pairs({}, similar.template(exercise), {}) == []
    shown, given = similar.public(exercise), similar.template(exercise)
    ours = {name: one for name, one in shown.items() if not name.startswith("test_")}
    assert len(ours) == 2 and any("test_hidden.py" in name for name in shown)
    own = {name: set(one.places) - given for name, one in shown.items()}
    for a, b in itertools.combinations(ours, 2):
        assert similar._pair(a, b, own[a], own[b]).share < similar.SHARE / 2, (a, b)
    tests = {name: one for name, one in shown.items() if name not in ours}
    assert [one for one in similar.pairs(ours, given, tests) if one.other in tests] == []


@each
def test_each_function_of_the_tests_is_known_again(exercise):
    """Whoever hands in a reference of the tests, under other names, is a pair with it."""
    shown, given = similar.public(exercise), similar.template(exercise)
    tree = ast.parse(exercise.tests.hidden)
    slow = [node for node in tree.body if getattr(node, "name", "").startswith("slow_")]
    assert slow
    for node in slow:
        if len(set(shown[f"test_hidden.py, {node.name!r}"].places) - given) < similar.LEAST:
            continue  # as short as every answer to its question
        copied = renamed(ast.get_source_segment(exercise.tests.hidden, node))
        pairs = similar.pairs({"copy": prints_of(exercise, copied)}, given, shown)
        assert f"test_hidden.py, {node.name!r}" in [pair.other for pair in pairs], node.name


@each
def test_a_renamed_copy_of_a_public_solution_is_found(exercise):
    copied = renamed("\n\n".join(exercise.examples()["correct"].values()))
    assert copied.count("thing_") > 5
    found = {"copy": prints_of(exercise, copied), "released": prints_of(exercise, "")}
    pairs = similar.pairs(found, similar.template(exercise), similar.public(exercise))
    assert [(one.one, one.other == "mutants.toml") for one in pairs] == [("copy", True)]
    assert pairs[0].share > 0.9


OWN = """
def cue_weights(queries, keys, temperature=1.0):
    table = torch.zeros(queries.shape[0], keys.shape[0])
    for row in range(queries.shape[0]):
        away = keys - queries[row]
        table[row] = torch.einsum("kd,kd->k", away, away).mul(-0.5).div(temperature)
    table = table - torch.logsumexp(table, dim=1, keepdim=True)
    return torch.exp(table)
"""


def test_two_who_share_are_found_and_what_all_know_is_not():
    found = {who: prints_of(EXERCISE, code) for who, code in (("ada", OWN), ("alan", renamed(OWN)))}
    given, shown = similar.template(EXERCISE), similar.public(EXERCISE)
    [pair] = similar.pairs(found, given, shown)
    assert (pair.one, pair.other) == ("ada", "alan") and pair.share == 1
    class_ = {f"s{i}": found["ada"] for i in range(similar.COMMON + 1)}
    assert similar.pairs(class_, given, shown) == []  # from one source that is not ours
    assert similar.pairs({"ada": found["ada"]}, given, {}) == []


words = st.lists(st.sampled_from("abcdefgh"), min_size=similar.RUN + similar.WINDOW - 1)


@settings(max_examples=60, deadline=None)
@given(words, words, words)
def test_a_long_common_run_is_always_found(run, before, after):
    """The guarantee of winnowing: RUN + WINDOW - 1 common tokens share a fingerprint."""
    one = similar.winnow([(word, 1) for word in run])
    other = similar.winnow([(word, 1) for word in before + run + after])
    assert one and set(one) & set(other)


def test_the_command_reads_a_class_and_hides_nothing(tmp_path, capsys):
    book = Book(EXERCISE, solution=False)
    for who, code in (("ada", OWN), ("alan", renamed(OWN)), ("<b>eve", "x = '<script>'\n" + OWN)):
        path = tmp_path / "in" / who / "a.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(book.put("cue_weights", code).text())
        book = Book(EXERCISE, solution=False)
    (tmp_path / "in" / "broken").mkdir()
    (tmp_path / "in" / "broken" / "a.ipynb").write_text("{")
    (tmp_path / "in" / "huge").mkdir()
    (tmp_path / "in" / "huge" / "a.ipynb").write_text(
        book.put("cue_weights", "f(1)\n" * 20_000).text()
    )
    out = tmp_path / "similar.html"
    assert __main__.main(["similar", str(EXERCISE.folder), str(tmp_path / "in"), str(out)]) == 0
    said = capsys.readouterr()
    assert "3 pairs" in said.out and "ada | alan" in said.out
    assert "broken: it is not a whole notebook" in said.err and "huge: it has more" in said.err
    page = out.read_text(encoding="utf-8")
    assert "<script" not in page and "<b>eve" not in page and "einsum" in page
    assert "never" not in said.out and "mark" not in said.out


def test_a_process_for_each_hand_in_imports_little():
    """With torch it took seconds of the processor, and on a busy machine all of its deadline."""
    said = (
        "import sys, coursegrade.similar; print(sorted({'torch', 'jupytext'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
