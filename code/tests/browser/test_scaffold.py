"""`make chapter` and `make widget`, in a copy of the repository: what they make passes tests."""

import json
import os
import shutil
import subprocess
import sys

import nbformat
import pytest

from devkit import ROOT, scaffold

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__", "*.egg-info")
TESTS = (  # of all that there are, those that look at what is new
    ["book/99_skimming.ipynb", "code/tests/test_skimming.py", "code/tests/test_chapters.py"],
    ["code/tests/test_predict.py"],
    ["code/tests/test_doubt.py", "code/tests/test_notebooks.py", "-k", "99_skimming or Skims"],
    ["code/tests/browser/test_every_widget.py", "-k", "Skims"],
    ["exercises/coursegrade/tests/test_exercises.py", "-k", "99_skimming"],
)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Runs Python in the copy, or fails with what it printed."""
    copy = tmp_path_factory.mktemp("copy") / "book"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    paths = os.pathsep.join([f"{copy}/code", f"{copy}/exercises/coursegrade"])

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"

    return run


@pytest.mark.usefixtures("browser")  # it draws the widget
def test_a_new_chapter_with_a_new_widget_passes_its_tests_and_stands_in_the_book(python):
    python("devkit.scaffold", "chapter", "99", "skimming")
    python("devkit.scaffold", "widget", "Skims", "99")
    for tests in TESTS:
        python("pytest", "--nbval", "-q", *tests)
    python("devkit.build")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("chapter", "1", "tasks"), "there is a chapter 1 already"),
        (("chapter", "99", "masks"), "NAME must be new"),
        (("chapter", "99", "Tasks"), "NAME must be new and a Python name"),
        (("widget", "hops", "1"), "NAME must be new and a class's"),
        (("widget", "Window", "1"), "NAME must be new"),
        (("widget", "Hops", "77"), "there is no chapter 77"),
    ],
)
def test_what_is_taken_is_refused_and_nothing_is_written(arguments, said, capsys):
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "book").iterdir()}
    assert scaffold.main(arguments) == 2
    assert said in capsys.readouterr().err
    assert before == {path: path.stat().st_mtime_ns for path in (ROOT / "book").iterdir()}


def test_a_widget_without_a_place_on_a_page_is_refused_and_nothing_is_written(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(scaffold, "GALLERY", tmp_path / "gallery.ipynb")
    nbformat.write(nbformat.v4.new_notebook(), scaffold.GALLERY)
    page = (ROOT / "book/01_cues.ipynb").read_bytes()
    assert scaffold.main(("widget", "Hops", "1")) == 2
    assert "no heading '## Without a browser'" in capsys.readouterr().err
    assert (ROOT / "book/01_cues.ipynb").read_bytes() == page
    assert not (ROOT / "code/attnbook/widgets/hops").exists()


def test_a_summary_in_the_middle_of_a_cell_becomes_a_cell_of_its_own(tmp_path, monkeypatch):
    written = {}
    monkeypatch.setattr(scaffold, "save", lambda notebook, path: written.update({path: notebook}))
    monkeypatch.setattr(scaffold, "write", lambda *_: [])
    before = (ROOT / "book/01_cues.ipynb").read_text("utf-8")
    assert '\\n",\n    "## Summary' in before
    page = scaffold.widget("Hops", "1")[0]
    sources = [cell.source for cell in written[page].cells]
    at = next(n for n, source in enumerate(sources) if source.startswith("## Summary"))
    assert "ab.Hops(" in sources[at - 1] and sources[at - 2].startswith("## Hops")
    old = ["".join(cell["source"]) for cell in json.loads(before)["cells"]]
    assert f"{sources[at - 3]}\n\n{sources[at]}" in old
