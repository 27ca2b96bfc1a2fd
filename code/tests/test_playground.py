"""The file of the playground's model: what goes in comes out, rounded as it says."""

import base64
import dataclasses
import hashlib
import json
import re
from functools import partial
from pathlib import Path

import pytest
import torch
from attnbook_testing.books import small_book
from attnbook_testing.refusals import refuses
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attnbook.data import Vocabulary, why_missing
from attnbook.transformer import Transformer
from attnbook.widgets import bundle
from devkit.playground import models as playground
from devkit.playground import opening, script
from devkit.playground.packing import pack, quantise, read
from devkit.playground.page import HERE
from devkit.playground.script import unpack, write

ROOT = Path(__file__).resolve().parents[2]


def model(**options) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 12, "max_len": 20}
    return Transformer(9, 9, **{**sizes, **options})


VOCAB = Vocabulary([["le", "chien", "l'", "œuf", "été"]])


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(-100, 100, width=32), min_size=n, max_size=n), min_size=1, max_size=4
        )
    ),
    st.sampled_from([127, 63, 7]),
)
def test_a_weight_moves_at_most_half_a_step(rows, levels):
    matrix = torch.tensor(rows)
    integers, scales = quantise(matrix, levels)
    steps = torch.from_numpy(scales.astype("f8"))[:, None]
    moved = (torch.from_numpy(integers.astype("f8")) * steps - matrix).abs()
    assert abs(integers.astype(int)).max() <= levels
    # half a step; at the largest weight, what float16 took off the scale; below float16, all
    slack = torch.where(steps > 0, levels * steps * 2**-10, 1e-4)
    assert (moved <= steps / 2 + slack).all()


@given(st.binary(max_size=64))
def test_bytes_become_letters_and_come_back(content):
    text = script.to_text(content)
    assert len(text) == -(-8 * len(content) // 15)
    assert all("\u3400" <= letter <= "\ub3ff" for letter in text)
    assert script.from_text(text, len(content)) == content


@pytest.mark.parametrize("tie", ["none", "output", "all"])
def test_a_file_gives_back_head_and_weights(tmp_path, tie):
    given = model(tie=tie)
    head, content = pack(given, VOCAB, VOCAB, about={"exact": 0.5})
    path = tmp_path / "model.js"
    size = write(path, "test", head, content)
    assert size == path.stat().st_size
    write(tmp_path / "again.js", "test", *pack(given, VOCAB, VOCAB, about={"exact": 0.5}))
    assert (tmp_path / "again.js").read_bytes() == path.read_bytes()
    assert unpack(path) == (json.loads(json.dumps(head)), content)
    got = read(path)
    assert got.head["config"] == dataclasses.asdict(given.config)
    assert got.head["about"] == {"exact": 0.5} and got.head["source"] == VOCAB.tokens
    assert got.head["parameters"] == sum(p.numel() for p in given.parameters())
    again = model(tie=tie)
    again.load_state_dict(got.tensors)
    for name, tensor in given.state_dict().items():
        steps = tensor.abs().amax(-1, keepdim=True) / 127
        assert ((again.state_dict()[name] - tensor).abs() <= steps * 0.65).all(), name
    names = [entry["name"] for entry in got.head["tensors"]]
    assert ("output.weight" in names) == (tie == "none"), "one matrix is stored once"


def test_what_cannot_be_packed_is_refused(tmp_path, monkeypatch):
    named, path = partial(refuses, ValueError), tmp_path / "model.js"
    for options, said in (
        ({"positions": "rotary"}, "positions must be .* got 'rotary'"),
        ({"num_kv_heads": 1}, "num_kv_heads must be .* got 1"),
    ):
        named(said, pack, model(**options), VOCAB, VOCAB)
    broken = model()
    nn.init.constant_(broken.output.weight, torch.inf)
    said = r"finite weights, and embedding\.tokens\.weight has not"
    named(said, pack, broken, VOCAB, VOCAB)
    for levels in (0, 128):
        named(f"levels must be at .* got {levels}", quantise, torch.ones(1, 1), levels)
    packed = pack(model(), VOCAB, VOCAB)
    monkeypatch.setattr(script, "LARGEST", 100)
    named("must take at most 100: store a smaller", write, path, "test", *packed)
    assert not list(tmp_path.iterdir())
    path.write_text("window.other = 1;\n")
    named(r"that `write` wrote, got model\.js", unpack, path)


def test_modules_import_only_what_is_there():
    entries = sorted(path.name for path in HERE.glob("*.js"))
    assert len(entries) > 3
    for name in entries:
        assert "import " not in bundle.join(HERE / name).replace("import(", "")


def site_of(folder: Path, model_file: Path | None = None) -> Path:
    """A built book with the playground's page and one before it, and perhaps with a model."""
    page = (ROOT / "book" / "playground.md").read_text("utf-8")
    page = re.sub(r"\[([^]]+)\]\(\w+\.ipynb\)", r"\1", page)  # no chapter is in this book
    pages = {"index": "# A small book\n\nWith a page.\n", "playground": page}
    done = small_book(folder, pages, model=model_file)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html"


def test_without_a_model_the_page_is_left_out(tmp_path):
    site = site_of(tmp_path)
    assert (site / "book" / "index.html").is_file()
    assert not (site / "book" / "playground.html").exists()
    assert "playground" not in (site / "book" / "index.html").read_text("utf-8")
    assert not (site / "_static" / "playground").exists()


def test_the_page_says_what_the_models_file_says(tmp_path):
    about = {"data": "made-up sentences", "pairs": 12_345, "judged": 678, "exact": 0.87654}
    about["rounded"] = {"exact": 0.8543}
    examples = [{"source": ["<b>", "cat"], "target": [], "sure": [], "possible": []}]
    write(
        tmp_path / "m.js", "grammar", *pack(model(), VOCAB, VOCAB, about=about, examples=examples)
    )
    site = site_of(tmp_path, tmp_path / "m.js")
    page = (site / "book" / "playground.html").read_text("utf-8")
    found = re.search(r'<script type="application/json">(.*?)</script>', page)[1]
    (settings,) = json.loads(found)["models"]
    for part in ("12,345 pairs of made-up sentences", "678 held-out", "87.7% exactly", "85.4%"):
        assert part in settings["about"]
    parameters = sum(p.numel() for p in model().parameters())
    assert f"{parameters:,} parameters" in settings["about"]
    assert settings["examples"] == [["<b>", "cat"]]
    assert (site / "book" / settings["file"]).resolve().is_file()
    loaded = re.findall(r'(?:src|href)="([^"]*playground/[^"?]*)', page)
    assert sorted(name.rpartition("/")[2] for name in loaded) == ["play.css", "play.js"]
    other = (site / "book" / "index.html").read_text("utf-8")
    assert "playground/play" not in other


@pytest.mark.parametrize("name", playground.MODELS)
def test_a_packed_model_is_the_stored_one(name):
    path = playground.FOLDER / f"{name}.js"
    if not path.is_file():
        pytest.skip("no model is packed: `python -m devkit.playground` packs the stored ones")
    if not playground.is_stored(name):
        pytest.skip(f"the weights of {name} are not stored: `make train` stores them")
    if name == "everyday" and (reason := why_missing("fra_eng")):
        pytest.skip(reason)
    head, content = unpack(path)
    wanted = playground.packed(name, *playground.load(name))
    hint = "stale: run `python -m devkit.playground`"
    assert {**head["about"], "rounded": None} == {**wanted[0]["about"], "rounded": None}, hint
    for key in wanted[0].keys() - {"about"}:
        assert head[key] == json.loads(json.dumps(wanted[0][key])), f"{key}: {hint}"
    assert content == wanted[1], hint
    assert head["about"]["weights"] == stored_hash(name), hint
    about = head["about"]
    kept = "exact" if name == "grammar" else "bleu"
    assert abs(about[kept] - about["rounded"][kept]) < (0.02 if name == "grammar" else 1.0)


def stored_hash(name: str) -> str:
    """SHA-256 of the stored weights."""
    file = playground.stored.FOLDER / f"{playground.MODELS[name].experiment}.safetensors"
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.skipif(not (playground.FOLDER / "grammar.js").is_file(), reason="no model is packed")
def test_the_opening_is_the_models():
    """The stored state is what the packed model gives today, a weight to 1/255."""
    stored = json.loads((playground.FOLDER / "opening.json").read_text("utf-8"))
    made = opening.opening(playground.FOLDER / "grammar.js")
    for kind, text in made.pop("maps").items():
        a, b = (list(base64.b64decode(t)) for t in (text, stored["maps"][kind]))
        assert len(a) == len(b) and max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 1
    stored.pop("maps")
    for a, b in zip(made.pop("top"), stored.pop("top"), strict=True):
        assert [t for t, _ in a[:1]] == [t for t, _ in b[:1]]
        assert [p for _, p in a] == pytest.approx([p for _, p in b], abs=1e-3)
    assert made == stored


def test_the_opening_counts_rows_with_a_link():
    weights = torch.tensor([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])
    assert opening.sure_hits(weights, [[0, 0], [1, 0]]) == (1, 2)
    assert opening.crossings([[0, 1], [1, 0], [2, 2]]) == 1
