"""The notebook runner and checker, and the committed notebooks themselves."""

import base64
import os
import random
import runpy
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnbook.data.pins import PINNED
from devkit import (
    check,
    clean,
    gates,
    notebooks,
)

ROOT = Path(__file__).resolve().parents[2]


# a proxy that nobody is: what an unplugged cable is to `requests`, at once
OFFLINE = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "NO_PROXY": ""}
OFFLINE |= {"no_proxy": ""}

ALT = {"mystnb": {"image": {"alt": "A picture of something"}}}
ON_GPU = 'device = "cuda"\nbig(device)'
COMMITTED = sorted((ROOT / "book").glob("*.ipynb"))


def png(size=300):
    data = base64.b64encode(bytes(size)).decode()
    return new_output("display_data", {"image/png": data, "text/plain": "<Figure>"})


def view(model_id):
    mime = {clean.WIDGET_VIEW: {"model_id": model_id, "version_major": 2, "version_minor": 0}}
    return new_output("display_data", mime)


def executed(*cells):
    """A notebook in its committed form, from cells that hold their outputs."""
    return clean.clean(new_notebook(cells=list(cells)), "test")


def good():
    """A notebook with one cell of each kind and nothing to complain about."""
    nb = executed(
        new_markdown_cell("# Title\n\n![a square](square.png)"),
        new_code_cell("1 + 1", outputs=[new_output("execute_result", {"text/plain": "2"})]),
        new_code_cell("draw()", outputs=[png()], metadata=ALT),
        new_code_cell(ON_GPU, metadata={"tags": ["gpu", "nbval-ignore-output"]}),
        new_code_cell("widget()", outputs=[view("a" * 32)], metadata=ALT),
    )
    model = {"model_name": "AnyModel", "state": {"_anywidget_id": "x.Y", "_esm": "stub"}}
    nb.metadata["widgets"] = {clean.WIDGET_STATE: {"state": {"a" * 32: model}}}
    return nb


def test_a_good_notebook_passes():
    assert check.problems(good()) == []


def shown(cell, *outputs):
    cell.outputs = list(outputs)


def printed(cell, text, name="stdout"):
    shown(cell, new_output("stream", name=name, text=text))


def described(cell, **metadata):
    cell.metadata = nbformat.from_dict(metadata)


GPU = {"tags": ["gpu", "nbval-ignore-output"]}
BLANK = {"image": {"alt": "  "}}
SVG = new_output("display_data", {"image/svg+xml": "<svg>" + "x" * 60_000})
ERROR = new_output("error", ename="ValueError", evalue="no", traceback=[])
STATE = {"_anywidget_id": "x.Y", "_esm": "x" * 2_000}
OTHER = {"display_name": "mine", "language": "python", "name": "mine"}
RUN = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
FAULTS = [  # what is wrong with which part of a good notebook, and words that name it
    ("not executed", lambda nb: nb.cells[1].update(execution_count=None)),
    ("execution count 7, not 1", lambda nb: nb.cells[1].update(execution_count=7)),
    ("execution count 1, not 2", lambda nb: nb.cells[2].update(execution_count=1)),
    ("not executed", lambda nb: printed(nb.cells[3], "fast")),  # outputs without a count
    ("ends in ValueError", lambda nb: shown(nb.cells[1], ERROR)),
    ("figure of 60 kB", lambda nb: shown(nb.cells[2], png(60_100))),
    ("figure of 60 kB", lambda nb: shown(nb.cells[2], SVG)),
    ("without alternative text", lambda nb: described(nb.cells[2])),
    ("without alternative text", lambda nb: described(nb.cells[2], mystnb=BLANK)),
    ("without alternative text", lambda nb: described(nb.cells[4])),  # a widget
    ("without alternative text", lambda nb: nb.cells[0].update(source="![](square.png)")),
    ("notebook metadata ['colab']", lambda nb: nb.metadata.update(colab={"provenance": []})),
    ("language_info", lambda nb: nb.metadata["language_info"].update(version="3.11.7")),
    ("kernelspec", lambda nb: nb.metadata.update(kernelspec=OTHER)),
    ("metadata ['execution']", lambda nb: nb.cells[1].metadata.update(execution=RUN)),
    (
        "output metadata ['needs_background']",
        lambda nb: nb.cells[1].outputs[0].metadata.update(needs_background="light"),
    ),
    ("two with the same", lambda nb: nb.cells[2].update(id=nb.cells[1].id)),
    ("/home/someone", lambda nb: printed(nb.cells[1], "saved to /home/someone/x.pt\n")),
    ("ipykernel_123", lambda nb: printed(nb.cells[1], "ipykernel_123/45.py:1: hm", "stderr")),
    ("path of a machine", lambda nb: printed(nb.cells[1], "C:\\Users\\someone\\x.pt")),
    ("/home/someone", lambda nb: nb.cells[1].update(source="open('/home/someone/mine.txt')")),
    ("prints '0x...'", lambda nb: printed(nb.cells[1], "<object object at 0x...>")),
    ("prints '<cell>'", lambda nb: printed(nb.cells[1], "<cell>:1: UserWarning: x", "stderr")),
    ("prints a table", lambda nb: printed(nb.cells[1], "   left  right\none  0.22   1.00")),
    ("prints a table", lambda nb: printed(nb.cells[1], "right  a  b\none   0.22  –\ntwo   1.00")),
    ("ends with ';'", lambda nb: nb.cells[1].update(source="1 + 1;\n")),
    ("not nbval-ignore-output", lambda nb: nb.cells[3].metadata.update(tags=["gpu"])),
    ("no other `cuda`", lambda nb: nb.cells[3].update(source=ON_GPU + "\nx.cuda()")),
    ("must begin with names", lambda nb: nb.cells[3].update(source="big()")),
    ("not at its top: n", lambda nb: described(nb.cells[3], attnbook={"small": {"n": 2}}, **GPU)),
    ("carries its source", lambda nb: widgets(nb)["a" * 32].update(state=STATE)),
    ("state is not saved", lambda nb: nb.metadata.pop("widgets")),
]


def widgets(nb):
    return nb.metadata["widgets"][clean.WIDGET_STATE]["state"]


@pytest.mark.parametrize(("complaint", "spoil"), FAULTS)
def test_each_fault_is_named(complaint, spoil):
    nb = good()
    spoil(nb)
    found = check.problems(nb)
    assert any(complaint in line for line in found), found


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_committed_notebooks_are_in_form(path):
    nb = nbformat.read(path, as_version=4)
    assert check.problems(nb) == []
    assert clean.clean(nbformat.from_dict(nb), path.stem) == nb, "run `make notebooks`"


@pytest.mark.parametrize("seed", range(3))
def test_widget_ids_rest_neither_on_chance_nor_on_order(seed):
    """Two shown widgets and an unshown one, each with a layout, under random ids."""
    chance = random.Random(seed)

    def cleaned():
        ids = [f"{chance.getrandbits(128):032x}" for _ in range(6)]
        models = {}
        for n, (widget, layout) in enumerate(zip(ids[::2], ids[1::2], strict=True)):
            models[widget] = {"state": {"layout": f"IPY_MODEL_{layout}", "title": str(n)}}
            models[layout] = {"state": {}}
        order = chance.sample(ids, 6)
        nb = new_notebook(
            cells=[new_code_cell(f"w{n}", outputs=[view(ids[2 * n])], id=f"w{n}") for n in (1, 0)]
        )
        state = {model: models[model] for model in order}
        nb.metadata["widgets"] = {clean.WIDGET_STATE: {"state": state}}
        return clean.clean(nb, "test")

    first, second = cleaned(), cleaned()
    assert first == second
    assert clean.clean(nbformat.from_dict(first), "test") == first


def write(path, *cells):
    nb = new_notebook(cells=list(cells), metadata={"kernelspec": clean.KERNELSPEC})
    nbformat.write(nb, path)
    return path


def small_notebook(path):
    """A notebook with everything that differs from run to run, and no torch."""
    return write(
        path,
        new_code_cell("import sys, time\nprint('one')\nprint('two', flush=True)\n1 / 4"),
        new_code_cell("import ipywidgets\nipywidgets.IntSlider()", metadata=ALT | {"a": 1}),
        new_code_cell("print(time.time())", metadata={"tags": ["nbval-ignore-output"]}),
        new_code_cell("print(object())", metadata={"tags": ["nbval-ignore-output"]}),
        new_code_cell(ON_GPU, metadata=GPU),
        new_code_cell("import os\nprint(os.environ['OMP_NUM_THREADS'], sys.executable)"),
    )


@pytest.fixture(scope="module")
def run_twice(tmp_path_factory):
    path = tmp_path_factory.mktemp("notebook") / "small.ipynb"
    small_notebook(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gates, "has_cuda", lambda: False)
        notebooks.run(path)
        first = path.read_bytes()
        changed = notebooks.run(path)
    return first, path.read_bytes(), changed


def test_the_runner_leaves_a_notebook_in_form_and_a_second_run_changes_no_byte(run_twice):
    first, second, changed = run_twice
    assert first == second and not changed
    nb = nbformat.reads(first.decode(), as_version=4)
    machine = [line for line in check.problems(nb) if "path of a machine" not in line]
    assert machine == []  # the last cell prints the interpreter's path on purpose
    assert nb.cells[0].outputs[0].text == "one\ntwo\n"
    assert "0x..." in nb.cells[3].outputs[0].text
    assert [c.execution_count for c in nb.cells] == [1, 2, 3, 4, None, 5]
    expected = f"1 {sys.executable}\n"  # one thread, this interpreter
    for pattern, replacement in clean.REPLACEMENTS:
        expected = pattern.sub(replacement, expected)
    assert nb.cells[-1].outputs[0].text == expected


def test_gated_cells_keep_their_stored_outputs(tmp_path, monkeypatch):
    monkeypatch.setattr(gates, "has_cuda", lambda: False)
    monkeypatch.setattr(gates, "why_no_corpora", lambda: "not here")
    path = tmp_path / "gated.ipynb"
    stored = [new_output("stream", text="measured elsewhere")]
    write(
        path,
        new_code_cell("1 / 0", metadata={"tags": ["gpu"]}, outputs=stored, execution_count=1),
        new_code_cell("1 / 0", metadata={"tags": ["data"]}, outputs=stored, execution_count=2),
        new_code_cell("1 + 1"),
    )
    notebooks.run(path)
    nb = nbformat.read(path, as_version=4)
    assert [c.outputs[0].get("text") for c in nb.cells] == ["measured elsewhere"] * 2 + [None]
    assert [c.execution_count for c in nb.cells] == [1, 2, 3]
    assert [c.metadata.tags for c in nb.cells[:2]] == [["gpu"], ["data"]]


def ignored(text, source="log()", picture=""):
    outputs = [new_output("stream", text=text)]
    if picture:
        outputs = [new_output("display_data", {"image/png": picture, "text/plain": "<Figure>"})]
    tagged = {"tags": ["nbval-ignore-output"]}
    return new_code_cell(source, id=source[:3], metadata=tagged, outputs=outputs)


@pytest.mark.parametrize(
    "before, after, kept",
    [
        ("epoch 1 took 2.31 s", "epoch 1 took 4.57 s", True),
        ("milliseconds\nn = 64: 2.31", "milliseconds\nn = 64: 4.57", True),
        ("epoch 1 took 2.31 s", "epoch 1 took long", False),
        ("loss 1.40, right 0.207", "loss 1.38, right 0.211", True),
        ("loss 1.40, right 0.207", "loss 1.11, right 0.207", False),
        ("classes 3", "classes 4", False),
    ],
)
def test_ignored_outputs_are_kept_while_they_say_the_same(before, after, kept):
    old, new = (new_notebook(cells=[ignored(text)]) for text in (before, after))
    clean.keep_ignored(old, new)
    assert new.cells[0].outputs[0].text == (before if kept else after)


def test_ignored_outputs_of_another_source_are_new():
    old = new_notebook(cells=[ignored("took 2.31 s")])
    new = new_notebook(cells=[ignored("took 2.57 s", source="log(2)")])
    clean.keep_ignored(old, new)
    assert new.cells[0].outputs[0].text == "took 2.57 s"


@pytest.mark.parametrize("loss, kept", [("1.39", True), ("1.11", False)])
def test_an_ignored_picture_is_kept_while_no_number_has_moved(loss, kept):
    old = new_notebook(cells=[ignored("loss 1.40"), ignored("", "plot()", "OLD=")])
    new = new_notebook(cells=[ignored(f"loss {loss}"), ignored("", "plot()", "NEW=")])
    clean.keep_ignored(old, new)
    assert new.cells[1].outputs[0].data["image/png"] == ("OLD=" if kept else "NEW=")


@pytest.mark.parametrize("edited", [False, True])
def test_an_edited_page_keeps_no_stored_output(tmp_path, monkeypatch, edited):
    """The stored outputs of an edited page are of the code before the edit."""
    kept = []
    monkeypatch.setattr(notebooks, "execute", lambda nb, folder: None)
    monkeypatch.setattr(notebooks, "processor_seconds", lambda: 1.0)
    monkeypatch.setattr(notebooks, "note_time", lambda nb, seconds: edited)
    monkeypatch.setattr(notebooks, "keep_ignored", lambda old, nb: kept.append(nb))
    monkeypatch.setattr(notebooks, "clean", lambda nb, name: nb)
    notebooks.executed(tmp_path / "book" / "01_page.ipynb", new_notebook(), new_notebook(), False)
    assert len(kept) == (not edited)


def test_a_broken_notebook_stops_the_runner(tmp_path, capsys):
    path = write(tmp_path / "broken.ipynb", new_code_cell("1 / 0"))
    before = path.read_bytes()
    assert notebooks.main([str(path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_the_checker_exits_non_zero(tmp_path, capsys):
    path = write(tmp_path / "raw.ipynb", new_code_cell("1 + 1"))
    assert notebooks.main(["--check", str(path)]) == 1
    assert "not executed" in capsys.readouterr().err
    assert notebooks.main(["--check", str(tmp_path / "absent.ipynb")]) == 2


def test_gates_give_reasons_and_ask_only_when_needed(monkeypatch):
    monkeypatch.setattr(gates, "has_cuda", lambda: False)
    monkeypatch.setattr(gates, "why_no_corpora", lambda: "the disk is full")
    assert "cuda" in gates.why_skipped(["gpu"])
    reason = gates.why_skipped(["data"])
    assert "disk is full" in reason and "ATTNBOOK_DATA" in reason
    monkeypatch.setattr(gates, "why_no_corpora", lambda: None)
    monkeypatch.setattr(gates, "has_cuda", lambda: True)
    assert gates.why_skipped(["gpu"]) is gates.why_skipped(["data"]) is None
    for question in ("has_cuda", "why_no_corpora"):
        monkeypatch.setattr(gates, question, lambda: pytest.fail("asked for a plain cell"))
    assert gates.why_skipped(["nbval-ignore-output"]) is None


def test_the_gate_looks_for_the_corpora_and_not_for_a_variable(tmp_path, monkeypatch):
    def ask(data, cache):
        monkeypatch.setenv("ATTNBOOK_DATA", str(data))
        monkeypatch.setenv("ATTNBOOK_CACHE", str(cache))
        fresh = runpy.run_path(gates.__file__)  # as if for the first time
        return fresh["why_no_corpora"](), fresh["KERNEL_ENV"]

    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert "does not answer" in ask(data="", cache=tmp_path)[0]
    assert "does not answer" in ask(data=tmp_path, cache="")[0]
    for name in PINNED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"broken, which the cell is to say")
    assert ask(data="", cache=tmp_path)[0] is None
    reason, environment = ask(data=".", cache="nowhere")
    assert reason is None
    assert environment["ATTNBOOK_DATA"] == str(tmp_path)  # a kernel starts in another folder


def path_of(*folders):
    return os.pathsep.join(str(ROOT / folder) for folder in folders)


def nbval(folder):
    """`pytest --nbval` on a folder with the book's gates, where other kernelspecs come first.

    No corpus can be had: the cache is empty, and the network a port that nobody listens on.
    """
    environment = {k: v for k, v in os.environ.items() if k != "ATTNBOOK_DATA"}
    environment |= OFFLINE | {"ATTNBOOK_CACHE": str(folder / "no corpora")}
    options = ["-p", "conftest", "-p", "no:cacheprovider", "-rs", "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", *options, "."],
        cwd=folder,
        env=environment | {"JUPYTER_PATH": str(folder), "PYTHONPATH": path_of("book", "code")},
        capture_output=True,
        text=True,
    )


def test_nbval_takes_the_committed_digits_and_no_other(tmp_path):
    """A committed notebook with two printed results, and a kernelspec that leads astray."""
    astray = tmp_path / "kernels" / "python3"
    astray.mkdir(parents=True)
    (astray / "kernel.json").write_text('{"argv": ["false"], "display_name": "x"}')
    cells = [new_code_cell("values = [1 / 4, 3 / 4]\nvalues"), new_code_cell("print(sum(values))")]
    honest = write(tmp_path / "honest.ipynb", *cells)
    notebooks.run(honest)
    text = honest.read_text(encoding="utf-8")
    assert text.count("0.75]") == text.count("1.0\\n") == 1
    forged = text.replace("0.75]", "0.76]").replace("1.0\\n", "1.1\\n")
    (tmp_path / "forged.ipynb").write_text(forged, encoding="utf-8")
    nb = nbformat.read(honest, as_version=4)
    nb.cells.append(new_code_cell("1 / 0", metadata={"tags": ["data", "nbval-ignore-output"]}))
    nbformat.write(nb, honest)
    done = nbval(tmp_path)
    assert done.returncode == 1 and "2 failed, 2 passed, 1 skipped" in done.stdout, done.stdout
    assert "forged.ipynb FF" in done.stdout and "honest.ipynb ..s" in done.stdout
    assert "ATTNBOOK_DATA can name a folder" in done.stdout
