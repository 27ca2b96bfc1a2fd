"""The gate of `gpu` cells, both ways, and each of these cells on the CPU at small sizes."""

import ast
import builtins
import runpy
import symtable
import warnings
from functools import cache
from types import SimpleNamespace

import nbformat
import pytest
import torch
import yaml
from attn_edition import gated
from attnbook_testing.chapters import BOOK
from nbformat.v4 import new_code_cell, new_notebook

from devkit import gates, notebooks
from devkit.clean import KERNELSPEC
from experiments import card

GPU = ["gpu", "nbval-ignore-output"]
MISSING = "not measured here"  # what a page says below a cell that no GPU has run
WORKFLOWS = BOOK.parent / ".github/workflows"


@cache
def cells_of(page):
    """A notebook's cells."""
    return nbformat.read(BOOK / f"{page}.ipynb", as_version=4).cells


def tagged(cell):
    return "gpu" in cell.metadata.get("tags", [])


CELLS = [
    pytest.param(path.stem, place, id=f"{path.stem}-{cell.id}")
    for path in sorted(BOOK.glob("*.ipynb"))
    for place, cell in enumerate(cells_of(path.stem))
    if tagged(cell)
]


def names_of_statement(statement):
    """The names that a statement binds, and those that it reads, at any depth."""
    table = symtable.symtable(ast.unparse(statement), "a cell", "exec")
    symbols = table.get_symbols()
    bound = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    read = {s.get_name() for s in symbols if s.is_referenced()}
    tables = table.get_children()
    while tables:
        inner = tables.pop()
        tables += inner.get_children()
        read |= {s.get_name() for s in inner.get_symbols() if s.is_global()}
    if isinstance(statement, ast.AugAssign):
        return bound, read | bound
    return bound, read if isinstance(statement, ast.Assign) else read - bound


def names_of(tree):
    """The names that code binds at its top level, and those that it takes from elsewhere."""
    bound, taken = set(), set()
    for statement in tree.body:
        new, read = names_of_statement(statement)
        taken, bound = taken | (read - bound), bound | new
    return bound, taken


def prelude(cells, wanted):
    """The statements of earlier cells that give a cell its names, and no others: no training."""
    code = [
        ast.parse(cell.source) for cell in cells if cell.cell_type == "code" and not tagged(cell)
    ]
    statements = [ast.Module([statement], []) for tree in code for statement in tree.body]
    names = [names_of(statement) for statement in statements]
    taken, asked = set(), [(name, len(statements)) for name in wanted]
    while asked:
        name, before = asked.pop()
        found = [n for n in range(before) if name in names[n][0]]
        if not found or found[-1] in taken:
            continue
        taken.add(found[-1])
        late = isinstance(statements[found[-1]].body[0], ast.FunctionDef | ast.ClassDef)
        asked += [(inner, len(statements) if late else found[-1]) for inner in names[found[-1]][1]]
    return [statements[n] for n in sorted(taken)]


@pytest.mark.parametrize(("page", "place"), CELLS)
def test_each_gpu_cell_runs_on_the_cpu_at_small_sizes(page, place, monkeypatch, capsys):
    """With the names of its page; what would be compiled runs as it is."""
    cells = cells_of(page)
    small = cells[place].metadata.get("attnbook", {}).get("small", {})
    tree = gates.at_small_sizes(cells[place].source, small)
    _, read = names_of(tree)
    monkeypatch.setattr(torch, "compile", lambda f, **options: f)
    space = {"display": print, "__name__": page}
    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        for statement in prelude(cells[:place], read - set(dir(builtins))):
            exec(compile(statement, page, "exec"), space)
        exec(compile(tree, f"{page}, a gpu cell", "exec"), space)
    assert "cpu: no GPU" in capsys.readouterr().out, "it must print card.name(device)"


@pytest.mark.parametrize(("page", "place"), CELLS)
def test_the_page_says_what_was_not_measured_and_rests_on_no_gpu_cell(page, place):
    cells = cells_of(page)
    below = next(cell.source for cell in cells[place:] if cell.cell_type == "markdown")
    assert (MISSING in below) == (not cells[place].outputs)
    left, _ = names_of(ast.parse(cells[place].source))
    for cell in cells[place + 1 :]:
        if cell.cell_type == "code":
            bound, read = names_of(ast.parse(cell.source))
            assert not left & read, f"{cell.id} would read a name of the gpu cell"
            left -= bound


def test_the_slice_takes_what_is_needed_and_no_more():
    sources = [
        "import math\nslow = 1 / 0\nn = 2",
        "def f(x, slow=3):\n    return scale * x * slow",
        "scale = n + 1\nn = 5",
        "scale += math.floor(1.5)",
    ]
    cells = [new_code_cell(source) for source in sources]
    cells.insert(3, new_code_cell("scale = 100", metadata={"tags": GPU}))
    space = {}
    for statement in prelude(cells, {"f"}):
        exec(compile(statement, "slice", "exec"), space)
    assert space["f"](1) == 12  # three times (2 + 1) + 1
    assert "slow" not in space and space["n"] == 2


CELL = 'device, n = "cuda", 64\nm = 2 * n\nrun(device, m)'


def test_small_values_take_the_place_of_the_names_at_the_top():
    ran = []
    exec(
        compile(gates.at_small_sizes(CELL, {"n": 4}), "x", "exec"),
        {"run": lambda *a: ran.append(a)},
    )
    assert ran == [("cpu", 8)]


@pytest.mark.parametrize(
    ("source", "small", "says"),
    [
        ("n = 4\nrun(n)", {}, "must begin with names"),
        ('run()\ndevice = "cuda"', {}, "must begin with names"),
        ('device = "cpu"', {}, "must begin with names"),
        (CELL, {"k": 1}, "not at its top: k"),
        (CELL + "\nrun(n)\nk = 3", {"k": 1}, "not at its top: k"),
        (CELL + "\nx.cuda()", {}, "no other `cuda`"),
        (CELL + '\nx.to("cuda:0")', {}, "no other `cuda`"),
    ],
)
def test_a_cell_in_another_form_is_refused(source, small, says):
    with pytest.raises(ValueError, match=says):
        gates.at_small_sizes(source, small)


@pytest.fixture(params=[True, False], ids=["a GPU", "no GPU"])
def there(request, monkeypatch):
    """A machine with a GPU, and one without, as torch would say it."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: request.param)
    gates.has_cuda.cache_clear()
    yield request.param
    gates.has_cuda.cache_clear()


def test_the_gate_opens_where_torch_sees_a_gpu(there):
    assert (gates.why_skipped(GPU) is None) == there
    assert gates.why_skipped(["nbval-ignore-output"]) is None


def test_nbval_skips_or_runs_by_the_gate(there):
    marks = []
    item = SimpleNamespace(cell=SimpleNamespace(metadata={"tags": GPU}), add_marker=marks.append)
    config = SimpleNamespace(option=SimpleNamespace(nbval_kernel_name="x"))
    runpy.run_path(str(BOOK / "conftest.py"))["pytest_collection_modifyitems"](config, [item])
    assert [mark.name for mark in marks] == ([] if there else ["skip"])


def test_the_runner_takes_or_keeps_an_output_by_the_gate(there, tmp_path):
    path = tmp_path / "page.ipynb"
    stored = [nbformat.v4.new_output("stream", text="another card\n")]
    cell = new_code_cell(
        'device = "cuda"\nprint("ran")', metadata={"tags": GPU}, outputs=stored, execution_count=1
    )
    nbformat.write(new_notebook(cells=[cell], metadata={"kernelspec": KERNELSPEC}), path)
    notebooks.run(path)
    (output,) = nbformat.read(path, as_version=4).cells[0].outputs
    assert output.text == ("ran\n" if there else "another card\n")


def test_the_readers_cell_asks_torch_itself(there, capsys):
    exec(gated('device = "cuda"\nprint("ran on", device)', GPU), {"torch": torch})
    assert ("ran on cuda" if there else "Skipped") in capsys.readouterr().out


def test_a_cost_is_the_least_time_and_off_a_card_no_memory():
    calls = []
    found = card.cost(lambda: calls.append(1), "cpu", times=3)
    assert len(calls) == 4 and 0 <= found.ms < 100
    assert found.megabytes != found.megabytes  # nan


def test_on_a_card_the_clock_waits_and_memory_is_beside_what_was_held(monkeypatch):
    said = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: said.append("waited"))
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: said.append("reset"))
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: 3_000_000)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 8_000_000)
    found = card.cost(lambda: said.append("worked"), "cuda", times=2)
    assert said == ["worked", "waited", "reset", "worked", "waited", "worked", "waited"]
    assert found.megabytes == 5
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a card")
    assert card.name("cuda") == "a card"


def test_a_workflow_runs_the_pages_with_the_gate_open():
    job = yaml.safe_load((WORKFLOWS / "gpu.yml").read_text("utf-8"))
    assert list(job[True]) == ["workflow_dispatch"]  # YAML's `on`: by hand alone
    ((_, steps),) = [(name, found["steps"]) for name, found in job["jobs"].items()]
    run = "\n".join(step.get("run", "") for step in steps)
    assert "torch.cuda.is_available()" in run and "--nbval book" in run
