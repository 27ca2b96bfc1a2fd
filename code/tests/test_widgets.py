"""The heat map's Python side: what it takes, refuses, saves and prints."""

import base64
import inspect
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from attnbook_testing.book_widgets import NAMES, SAVED, settings_of
from attnbook_testing.refusals import refuses
from attnbook_testing.widgets import MAKE, REFUSED

from attnbook import plots, widgets
from attnbook.widgets import STUB_ESM, AttentionHeatmap, base, bundle, stub_state

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


def test_weights_are_masked_softmax_written_out():
    scores = torch.randn(2, 3, 4)
    mask = torch.tensor([[True, True, False, True]])
    widget = AttentionHeatmap(
        scores, mask=mask, lengths=[4, 3], causal=True, temperature=0.5, scale=9, batch=1
    )
    for i in range(3):
        allowed = [j for j in range(4) if mask[0, j] and j < 3 and j <= i]
        exps = {j: np.exp(float(scores[1, i, j]) / (3 * 0.5)) for j in allowed}
        for j in range(4):
            wanted = exps.get(j, 0.0) / sum(exps.values())
            assert widget.weights()[i, j] == pytest.approx(wanted, abs=1e-12)


def test_inputs_are_not_changed_and_kinds_agree():
    scores = torch.randn(3, 4, dtype=torch.bfloat16, requires_grad=True)
    before = scores.detach().clone()
    a = AttentionHeatmap(scores, mask=torch.ones(1, 4, dtype=torch.bool))
    b = AttentionHeatmap(scores.detach().float().numpy())
    assert torch.equal(scores.detach(), before)
    assert (a.weights() == b.weights()).all()


def test_saved_scores_are_exact_and_may_be_nan_where_masked():
    scores = np.array([[np.nan, 1.1, np.inf, -np.inf]], dtype="f4")
    widget = AttentionHeatmap(scores, mask=np.array([[False, True, False, True]]))
    saved = AttentionHeatmap.get_manager_state(widgets=[widget])["state"][widget.model_id]
    (data,) = (b["data"] for b in saved["buffers"] if b["path"] == ["_scores"])
    kept = np.frombuffer(base64.b64decode(data), "<f4")
    assert np.array_equal(kept, scores[0], equal_nan=True)
    assert widget.weights().tolist() == [[0.0, 1.0, 0.0, 0.0]]


SQUARE = np.zeros((2, 2, 3))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scores": np.zeros(3)}, "scores must be 2-D or 3-D"),
        ({"scores": np.array([["a"]])}, "scores must be real"),
        ({"scores": np.full((1, 1), np.nan)}, "scores hold nan"),
        ({"scores": np.full((1, 1), np.inf)}, "scores hold inf"),
        ({"mask": np.zeros((2, 3))}, "mask must be boolean"),
        ({"mask": np.zeros((3, 2), dtype=bool)}, "mask of shape"),
        ({"mask": np.zeros((2, 1, 2, 3), dtype=bool)}, "mask must be 2-D or 3-D"),
        ({"values": np.zeros((2, 4))}, "values must be"),
        ({"query_labels": ["a"]}, "query_labels must hold 2"),
        ({"key_labels": [["a", "b", "c"]] * 3}, "key_labels must be one list"),
        ({"lengths": [1]}, "lengths must hold one"),
        ({"lengths": [1.5, 1]}, "lengths must be integers"),
        ({"scale": -1}, "scale must be positive"),
        ({"controls": ("scale",)}, "scale must be the feature size"),
    ],
)
def test_bad_input_is_named(options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        AttentionHeatmap(**({"scores": SQUARE} | options))


def test_an_output_is_a_view_and_a_text():
    """Its picture comes into committed notebooks alone, by `make notebooks`."""
    code = (
        "import sys, numpy as np; from attnbook.widgets import AttentionHeatmap;"
        "shown = AttentionHeatmap(np.eye(3), compare=np.eye(3) * 2)._repr_mimebundle_();"
        "shown = shown[0] if isinstance(shown, tuple) else shown;"
        "print(*sorted(shown), 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wanted = "application/vnd.jupyter.widget-view+json text/plain False"
    assert done.stdout.strip() == wanted


def test_the_top_of_a_scale_is_round():
    for weight, top in ((1, 1), (0.5, 0.5), (0.51, 1), (0.2, 0.2), (0.011, 0.02), (7, 1)):
        assert base.round_up(weight) == top
    first, second = np.log([[[0.5, 0.5]], [[0.51, 0.49]]])
    assert AttentionHeatmap(first, compare=second).difference_max == 0.05
    assert AttentionHeatmap(first, compare=first).difference_max == 0.05


@pytest.mark.parametrize("widget", bundle.WIDGETS)
def test_joined_modules_declare_each_name_once(widget):
    source = bundle.sources(widget)["esm"]
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", source, re.MULTILINE)
    assert len(names) > 20 and len(names) == len(set(names))
    assert not re.search(r"^import ", source, re.MULTILINE)
    (exported,) = re.findall(r"^export .*", source, re.MULTILINE)
    assert re.fullmatch(r'export default onStage\(\w+View, "attn-heatmap[a-z -]*"\);', exported)


def test_every_module_is_in_the_bundle():
    used = {name for entry in bundle.WIDGETS.values() for name in bundle.modules(entry)}
    assert used == set(bundle.HERE.glob("*/*.js"))


def test_a_module_comes_after_what_it_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "HERE", tmp_path)
    (tmp_path / "a.js").write_text('import { c } from "./c.js";\nimport { b } from "./b.js";\n')
    (tmp_path / "b.js").write_text('import { c } from "./c.js";\nexport const b = c;\n')
    (tmp_path / "c.js").write_text("export const c = 1;\n")
    assert [path.name for path in bundle.modules("a.js")] == ["c.js", "b.js", "a.js"]
    assert bundle.join("b.js") == "const c = 1;\n\nexport const b = c;\n"
    (tmp_path / "c.js").write_text('import { a } from "./a.js";\n')
    with pytest.raises(ValueError, match=r"a\.js > c\.js > a\.js"):
        bundle.modules("a.js")


# laws of every widget


each = pytest.mark.parametrize("name", MAKE)
every = pytest.mark.parametrize("name", NAMES)


@every
def test_each_setting_takes_its_values_and_refuses_those_past_its_ends(name):
    """Of the widget that the book has saved."""
    here = SimpleNamespace(**SAVED[name]["state"])
    for trait, setting in settings_of(name).items():
        for value in setting.values(here):
            assert setting.check(here, value) == value
        for value in setting.refused(here):
            said = f"^{trait} must be "
            refuses((TypeError, ValueError), said, setting.check, here, value)


def test_ends_hang_on_what_a_widget_holds():
    for name, wrong, said in (
        ("LocalWindow", {"centre": 8.5}, "centre must be from 0 to 8, got 8.5"),
        ("NormalizerExplorer", {"k": 4}, "k must be 1 to 3, got 4"),
        ("HaystackExplorer", {"clusters": 33}, "clusters must be 1 to 32, got 33"),
        ("HaystackExplorer", {"query": 5}, "query must be 0 to 4 for 5 queries, got 5"),
        ("LayerHeadBrowser", {"kind": "decoder", "layer": 3}, "layer must be 0 to 2 for 3 layers"),
    ):
        refuses(ValueError, said, MAKE[name], **wrong)


@every
def test_its_settings_are_arguments_and_are_described(name):
    kind = getattr(widgets, name)
    given = inspect.signature(kind).parameters
    for trait in (*kind._settings, "title", "alt"):
        assert trait in given and re.search(rf"^ {{8}}[\w, ]*\b{trait}\b", kind.__doc__, re.M)


@each
def test_what_a_reader_sets_is_checked_too(name):
    """By the constructor, too; and what is refused changes nothing."""
    widget = MAKE[name]()
    refuses(TypeError, "takes no argument 'width of all'", MAKE[name], **{"width of all": 1})
    wrong = [
        (trait, value) for trait, one in widget._settings.items() for value in one.refused(widget)
    ]
    for trait, value in wrong:
        refuses((TypeError, ValueError), f"^{trait} must be ", MAKE[name], **{trait: value})
    for trait, value in [*wrong, *REFUSED.get(name, {}).items()]:
        before = getattr(widget, trait)
        refuses((TypeError, ValueError), trait, setattr, widget, trait, value)
        assert getattr(widget, trait) == before


@each
def test_a_saved_state_is_light_stable_and_holds_no_code(name):
    widget = MAKE[name]()
    kind = f"attnbook.widgets.{name}"
    assert widget._anywidget_id == kind and kind in bundle.WIDGETS
    assert kind in bundle.registry_script() and repr(widget) == repr(MAKE[name]())
    assert repr(widget).startswith(f"{name}(")
    state = type(widget).get_manager_state(widgets=[widget])
    size, stubbed = len(json.dumps(state)), stub_state(state)
    assert len(json.dumps(state)) == size, "the argument was changed"
    traits, kept = (s["state"][widget.model_id]["state"] for s in (state, stubbed))
    assert {key for key in traits if traits[key] != kept[key]} == {"_esm", "_css"}
    assert kept["_esm"] == STUB_ESM and "run this cell" in STUB_ESM.lower()
    assert size - len(json.dumps(stubbed)) > 10_000
    assert stub_state(state["state"]) == stubbed["state"], "the inner form works too"
    assert stub_state(stubbed) == stubbed


@pytest.mark.parametrize("widget", bundle.WIDGETS)
def test_its_colours_are_those_of_the_figures(widget):
    css = bundle.sources(widget)["css"]
    assert tuple(re.search(r"--ah-ramp: ([^;]*);", css)[1].split()) == plots.RAMP
