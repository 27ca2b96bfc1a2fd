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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "code" / "tools"))

import check  # noqa: E402
import clean  # noqa: E402
import gates  # noqa: E402
import notebooks  # noqa: E402

from attnbook.data.pins import PINNED  # noqa: E402

# a proxy that nobody is: what an unplugged cable is to `requests`, at once
OFFLINE = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "NO_PROXY": ""}
OFFLINE |= {"no_proxy": ""}

ALT = {"mystnb": {"image": {"alt": "A picture of something"}}}
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
        new_code_cell("big()", metadata={"tags": ["gpu", "nbval-ignore-output"]}),
        new_code_cell("widget()", outputs=[view("a" * 32)], metadata=ALT),
    )
    model = {"model_name": "AnyModel", "state": {"_anywidget_id": "x.Y", "_esm": "stub"}}
    nb.metadata["widgets"] = {clean.WIDGET_STATE: {"state": {"a" * 32: model}}}
    return nb


def test_a_good_notebook_passes():
    assert check.problems(good()) == []


def unexecuted(nb):
    nb.cells[1].execution_count = None


def out_of_order(nb):
    nb.cells[1].execution_count = 7


def counted_twice(nb):
    nb.cells[2].execution_count = 1


def gpu_outputs_without_count(nb):
    nb.cells[3].outputs = [new_output("stream", text="fast")]


def error(nb):
    nb.cells[1].outputs = [new_output("error", ename="ValueError", evalue="no", traceback=[])]


def heavy_png(nb):
    nb.cells[2].outputs = [png(60_100)]


def heavy_svg(nb):
    nb.cells[2].outputs = [new_output("display_data", {"image/svg+xml": "<svg>" + "x" * 60_000})]


def figure_without_alt(nb):
    nb.cells[2].metadata = nbformat.from_dict({})


def blank_alt(nb):
    nb.cells[2].metadata = nbformat.from_dict({"mystnb": {"image": {"alt": "  "}}})


def widget_without_alt(nb):
    nb.cells[4].metadata = nbformat.from_dict({})


def text_image_without_alt(nb):
    nb.cells[0].source = "![](square.png)"


def editor_metadata(nb):
    nb.metadata["colab"] = {"provenance": []}


def patch_version(nb):
    nb.metadata["language_info"]["version"] = "3.11.7"


def other_kernel(nb):
    nb.metadata["kernelspec"] = {"display_name": "mine", "language": "python", "name": "mine"}


def timings(nb):
    nb.cells[1].metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}


def output_metadata(nb):
    nb.cells[1].outputs[0].metadata["needs_background"] = "light"


def same_id_twice(nb):
    nb.cells[2].id = nb.cells[1].id


def path_in_output(nb):
    nb.cells[1].outputs = [new_output("stream", text="saved to /home/someone/x.pt\n")]


def path_in_traceback(nb):
    nb.cells[1].outputs = [new_output("stream", name="stderr", text="ipykernel_123/45.py:1: hm")]


def windows_path(nb):
    nb.cells[1].outputs = [new_output("stream", text="C:\\Users\\someone\\x.pt")]


def path_in_source(nb):
    nb.cells[1].source = "open('/home/someone/mine.txt')"


def address(nb):
    nb.cells[1].outputs = [new_output("stream", text="<object object at 0x...>")]


def warning(nb):
    text = "<cell>:1: UserWarning: mind"
    nb.cells[1].outputs = [new_output("stream", name="stderr", text=text)]


def semicolon(nb):
    nb.cells[1].source = "1 + 1;\n"


def compared_gpu_cell(nb):
    nb.cells[3].metadata["tags"] = ["gpu"]


def widget_source(nb):
    nb.metadata["widgets"][clean.WIDGET_STATE]["state"]["a" * 32]["state"]["_esm"] = "x" * 2_000


def widget_without_state(nb):
    del nb.metadata["widgets"]


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (unexecuted, "not executed"),
        (out_of_order, "execution count 7, not 1"),
        (counted_twice, "execution count 1, not 2"),
        (gpu_outputs_without_count, "not executed"),
        (error, "ends in ValueError"),
        (heavy_png, "figure of 60 kB"),
        (heavy_svg, "figure of 60 kB"),
        (figure_without_alt, "without alternative text"),
        (blank_alt, "without alternative text"),
        (widget_without_alt, "without alternative text"),
        (text_image_without_alt, "without alternative text"),
        (editor_metadata, "notebook metadata ['colab']"),
        (patch_version, "language_info"),
        (other_kernel, "kernelspec"),
        (timings, "metadata ['execution']"),
        (output_metadata, "output metadata ['needs_background']"),
        (same_id_twice, "two with the same"),
        (path_in_output, "/home/someone"),
        (path_in_traceback, "ipykernel_123"),
        (windows_path, "path of a machine"),
        (path_in_source, "/home/someone"),
        (address, "prints '0x...'"),
        (warning, "prints '<cell>'"),
        (semicolon, "ends with ';'"),
        (compared_gpu_cell, "not nbval-ignore-output"),
        (widget_source, "carries its source"),
        (widget_without_state, "state is not saved"),
    ],
)
def test_each_fault_is_named(spoil, complaint):
    nb = good()
    spoil(nb)
    found = check.problems(nb)
    assert any(complaint in line for line in found), found


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_committed_notebooks_are_in_form(path):
    nb = nbformat.read(path, as_version=4)
    assert check.problems(nb) == []
    assert clean.clean(nbformat.from_dict(nb), path.stem) == nb, "run `make notebooks`"


@pytest.mark.parametrize("seed", range(5))
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
        new_code_cell("fast()", metadata={"tags": ["gpu", "nbval-ignore-output"]}),
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


def test_a_second_run_changes_no_byte(run_twice):
    first, second, changed = run_twice
    assert first == second
    assert not changed


def test_the_runner_leaves_a_notebook_in_form(run_twice):
    nb = nbformat.reads(run_twice[0].decode(), as_version=4)
    machine = [line for line in check.problems(nb) if "path of a machine" not in line]
    assert machine == []  # the last cell prints the interpreter's path on purpose
    assert nb.cells[0].outputs[0].text == "one\ntwo\n"
    assert "0x..." in nb.cells[3].outputs[0].text
    assert [c.execution_count for c in nb.cells] == [1, 2, 3, 4, None, 5]


def test_the_kernel_is_this_interpreter_on_one_thread(run_twice):
    nb = nbformat.reads(run_twice[0].decode(), as_version=4)
    expected = f"1 {sys.executable}\n"
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


def test_ignored_outputs_are_renewed_when_their_words_change():
    def cell(text, source="log()"):
        return new_code_cell(
            source,
            id="x",
            metadata={"tags": ["nbval-ignore-output"]},
            outputs=[new_output("stream", text=text)],
        )

    def kept(new):
        old = new_notebook(cells=[cell("epoch 1 took 2.31 s")])
        new = new_notebook(cells=[new])
        clean.keep_same_but_for_numbers(old, new)
        return new.cells[0].outputs[0].text

    assert kept(cell("epoch 1 took 2.57 s")) == "epoch 1 took 2.31 s"
    assert kept(cell("epoch 1 took long")) == "epoch 1 took long"
    assert kept(cell("epoch 1 took 2.57 s", source="log(2)")) == "epoch 1 took 2.57 s"


def test_progress_bars_leave_their_last_state():
    text = "  0%|\r 50%|\r100%|\ndone\n"
    nb = executed(new_code_cell("bar()", outputs=[new_output("stream", text=text)]))
    assert nb.cells[0].outputs[0].text == "100%|\ndone\n"


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


def test_gates_give_reasons(monkeypatch):
    monkeypatch.setattr(gates, "has_cuda", lambda: False)
    monkeypatch.setattr(gates, "why_no_corpora", lambda: "the disk is full")
    assert gates.why_skipped([]) is None
    assert "cuda" in gates.why_skipped(["gpu"])
    assert "disk is full" in gates.why_skipped(["data"])
    assert "ATTNBOOK_DATA" in gates.why_skipped(["data"])
    monkeypatch.setattr(gates, "why_no_corpora", lambda: None)
    monkeypatch.setattr(gates, "has_cuda", lambda: True)
    assert gates.why_skipped(["gpu"]) is None
    assert gates.why_skipped(["data"]) is None


def test_a_question_is_asked_only_when_needed(monkeypatch):
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


def nbval(folder, path):
    """`pytest --nbval FILE` with the book's gates, where other kernelspecs come first.

    No corpus can be had: the cache is empty, and the network a port that nobody listens on.
    """
    environment = {k: v for k, v in os.environ.items() if k != "ATTNBOOK_DATA"}
    environment |= OFFLINE | {"ATTNBOOK_CACHE": str(folder / "no corpora")}
    options = ["-p", "conftest", "-p", "no:cacheprovider", "-rs", "--rootdir", str(folder)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", *options, str(path)],
        cwd=folder,
        env=environment | {"JUPYTER_PATH": str(folder), "PYTHONPATH": path_of("book", "code")},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def digits(tmp_path):
    """A committed notebook with two printed results, and a kernelspec that leads astray."""
    astray = tmp_path / "kernels" / "python3"
    astray.mkdir(parents=True)
    (astray / "kernel.json").write_text('{"argv": ["false"], "display_name": "x"}')
    cells = [new_code_cell("values = [1 / 4, 3 / 4]\nvalues"), new_code_cell("print(sum(values))")]
    path = write(tmp_path / "digits.ipynb", *cells)
    notebooks.run(path)
    return path


def test_nbval_takes_the_committed_digits(digits, tmp_path):
    nb = nbformat.read(digits, as_version=4)
    nb.cells.append(new_code_cell("1 / 0", metadata={"tags": ["data", "nbval-ignore-output"]}))
    nbformat.write(nb, digits)
    honest = nbval(tmp_path, digits)
    assert honest.returncode == 0, honest.stdout
    assert "2 passed, 1 skipped" in honest.stdout
    assert "ATTNBOOK_DATA can name a folder" in honest.stdout


@pytest.mark.parametrize(("right", "wrong"), [("0.75]", "0.76]"), ("1.0\\n", "1.1\\n")])
def test_nbval_takes_no_other_digit(digits, tmp_path, right, wrong):
    text = digits.read_text(encoding="utf-8")
    assert text.count(right) == 1
    digits.write_text(text.replace(right, wrong), encoding="utf-8")
    forged = nbval(tmp_path, digits)
    assert forged.returncode == 1, forged.stdout
    assert "1 failed, 1 passed" in forged.stdout
