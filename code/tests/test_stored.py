"""Stored tables and weights: what today's code does is what made them, and the files are whole."""

import hashlib
import importlib
import pkgutil
import sys
from functools import cache, partial

import pytest
import torch
from attnbook_testing.refusals import refuses

import experiments
from attnbook.data import why_missing
from attnbook.masks import length_mask
from experiments import kernel_regression as kr
from experiments import reversal, stored, transformers, translation, translators

FETCHED = {"everyday", "transformer_everyday"}  # experiments whose corpus is not made here
FETCHED |= {"language_model", "language_parts", "heads", "reviews"}
NAMES = sorted(path.stem for path in stored.FOLDER.glob("*.json"))
# Measured on these traces: 1 and 2 threads differ by 3e-7 of a value, torch's and MKL's oldest and
# newest instructions by up to 6e-5, float64 and float32 by 4e-6.
NOISE = 1e-3
TOKENS = 1e-2  # of what counts tokens: one that two words tie for may come out as the other


def experiment(name):
    """The module of an experiment, or a skip where its corpus is not to be had."""
    if name in FETCHED and (reason := why_missing()):
        pytest.skip(reason)
    return importlib.import_module(f"experiments.{name}")


def stale(now, then):
    """Where two traces, or two readings of the same weights, differ by more than noise."""
    assert now.keys() == then.keys()
    found = []
    for name, value in now.items():
        if isinstance(value, dict):
            found += stale(value, then[name])
        elif value != pytest.approx(
            then[name], rel=TOKENS if name in ("accuracy", "bleu") else NOISE, abs=1e-6
        ):
            found.append(name)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_code_still_trains_as_it_did(name):
    record = stored.load_record(name)
    hint = f"stale: run `{record['command']}` and commit what it stores"
    assert stale(experiment(name).trace(), record["trace"]) == [], hint


@pytest.mark.parametrize("name", [n for n in NAMES if "weights" in stored.load_record(n)])
def test_stored_weights_still_do_what_they_did(name):
    record = stored.load_record(name)
    found = experiment(name).reread()
    assert found.keys() == record["weights"].keys()
    hint = f"stale: run `{record['command']}` and commit what it stores"
    assert stale(found, record["reread"]) == [], hint


def everywhere(monkeypatch, name, wrong):
    """Put a function in place of one of the package, wherever that was imported."""
    for module in [m for key, m in sys.modules.items() if key.startswith("attnbook.")]:
        if name in vars(module):
            monkeypatch.setattr(module, name, wrong)


def one_too_many(lengths, n):
    """`length_mask`, with a key of the padding open in every row that has any."""
    return length_mask((torch.as_tensor(lengths) + 1).clamp(max=n), n)


def another_seed(train):
    return lambda plan, of, seed: train(plan, of, seed + 1)


RECIPES = {  # a short training by each of the two trainers
    "recurrent": (translators.train, translators.Plan("after", "dot")),
    "Transformer": (transformers.train, transformers.Plan(d_model=32, d_ff=64)),
}


def traced(recipes):
    of = reversal.load()
    return {name: translators.trace(plan, of, train=t) for name, (t, plan) in recipes.items()}


@pytest.fixture(scope="module")
def before():
    return traced(RECIPES)


@pytest.mark.parametrize("change", ["none", "rate", "seed", "mask", "dropout", "clip"])
def test_a_small_change_of_training_is_seen(monkeypatch, before, change):
    """The controls. A hash of the source saw wording, and did not see a wrong mask elsewhere."""
    recipes = dict(RECIPES)
    if change == "mask":
        everywhere(monkeypatch, "length_mask", one_too_many)
    if change == "dropout":
        train, plan = recipes["Transformer"]
        recipes = {"Transformer": (train, plan._replace(dropout=0.0))}
    for name, (train, plan) in recipes.items():
        if change == "rate":
            plan = plan._replace(learning_rate=1.02 * plan.learning_rate)
        train = {"seed": another_seed(train), "clip": partial(train, clip=0.5)}.get(change, train)
        recipes[name] = train, plan
    seen = set(stale(traced(recipes), {name: before[name] for name in recipes}))
    assert seen == (set() if change == "none" else recipes.keys())


def test_a_wrong_mask_changes_what_stored_weights_do(monkeypatch):
    before = stored.load_record("translation")["reread"]["translation_after"]
    everywhere(monkeypatch, "length_mask", one_too_many)
    now = translators.reread(
        *translation.stored("after, dot", stored.load_weights("translation_after"))
    )
    assert "loss" in stale(now, before)


def test_every_experiment_is_stored():
    found = [module.name for module in pkgutil.iter_modules(experiments.__path__)]
    modules = {name: importlib.import_module(f"experiments.{name}") for name in found}
    assert {name for name, module in modules.items() if hasattr(module, "run")} == set(NAMES)


def test_kernel_regression_rows_are_what_their_widths_give():
    rows = stored.load_table("kernel_regression")
    assert [row["seed"] for row in rows] == list(kr.SEEDS)
    recipes = [name.removesuffix(": w") for name in rows[0] if name.endswith(": w")]
    assert len(recipes) == 10
    for row in rows:
        x, y = kr.toy_data(row["seed"])
        for recipe in recipes:
            error = kr.test_error(x, y, row[f"{recipe}: w"])
            assert error == pytest.approx(row[f"{recipe}: test error"], rel=1e-3)


def test_an_unknown_table_is_named():
    refuses(ValueError, r"kernel_regression.*got 'nothing'", stored.load_table, "nothing")


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
    refuses(ValueError, r"\['small'\], got 'large'", stored.load_weights, "large")


def test_weights_that_half_precision_cannot_hold_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    for said, tensor in (
        (r"'w'.*finite in half precision", torch.tensor([1e6])),
        ("3,000,000 bytes", torch.zeros(2_000_000)),
    ):
        refuses(ValueError, said, stored.save_weights, "big", {"w": tensor}, note={})
    assert not list(tmp_path.iterdir())


def test_stored_weights_are_those_of_their_records():
    files = {path.stem: path for path in stored.FOLDER.glob("*.safetensors")}
    wanted = [stored.load_record(name).get("weights", {}).items() for name in NAMES]
    digests = {file: hashlib.sha256(path.read_bytes()).hexdigest() for file, path in files.items()}
    assert digests == dict(item for items in wanted for item in items)


@cache
def hash_of(corpus):
    return corpus()


@pytest.mark.parametrize("name", [n for n in NAMES if "corpus" in stored.load_record(n)])
def test_the_corpus_has_not_changed_since(name):
    record = stored.load_record(name)
    hint = f"stale: run `{record['command']}` and commit what it stores"
    assert hash_of(experiment(name).corpus) == record["corpus"], hint
