"""Stored tables: fresh, and true when evaluated again."""

import shutil

import pytest

import attnbook.stored as stored
from attnbook.experiments import kernel_regression as kr

NAMES = sorted(path.stem for path in stored.FOLDER.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_the_code_has_not_changed_since(name):
    record = stored.load_record(name)
    hint = f"stale: run `{record['command']}` and commit the table"
    assert stored.fingerprint(record["sources"]) == record["code"], hint


def test_every_experiment_is_stored():
    folder = stored.PACKAGE / "experiments"
    assert {p.stem for p in folder.glob("*.py")} - {"__init__"} == set(NAMES)


def test_kernel_regression_rows_are_what_their_widths_give():
    rows = stored.load_table("kernel_regression")
    assert [row["seed"] for row in rows] == list(kr.SEEDS)
    recipes = [name.removesuffix(": w") for name in rows[0] if name.endswith(": w")]
    assert len(recipes) == 5
    for row in rows:
        x, y = kr.toy_data(row["seed"])
        for recipe in recipes:
            error = kr.test_error(x, y, row[f"{recipe}: w"])
            assert error == pytest.approx(row[f"{recipe}: test error"], rel=1e-3)


@pytest.mark.parametrize("seed", [0, 7, 19])
def test_kernel_regression_trains_again_to_the_same_end(seed):
    stored_row = stored.load_table("kernel_regression")[seed]
    again = kr.run(seed)
    assert again["adam: w"] == pytest.approx(stored_row["adam: w"], rel=1e-2)


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match=r"kernel_regression.*got 'nothing'"):
        stored.load_table("nothing")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('"""Score by the dot product q . k.', '"""Another docstring.', True),
        ("    check_pair(queries, keys)\n", "    check_pair(queries,   keys)  # note\n", True),
        ("return queries @ keys.mT", "return keys @ queries.mT", False),
    ],
)
def test_the_fingerprint_sees_code_and_nothing_else(tmp_path, monkeypatch, old, new, same):
    before = stored.fingerprint(["scores.py"])
    shutil.copy(stored.PACKAGE / "scores.py", tmp_path)
    text = (tmp_path / "scores.py").read_text()
    assert old in text
    (tmp_path / "scores.py").write_text(text.replace(old, new))
    monkeypatch.setattr(stored, "PACKAGE", tmp_path)
    assert (stored.fingerprint(["scores.py"]) == before) is same
