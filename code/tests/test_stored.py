"""Stored tables: fresh, and true when evaluated again."""

import hashlib
import importlib
import pkgutil
import shutil

import pytest
import torch

import attnbook.stored as stored
from attnbook import experiments
from attnbook.data import why_missing
from attnbook.experiments import kernel_regression as kr

FETCHED = {"everyday", "transformer_everyday"}  # experiments whose corpus is not made here
NAMES = sorted(path.stem for path in stored.FOLDER.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_the_code_has_not_changed_since(name):
    record = stored.load_record(name)
    hint = f"stale: run `{record['command']}` and commit the table"
    assert stored.fingerprint(record["sources"]) == record["code"], hint


def test_every_experiment_is_stored():
    found = [module.name for module in pkgutil.iter_modules(experiments.__path__)]
    modules = {name: importlib.import_module(f"attnbook.experiments.{name}") for name in found}
    assert {name for name, module in modules.items() if hasattr(module, "run")} == set(NAMES)


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


def test_a_folder_stands_for_every_file_in_it(tmp_path, monkeypatch):
    (tmp_path / "room" / "deep").mkdir(parents=True)
    (tmp_path / "room" / "a.py").write_text("x = 1")
    (tmp_path / "room" / "deep" / "b.py").write_text("y = 2")
    monkeypatch.setattr(stored, "PACKAGE", tmp_path)
    whole = stored.fingerprint(["room"])
    assert whole == stored.fingerprint(["room/deep/b.py", "room/a.py"])
    (tmp_path / "room" / "deep" / "b.py").write_text("y = 3")
    assert whole != stored.fingerprint(["room"])


def test_weights_come_back_in_half_precision(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    model = torch.nn.GRU(3, 5)
    digest = stored.save_weights("small", model.state_dict(), note={"command": "none"})
    assert digest == hashlib.sha256((tmp_path / "small.safetensors").read_bytes()).hexdigest()
    loaded = stored.load_weights("small")
    assert loaded.keys() == model.state_dict().keys()
    for key, tensor in model.state_dict().items():
        assert loaded[key].dtype == torch.float32
        assert torch.equal(loaded[key], tensor.half().float())
    with pytest.raises(ValueError, match=r"\['small'\], got 'large'"):
        stored.load_weights("large")


def test_weights_that_half_precision_cannot_hold_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"'w'.*finite in half precision"):
        stored.save_weights("big", {"w": torch.tensor([1e6])}, note={})
    with pytest.raises(ValueError, match="3,000,000 bytes"):
        stored.save_weights("big", {"w": torch.zeros(2_000_000)}, note={})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_stored_weights_are_the_ones_of_the_record(name):
    for file, digest in stored.load_record(name).get("weights", {}).items():
        data = (stored.FOLDER / f"{file}.safetensors").read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest, f"{file} is not what {name} stored"


def test_every_file_of_weights_belongs_to_a_record():
    files = {path.stem for path in stored.FOLDER.glob("*.safetensors")}
    assert files == {file for name in NAMES for file in stored.load_record(name).get("weights", {})}


@pytest.mark.parametrize("name", [n for n in NAMES if "corpus" in stored.load_record(n)])
def test_the_corpus_has_not_changed_since(name):
    record = stored.load_record(name)
    experiment = importlib.import_module(f"attnbook.experiments.{name}")
    if name in FETCHED and (reason := why_missing()):
        pytest.skip(reason)
    hint = f"stale: run `{record['command']}` and commit what it stores"
    assert experiment.corpus() == record["corpus"], hint
