"""The house rules: rooms import upward only, heavy imports are lazy, everything says its source."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import tomllib

import attnbook as ab
from attnbook import data, metrics

PACKAGE = Path(ab.__file__).parent
# the files in their order; one imports only from files above it
ROOMS = [
    {"_cache", "_checks", "_progress", "_tree", "peers", "source"},  # import nothing of ours
    {"masks"},
    {"normalize"},
    {"scores"},
    {"attention"},
    {"multihead", "positions"},
    {"cells", "key_blocks", "stack"},  # what the models below are made of
    {"branches", "recurrent_encoder"},
    {"recurrent", "transformer", "sparse", "selective", "cheap"},  # and what a later chapter adds
    {"local"},  # a decoder of the recurrent family, with windows
    {"decoding", "training", "metrics"},
    {"data"},
    {"plots", "widgets"},  # pictures by Python and by the browser: neither needs the other
]
PLACED = set.union(*ROOMS)
ROOMS[8] |= {p.stem for p in PACKAGE.glob("*.py")} - PLACED - {"__init__"}
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
# these are no models and import none: the sampler's widget cuts by `truncate`, the haystack
# explorer chooses by `cheap`, the bench finds its counterfeits by `explanation`
NO_MODELS = {"positions", "decoding", "cheap", "key_blocks", "branches", "explanation"}
PICTURES = {"data", "plots", "widgets"}
MODELS = set.union(*ROOMS[5:11]) - NO_MODELS
CORE = ["masks", "normalize", "scores", "attention"]


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(code, path):
    """What a file of the package imports of ours, wherever in it the statement stands."""
    here = ("attnbook", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] in ("attnbook", "experiments"))


def imported_rooms(code, path):
    """The rooms of what it imports; `experiments` stands beside the package, not in its wheel."""
    for name in imported_names(code, path):
        top, *inside = name.split(".")
        yield top if top == "experiments" or not inside else inside[0]


def breaches(code, path):
    """Imports in `code`, a file at `path`, that the order of the rooms forbids."""
    room = room_of(path)
    for other in set(imported_rooms(code, path)) - {room}:
        up = other in LEVEL and LEVEL[other] <= LEVEL[room]
        if LEVEL[room] == LEVEL.get(other):
            up = room not in {*ROOMS[0], *PICTURES}
        if not up or (room in PICTURES | NO_MODELS and other in MODELS):
            yield f"{room} imports {other}"


FILES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


def test_every_room_that_is_placed_is_there():
    assert PLACED == {room_of(path) for path in FILES} & PLACED


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_rooms_import_only_from_rooms_above(path):
    wrong = list(breaches(path.read_text("utf-8"), path))
    assert not wrong, (
        f"{wrong}: of ours it may import what stands above it in ROOMS; a picture, no model"
    )


def test_no_files_import_each_other():
    modules = {".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts): p for p in FILES}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph = {}
    for name, path in modules.items():
        found = imported_names(path.read_text("utf-8"), path)
        files = {n if n in modules else n.rpartition(".")[0] for n in found}
        graph[name] = files & modules.keys()
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("masks.py", "from .attention import attention"),
        ("masks.py", "def f():\n    from attnbook.scores import dot"),
        ("normalize.py", "import attnbook.scores"),
        ("normalize.py", "from . import scores"),
        ("scores.py", "import attnbook"),
        ("training.py", "from experiments.stored import load_weights"),
        ("scores.py", "from attnbook import attention"),
        ("plots.py", "from .transformer import Encoder"),
        ("plots.py", "from .widgets import AttentionHeatmap"),
        ("widgets/heatmap.py", "from .. import plots"),
        ("cheap.py", "from .selective import SelectiveNode"),
        ("widgets/deep/heatmap.py", "from ...multihead import MultiHeadAttention"),
        ("transformer.py", "from . import plots"),
        ("_checks.py", "from .source import show_source"),
    ],
)
def test_a_breach_is_seen(file, code):
    assert list(breaches(code, PACKAGE / file))


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("masks.py", "import torch\nfrom ._checks import shape"),
        ("attention.py", "from .normalize import masked_softmax\nfrom .scores import dot"),
        ("widgets/heatmap.py", "from ..normalize import masked_softmax\nfrom . import bundle"),
        ("transformer.py", "from .multihead import MultiHeadAttention\nfrom .recurrent import GRU"),
    ],
)
def test_an_allowed_import_is_allowed(file, code):
    assert list(breaches(code, PACKAGE / file)) == []


def test_importing_the_package_is_light():
    heavy = {"matplotlib", "anywidget", "ipywidgets", "d2l", "hypothesis", "pandas", "scipy"}
    code = "import sys, attnbook; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "torch" in loaded and loaded & heavy == set()


def test_every_name_on_offer_is_there():
    assert len(set(ab.__all__)) == len(ab.__all__)
    for name in ab.__all__:
        assert getattr(ab, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'atention'"):
        _ = ab.atention


def test_every_public_name_of_the_core_is_on_offer():
    for room in CORE:
        public = {name for name, _ in public_things(room)}
        assert public and public <= set(ab.__all__)


def public_things(room):
    module = importlib.import_module(f"attnbook.{room}")
    for name, thing in vars(module).items():
        ours = getattr(thing, "__module__", None) == f"attnbook.{room}"
        if ours and not name.startswith("_") and (inspect.isclass(thing) or callable(thing)):
            yield name, thing


THINGS = [
    pytest.param(room, thing, id=f"{room}.{name}")
    for room in [*CORE, "peers", "source", "multihead", "transformer"]
    for name, thing in public_things(room)
]
THINGS += [
    pytest.param(room.__name__, getattr(room, name), id=f"{room.__name__}.{name}")
    for room in (metrics, data)
    for name in room.__all__
    if callable(getattr(room, name))
]


@pytest.mark.parametrize(("room", "thing"), THINGS)
def test_docstrings(room, thing):
    text = inspect.getdoc(thing)
    assert text and thing.__doc__  # its own, not one inherited from torch
    assert re.match(r"[^\n]{10,}\.(\n\n|$)", text), "one line of purpose, then a blank line"
    if room in CORE:
        assert re.search(r"\((\.\.\., |b, |b, h, )?[qk], [dk]\w*\)|Args.* as in|as in `", text)
    if inspect.isclass(thing):
        for name, method in vars(thing).items():
            if inspect.isfunction(method) and not name.startswith("_") and name != "forward":
                assert method.__doc__


def test_version_is_the_distributions():
    settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))
    assert ab.__version__ == settings["project"]["version"]
